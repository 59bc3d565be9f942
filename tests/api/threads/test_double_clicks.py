"""A decision is about what the person was shown: a second click never approves something unseen."""

import threading
from typing import Any

import httpx
import pytest

from caesura.store import interrupts
from tests.api.server import Served
from tests.api.threads.test_approvals import file_of
from tests.api.threads.thread import Thread, kinds, names, one, parsed

ONE_AFTER_THE_OTHER = "write a.txt then write b.txt"


@pytest.fixture
def slow_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A click counts as a double click for a minute: on a busy machine a second may pass between two."""
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 60_000)


@pytest.fixture
def no_double_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as if enough time had passed between any two clicks."""
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 0)


@pytest.mark.usefixtures("slow_clicks")
@pytest.mark.parametrize("action", ["continue", "cancel", "answer"])
def test_the_second_click_decides_nothing_and_gets_the_interrupts(
    alice: httpx.Client, server: Served, action: str
) -> None:
    thread = Thread.new(alice)
    thread.chat(ONE_AFTER_THE_OTHER)
    asked = one(parsed(thread.decide(action="continue")), "interrupt")
    refused = thread.decide(action=action, answers=["yes"])
    assert refused.status_code == 409
    assert refused.json() == {"detail": "an interrupt is pending", "interrupt": asked}
    assert thread.status()["interrupt_info"]["interrupts"] == [asked]
    assert not file_of(server, thread, "b.txt").exists()


@pytest.mark.usefixtures("slow_clicks")
def test_a_second_click_while_the_first_is_processed_decides_nothing(
    server: Served, alice: httpx.Client
) -> None:
    thread = Thread.new(alice)
    thread.chat(ONE_AFTER_THE_OTHER)
    answers: list[httpx.Response] = []

    def click() -> None:
        with server.client("alice") as client:
            answers.append(thread.at(client).decide(action="continue"))

    clicks = [threading.Thread(target=click) for _ in range(4)]
    for each in clicks:
        each.start()
    for each in clicks:
        each.join()
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert file_of(server, thread, "a.txt").exists()
    assert not file_of(server, thread, "b.txt").exists()


@pytest.mark.usefixtures("slow_clicks")
def test_a_wrong_answer_is_not_a_decision(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("ask me one question")
    assert "error" in thread.decide(action="continue").text
    assert "error" in thread.decide(action="answer", answers=["a", "b"]).text
    assert thread.decide(action="answer", answers=["red"]).status_code == 200


@pytest.mark.usefixtures("no_double_clicks")
def test_a_later_click_is_a_separate_decision(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    thread.chat(ONE_AFTER_THE_OTHER)
    thread.decide(action="continue")
    assert thread.decide(action="continue").status_code == 200
    assert file_of(server, thread, "b.txt").exists()


@pytest.mark.usefixtures("slow_clicks")
def test_each_turn_has_its_own_first_click(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    for name in ("a.txt", "b.txt"):
        thread.chat(f"write {name}")
        assert thread.decide(action="continue").status_code == 200


@pytest.mark.usefixtures("slow_clicks")
def test_a_decision_that_names_the_interrupt_is_accepted_at_once(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    first = one(thread.chat(ONE_AFTER_THE_OTHER), "interrupt")
    second = one(parsed(thread.decide(action="continue", interrupt_id=first["interrupt_id"])), "interrupt")
    assert thread.decide(action="continue", interrupt_id=second["interrupt_id"]).status_code == 200
    assert file_of(server, thread, "b.txt").exists()


@pytest.mark.usefixtures("no_double_clicks")
@pytest.mark.parametrize("listed", [False, True])
def test_a_decision_on_another_interrupt_is_refused_with_the_waiting_ones(
    alice: httpx.Client, server: Served, listed: bool
) -> None:
    thread = Thread.new(alice)
    first = one(thread.chat(ONE_AFTER_THE_OTHER), "interrupt")["interrupt_id"]
    second = one(parsed(thread.decide(action="continue")), "interrupt")
    for other in (first, "int-unknown", ""):
        shown: Any = [second["interrupt_id"], other] if listed else other
        refused = thread.decide(action="continue", interrupt_id=shown)
        assert refused.status_code == 409
        assert refused.json() == {"detail": "an interrupt is pending", "interrupt": second}
    assert not file_of(server, thread, "b.txt").exists()
    assert thread.decide(action="continue", interrupt_id=[second["interrupt_id"]]).status_code == 200


@pytest.mark.usefixtures("slow_clicks")
def test_a_list_decides_only_on_its_members(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    asked = one(thread.chat("write a.txt + write b.txt + write c.txt"), "interrupt")
    a, b, c = [action["interrupt_id"] for action in asked["data"]]
    assert a == asked["interrupt_id"]
    left = parsed(thread.decide(action="cancel", interrupt_id=[b]))
    assert names(left) == ["interrupt", "end"]
    assert [action["interrupt_id"] for action in one(left, "interrupt")["data"]] == [a, c]
    assert thread.status()["interrupt_info"]["interrupts"] == [one(left, "interrupt")]
    assert thread.decide(action="continue", interrupt_id=[a, b]).status_code == 409
    done = parsed(thread.decide(action="continue", interrupt_id=[c, a]))
    assert sorted(kinds(done)) == ["end", *["tool/end"] * 3, *["tool/start"] * 2]
    written = [file_of(server, thread, f"{name}.txt").exists() for name in "abc"]
    assert written == [True, False, True]


def test_a_named_decision_is_refused_if_nothing_waits(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    asked = one(thread.chat("write hello.py"), "interrupt")["interrupt_id"]
    thread.decide(action="continue", interrupt_id=asked)
    for shown in (asked, [asked]):
        late = thread.decide(action="continue", interrupt_id=shown)
        assert late.status_code == 409
        assert late.json() == {"detail": "nothing is pending"}


@pytest.mark.parametrize("shown", [5, True, {}, [], [5], [None], [["x"]]])
def test_an_interrupt_id_of_the_wrong_type_is_named(alice: httpx.Client, shown: Any) -> None:
    thread = Thread.new(alice)
    thread.chat("write hello.py")
    refused = thread.decide(action="continue", interrupt_id=shown)
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("interrupt_id")
    assert thread.status()["status"] == "interrupted"
