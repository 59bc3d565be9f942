"""Decisions that name no question are about what was shown: an old tab approves nothing else."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from caesura.http.tokens import Tokens
from caesura.store import users
from tests.api.artifactflow.message import Message, kinds, last
from tests.api.reading import until
from tests.api.server import SECRET, Served
from tests.api.slow_storage import Held, hold_before
from tests.api.threads.process import Process
from tests.effort import examples

TWO_STEPS = "write a.txt then write b.txt"
THREE_STEPS = "write a.txt then write b.txt then write c.txt"
pytestmark = pytest.mark.usefixtures("no_double_clicks")
Files = Callable[[str, str], Path]


@pytest.fixture(params=["sqlite", "postgresql"])
def nodes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Served, Served]]:
    """One node on SQLite, or two on PostgreSQL."""
    if request.param == "sqlite":
        server: Served = request.getfixturevalue("server")
        yield server, server
        return
    url = request.getfixturevalue("postgres_url")
    with (
        Served(tmp_path / "a", database_url=url) as here,
        Served(tmp_path / "b", database_url=url) as there,
    ):
        yield here, there


def session(server: Served, hours: float, other: httpx.Client | None = None) -> httpx.Client:
    """Alice under a token of this length, or under the token of another client."""
    server.token()
    found = server.call(server.database.read(users.get, "alice"))
    assert found is not None
    token = Tokens(SECRET, hours).issue("alice", found.stamp)
    headers = {"Authorization": other.headers["Authorization"] if other is not None else f"Bearer {token}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=30, trust_env=False)


def waiting(client: httpx.Client, message: Message) -> list[str]:
    """The paths that the run of this message asks for, seen over another API."""
    found = client.get("/api/v2/interrupts", params={"limit": 100}).json()["interrupts"]
    mine = [item for item in found if item["turn_id"].removeprefix("turn-") in message.id]
    return [item["args"]["path"] for item in mine]


def until_asked(client: httpx.Client, message: Message, path: str) -> None:
    until(lambda: waiting(client, message) == [path])


def at_second_question(client: httpx.Client) -> Message:
    """A run whose first question was shown and approved, and whose second one nobody was shown."""
    message = Message.send(client, TWO_STEPS)
    message.read()
    assert message.decide(approved=True).status_code == 200
    until_asked(client, message, "b.txt")
    return message


def test_a_late_or_repeated_click_does_not_approve_a_question_that_nobody_saw(
    nodes: tuple[Served, Served],
) -> None:
    with session(nodes[0], 5) as here, session(nodes[1], 5, here) as there:
        message = at_second_question(here)
        for tab in (message, message.at(there), message, message.at(there)):
            for approved in (True, False):
                refused = tab.decide(approved=approved)
                assert (refused.status_code, refused.json()["detail"]) == (409, "an interrupt is pending")
                (request,) = refused.json()["interrupt"]["interrupt_data"]["requests"]
                assert request["params"]["path"] == "b.txt"
        assert waiting(here, message) == ["b.txt"]
        last(message.at(there).read(), "interrupt")
        assert message.decide(approved=True).status_code == 200
        assert kinds(message.read())[-1] == "complete"


def test_a_client_that_knows_three_fields_decides_on_each_question_at_once(
    nodes: tuple[Served, Served],
) -> None:
    """Whoever answers the moment the question is seen is never refused, on whichever node."""
    with session(nodes[0], 5) as here, session(nodes[1], 5, here) as there:
        for _ in range(examples(2, 3)):
            message = Message.send(here, THREE_STEPS)
            for reader, decider in ((here, there), (there, here), (here, there)):
                with message.at(reader).reading() as events:
                    next(event for event in events if event.name == "interrupt")
                    answer = message.at(decider).decide(approved=True)  # the stream is still open
                assert answer.status_code == 200, answer.text
            assert kinds(message.read())[-1] == "complete"


def test_many_stale_clicks_race_a_second_question_and_never_approve_it(nodes: tuple[Served, Served]) -> None:
    with session(nodes[0], 5) as here, session(nodes[1], 5, here) as there:
        for _ in range(examples(2, 4)):
            message = Message.send(here, TWO_STEPS)
            message.read()
            answers = stale_clicks(message, message.at(there))
            assert answers.count(200) == 1
            assert set(answers) == {200, 409}
            assert waiting(here, message) == ["b.txt"]
            message.cancel()


def stale_clicks(*tabs: Message) -> list[int]:
    """What the clicks of these tabs get, until some of them have come after the second question."""
    answers: list[int] = []
    over = threading.Event()

    def click(tab: Message) -> None:
        while not over.is_set():
            answers.append(tab.decide(approved=True).status_code)

    clicks = [threading.Thread(target=click, args=(tab,)) for tab in tabs]
    for each in clicks:
        each.start()
    try:
        until_asked(tabs[0].client, tabs[0], "b.txt")
        seen = len(answers)
        until(lambda: len(answers) > seen + 4)
    finally:
        over.set()
        for each in clicks:
            each.join()
    return answers


def test_the_conversation_shows_what_waits_also_after_a_reload(alice: httpx.Client) -> None:
    message = at_second_question(alice)
    assert message.decide(approved=True).status_code == 409
    assert message.shown()["interrupt"]["interrupt_data"]["params"]["path"] == "b.txt"
    assert message.decide(approved=True).status_code == 200


def test_what_is_left_after_a_named_decision_was_shown_with_the_response(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt + write b.txt")
    until(lambda: len(waiting(alice, message)) == 2)
    refused = message.decide(approved=True)
    assert refused.status_code == 409
    first, second = refused.json()["interrupt"]["interrupt_data"]["requests"]
    decided = message.decide(approved=True, interrupt_id=first["interrupt_id"])
    assert decided.json()["interrupt"]["interrupt_data"]["requests"] == [second]
    assert message.decide(approved=True).json() == {"stream_url": message.url}


def test_a_stream_that_is_read_after_one_of_two_decisions_lists_what_still_waits(
    alice: httpx.Client, file_of: Files
) -> None:
    message = Message.send(alice, "write a.txt + write b.txt")
    both = message.read()
    first, second = last(both, "interrupt")["interrupt_data"]["requests"]
    message.decide(approved=True, interrupt_id=first["interrupt_id"])
    for after in (None, *(event.id for event in both[:-1])):
        left = last(message.read(after), "interrupt")["interrupt_data"]
        assert left == {**second, "requests": [second]}
    assert alice.get(message.url, headers={"Last-Event-ID": both[-1].id}).status_code == 204
    message.decide(approved=True)
    assert kinds(message.read(both[-1].id))[-1] == "complete"
    assert all(file_of(message.conversation_id, f"{name}.txt").exists() for name in "ab")
    again = message.read(both[-2].id)  # nothing of it waits any more: it is told as it was
    assert last(again, "interrupt") == both[-1].data


# --- sessions


def test_a_session_that_shows_an_earlier_question_does_not_decide_on_the_next(
    nodes: tuple[Served, Served],
) -> None:
    with session(nodes[0], 5) as laptop, session(nodes[1], 6) as phone, session(nodes[0], 7) as new:
        message = Message.send(laptop, THREE_STEPS)
        message.read()
        message.at(phone).read()
        assert message.at(phone).decide(approved=True).status_code == 200
        last(message.at(phone).read(), "interrupt")
        for _ in range(3):
            assert message.decide(approved=True).status_code == 409
        assert waiting(laptop, message) == ["b.txt"]
        message.shown()
        assert message.decide(approved=True).status_code == 200
        last(message.read(), "interrupt")
        assert message.at(phone).decide(approved=True).status_code == 409
        assert message.at(new).decide(approved=True).status_code == 200
        assert kinds(message.read())[-1] == "complete"


def test_a_stream_that_was_opened_with_a_ticket_shows_to_the_token_behind_it(server: Served) -> None:
    with session(server, 5) as laptop, session(server, 6) as phone, server.client(None) as browser:
        message = Message.send(laptop, TWO_STEPS)
        for tab in (laptop, phone):
            message.at(tab).read()
        message.at(phone).decide(approved=True)
        message.at(phone).read()
        assert message.decide(approved=True).status_code == 409
        ticket = laptop.post("/api/v2/stream-ticket", json={"stream": message.url}).json()["ticket"]
        with browser.stream("GET", message.url, params={"ticket": ticket}) as response:
            assert b"event: interrupt" in response.read()
        assert message.decide(approved=True).status_code == 200


# --- faults


def test_what_comes_before_a_question_does_not_wait_for_the_record(
    server: Served, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold_before(server, monkeypatch, "write_lightly", "_shown")
    message = Message.send(alice, "write a.txt")
    with message.reading() as found:
        names: list[Any] = []
        while "llm_complete" not in names:
            names += [event.data.get("type") for event in (next(found),)]
        held.until_reached()
        held.release()
        assert [event.name for event in found][-1] == "interrupt"
    assert message.decide(approved=True).status_code == 200


def test_a_question_is_sent_when_it_cannot_be_recorded_and_can_be_decided_here(
    server: Served, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = hold_before(server, monkeypatch, "write_lightly", "_shown")
    message = Message.send(alice, TWO_STEPS)
    refusing = threading.Thread(target=refuse, args=(held,))
    refusing.start()
    last(message.read(), "interrupt")
    refusing.join()
    assert message.decide(approved=True).status_code == 200
    again = hold_before(server, monkeypatch, "write_lightly", "_shown")
    monkeypatch.setattr(server.context.service.showings, "_patience", 0.05)
    last(message.read(), "interrupt")  # the record takes longer than it is waited for
    again.release()
    assert message.decide(approved=True).status_code == 200


def refuse(held: Held) -> None:
    held.until_reached()
    held.refuse()


def test_after_a_restart_it_is_known_what_was_shown(tmp_path: Path) -> None:
    with Process(tmp_path, default_agent="assistant") as server, server.client() as client:
        shown, unseen = (Message.send(client, "write a.txt") for _ in range(2))
        shown.read()
        until_asked(client, unseen, "a.txt")
        server.kill()
    with Process(tmp_path, default_agent="assistant") as server, server.client() as client:
        assert shown.at(client).decide(approved=True).status_code == 200
        assert unseen.at(client).decide(approved=True).status_code == 409
