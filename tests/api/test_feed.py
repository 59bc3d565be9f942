"""The feed: exact, resumable at every cursor, on every node, and cheap while nothing happens."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from caesura.dialects.native.feed import MODELS
from caesura.store import changes, users
from caesura.store.schema import changes as rows
from tests import agent_files
from tests.api.feeds import FEED, Feed, State, asked, listed
from tests.api.reading import Event, conversation, events, finished, send, to_segment_end, until
from tests.api.server import Served
from tests.client.process import Process
from tests.effort import examples
from tests.sent import statements


@pytest.fixture
def node(tmp_path: Path, database_url: str) -> Iterator[Served]:
    with Served(tmp_path / "node", database_url=database_url, sse_ping_interval=0.1) as server:
        yield server


@pytest.fixture
def client(node: Served) -> Iterator[httpx.Client]:
    with node.client() as client:
        yield client


def feed(server: Served, after: int | None = None, user_id: str = "alice") -> Feed:
    return Feed(lambda: server.client(user_id), after)


def about(found: Feed, place: str) -> list[dict[str, Any]]:
    """What was told of this conversation."""
    return [item.data for item in found.events if item.name == "conversation" and item.data["id"] == place]


def rename(client: httpx.Client, place: str, title: str) -> None:
    assert client.patch(f"/api/v2/conversations/{place}", json={"title": title}).status_code == 200


def test_the_feed_tells_the_life_of_a_conversation(node: Served, client: httpx.Client) -> None:
    with feed(node) as found:
        assert found.names() == ["ready"]
        assert found.events[0].data == {"inbox": 0, "user_id": client.get("/api/v2/me").json()["user_id"]}
        place = conversation(client)
        found.wait(lambda items: len(items) > 1)
        assert about(found, place)[0] == client.get("/api/v2/conversations").json()["conversations"][0] | {
            "questions": 0
        }
        turn = send(client, place, "echo hello")
        events(client, turn["id"])
        until(lambda: about(found, place)[-1]["status"] == "idle" and about(found, place)[-1]["title"])
        assert about(found, place)[-1]["active_turn"] == turn["id"]
        rename(client, place, "Mine")
        until(lambda: about(found, place)[-1]["title"] == "Mine")
        client.delete(f"/api/v2/conversations/{place}")
        found.wait(lambda items: items[-1].name == "conversation_deleted")
        assert found.events[-1].data == {"id": place}
        ids = [int(item.id) for item in found.events]
        assert ids == sorted(ids)
        for item in found.events:
            MODELS[item.name].model_validate(item.data, strict=True)


def test_the_feed_tells_of_questions_and_their_number(node: Served, client: httpx.Client) -> None:
    with feed(node) as found:
        turn = finished(client, "write hello.py: print(1)")
        until(lambda: State().apply(found.events).inbox == 1)
        opened = next(item.data for item in found.events if item.name == "question_opened")
        (waiting,) = client.get("/api/v2/interrupts").json()["interrupts"]
        assert opened["interrupt"] == {name: waiting[name] for name in opened["interrupt"]}
        assert (opened["turn_id"], opened["conversation_id"]) == (turn["id"], turn["conversation_id"])
        shown = about(found, turn["conversation_id"])[-1]
        assert (shown["status"], shown["questions"]) == ("interrupted", 1)
        client.post(f"/api/v2/interrupts/{waiting['id']}/answer", json={"decision": "reject"})
        until(lambda: State().apply(found.events).inbox == 0)
        closed = next(item.data for item in found.events if item.name == "question_closed")
        assert closed == {
            "interrupt_id": waiting["id"],
            "conversation_id": turn["conversation_id"],
            "turn_id": turn["id"],
            "outcome": "answered",
            "decision": "reject",
        }


HASTY = "model: {primary: demo}\napprovals: {timeout_seconds: 1}"


@pytest.mark.parametrize("how", ["cancelled", "superseded", "expired"])
def test_a_question_that_nobody_answers_is_closed(tmp_path: Path, how: str) -> None:
    agent_files.put(tmp_path / "agents", "hasty", HASTY)
    with Served(tmp_path, sse_ping_interval=0.1) as node, node.client() as client, feed(node) as found:
        place = conversation(client, agent="hasty" if how == "expired" else "assistant")
        turn = send(client, place, "write hello.py: print(1)")
        found.wait(lambda items: "question_opened" in [item.name for item in items])
        if how == "cancelled":
            client.post(f"/api/v2/turns/{turn['id']}/stop")
        elif how == "superseded":
            send(client, place, "echo x", supersede=True)
        found.wait(lambda items: "question_closed" in [item.name for item in items])
        (closed,) = [item.data for item in found.events if item.name == "question_closed"]
        assert (closed["outcome"], closed["decision"]) == (how, None)
        until(lambda: State().apply(found.events).inbox == 0)
        until(lambda: State().apply(found.events).conversations == listed(client))


def test_the_questions_of_a_deleted_conversation_no_longer_count(node: Served, client: httpx.Client) -> None:
    with feed(node) as found:
        place = finished(client, "write hello.py: print(1)")["conversation_id"]
        until(lambda: State().apply(found.events).inbox == 1)
        client.delete(f"/api/v2/conversations/{place}")
        until(lambda: State().apply(found.events).inbox == 0)
        assert [item.name for item in found.events].count("conversation_deleted") == 1


def test_a_long_description_is_cut(node: Served, client: httpx.Client) -> None:
    with feed(node) as found:
        finished(client, f"run {'x' * 5000}")
        found.wait(lambda items: any(item.name == "question_opened" for item in items))
        opened = next(item.data for item in found.events if item.name == "question_opened")
        assert len(opened["interrupt"]["description"]) == 2001


def test_a_feed_tells_nothing_of_other_people(node: Served, client: httpx.Client) -> None:
    with feed(node, user_id="bob") as bobs, feed(node) as alices:
        place = conversation(client)
        alices.wait(lambda items: len(items) > 1)
        with node.client("bob") as bob:
            mine = conversation(bob)
        bobs.wait(lambda items: len(items) > 1)
        assert about(bobs, place) == []
        assert len(about(bobs, mine)) == 1
        with feed(node, alices.last, "bob") as stolen:
            assert stolen.names() == ["ready", "reset"]


def questions(items: list[Event]) -> list[tuple[str, str]]:
    """Which questions were opened and closed, in order."""
    opened = [(one.name, one.data["interrupt"]["id"]) for one in items if one.name == "question_opened"]
    return opened + [(one.name, one.data["interrupt_id"]) for one in items if one.name == "question_closed"]


def test_a_feed_that_is_resumed_at_any_cursor_comes_to_the_same(node: Served, client: httpx.Client) -> None:
    with feed(node) as whole:
        first = finished(client, "echo one")["conversation_id"]
        waiting = finished(client, "write hello.py: print(1)")
        rename(client, first, "One")
        (question,) = asked(client)
        client.post(f"/api/v2/interrupts/{question}/answer", json={"decision": "approve"})
        events(client, waiting["id"])
        gone = conversation(client)
        client.delete(f"/api/v2/conversations/{gone}")
        last = conversation(client)
        until(lambda: bool(about(whole, last)))
        until(lambda: State().apply(whole.events).conversations == listed(client))
        end = whole.last
    order = [int(item.id) for item in whole.events]
    assert order == sorted(order)
    for place, item in enumerate(whole.events):
        with feed(node, int(item.id)) as rest:
            rest.wait(lambda items: int(items[-1].id) >= end)
            assert rest.events[0].name == "ready"
            assert int(rest.events[0].id) == int(item.id)
            seen = State().apply(whole.events[: place + 1]).apply(rest.events)
            assert seen.conversations == listed(client)
            assert (seen.questions, seen.inbox) == (asked(client), 0)
            before = {
                one.data["interrupt"]["id"]
                for one in whole.events[: place + 1]
                if one.name == "question_opened"
            }
            again = {one.data["interrupt"]["id"] for one in rest.events if one.name == "question_opened"}
            assert not before & again


def test_every_cursor_is_good_after_a_restart(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"sse_ping_interval": 0.1}
    with Served(tmp_path, **settings) as node, node.client() as client, feed(node) as found:
        place = conversation(client)
        until(lambda: bool(about(found, place)))
        cursor = found.last
        rename(client, place, "Before")
    with Served(tmp_path, **settings) as node, node.client() as client, feed(node, cursor) as rest:
        until(lambda: [item["title"] for item in about(rest, place)] == ["Before"])
        rename(client, place, "After")
        until(lambda: about(rest, place)[-1]["title"] == "After")


def test_a_cursor_that_nobody_gave_is_told_to_load_again(node: Served, client: httpx.Client) -> None:
    place = conversation(client)
    head = node.call(node.database.read(changes.head, "alice"))
    for cursor in (head + 1, head + 10**9, 2**53):
        with feed(node, cursor) as found:
            assert found.names() == ["ready", "reset"]
            assert [int(item.id) for item in found.events] == [head, head]
            rename(client, place, f"Seen {cursor}")
            until(lambda: bool(about(found, place)))
        head = node.call(node.database.read(changes.head, "alice"))
    for value in ("x", "-1", "1.5", str(2**53 + 1)):
        assert client.get(FEED, params={"after": value}).status_code == 422
        assert client.get(FEED, headers={"Last-Event-ID": value}).status_code == 422


def test_what_is_old_is_removed_and_an_old_cursor_is_told_so(node: Served, client: httpx.Client) -> None:
    place = conversation(client)
    with feed(node, 0) as found:
        assert "reset" not in found.names()
        until(lambda: bool(about(found, place)))
        old = found.last
        rename(client, place, "Two")
        until(lambda: len(about(found, place)) == 2)
        edge = found.last

    def age(connection: Any) -> None:
        connection.execute(update(rows).values(at=1))

    node.call(node.database.write(age))
    rename(client, place, "Three")
    for user_id, last in node.call(node.database.read(changes.outdated)):
        node.call(node.database.write(changes.prune, user_id, last))
    assert node.call(node.database.read(changes.outdated)) == []
    for cursor, expected in ((0, ["ready", "reset"]), (old, ["ready", "reset"]), (edge, ["ready"])):
        with feed(node, cursor) as found:
            until(lambda: len(found.events) > 1)
            assert ("reset" in found.names()) == ("reset" in expected)
            if expected == ["ready"]:
                until(lambda: [item["title"] for item in about(found, place)] == ["Three"])


def test_a_person_with_very_many_changes_keeps_the_newest(
    node: Served, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST", 5)
    place = conversation(client)
    for number in range(12):
        rename(client, place, str(number))
    for user_id, last in node.call(node.database.read(changes.outdated)):
        node.call(node.database.write(changes.prune, user_id, last))
    left = node.call(node.database.read(changes.after, "alice", 0, 100))
    assert [item.kind for item in left] == ["floor", *["conversation"] * 5]
    with feed(node, 0) as found:
        assert found.names() == ["ready", "reset"]


def test_a_new_person_of_an_old_name_gets_nothing_of_the_old_one(node: Served, client: httpx.Client) -> None:
    place = conversation(client)
    client.delete(f"/api/v2/conversations/{place}")
    node.call(node.database.write(users.remove, "alice"))
    assert node.call(node.database.read(changes.after, "alice", 0, 10)) == []


def test_what_was_lost_in_a_power_cut_does_not_hide_what_came_later(tmp_path: Path) -> None:
    """The lost rows had numbers that the client has seen. Later rows get others."""
    with Served(tmp_path, sse_ping_interval=0.1) as node, node.client() as client:
        place = conversation(client)
        kept = node.call(node.database.read(changes.head, "alice"))
        rename(client, place, "Lost")
        lost = node.call(node.database.read(changes.head, "alice"))

        def cut(connection: Any) -> None:
            connection.exec_driver_sql("DELETE FROM changes WHERE seq > ?", (kept,))

        node.call(node.database.write(cut))
    with Served(tmp_path, sse_ping_interval=0.1) as node, node.client() as client:
        rename(client, place, "Found")
        with feed(node, lost) as found:
            assert found.names() == ["ready", "reset"]
        with feed(node, kept) as found:
            until(lambda: [item["title"] for item in about(found, place)] == ["Found"])


def test_many_random_changes_leave_the_feed_and_the_lists_alike(node: Served, client: httpx.Client) -> None:
    chance = random.Random(11)
    with feed(node) as found:
        places = [conversation(client) for _ in range(6)]
        for number in range(examples(50, 200)):
            act(client, chance, places, number)
        for place in places:
            for turn in client.get(f"/api/v2/conversations/{place}").json()["turns"]:
                if turn["status"] in ("queued", "running"):
                    to_segment_end(client, turn["id"])
        until(lambda: _agree(client, found))
        assert State().apply(found.events).inbox == len(asked(client))


def _agree(client: httpx.Client, found: Feed) -> bool:
    state = State().apply(list(found.events))
    return (state.conversations, state.questions) == (listed(client), asked(client))


def act(client: httpx.Client, chance: random.Random, places: list[str], number: int) -> None:
    """Something that a person may do. It may be refused."""
    place = chance.choice(places)
    turns = f"/api/v2/conversations/{place}/turns"
    match chance.choice(("say", "ask", "rename", "answer", "stop", "delete", "branch", "retry")):
        case "say":
            client.post(turns, json={"content": f"echo {number}", "supersede": chance.random() < 0.5})
        case "ask":
            client.post(turns, json={"content": "write hello.py: print(1)", "parent": None})
        case "rename":
            rename(client, place, f"Name {number}")
        case "answer" if waiting := sorted(asked(client)):
            body = {"decision": chance.choice(("approve", "reject"))}
            client.post(f"/api/v2/interrupts/{chance.choice(waiting)}/answer", json=body)
        case "delete" if chance.random() < 0.3:
            client.delete(f"/api/v2/conversations/{place}")
            places[places.index(place)] = conversation(client)
        case "branch" | "stop" | "retry" as what:
            known = client.get(f"/api/v2/conversations/{place}").json()["turns"]
            if known:
                turn = chance.choice(known)["id"]
                if what == "branch":
                    client.post(f"/api/v2/conversations/{place}/branch", json={"turn_id": turn})
                else:
                    client.post(f"/api/v2/turns/{turn}/{what}")


def test_changes_on_one_node_are_told_on_the_other(tmp_path: Path, postgres_url: str) -> None:
    with (
        Served(tmp_path / "a", database_url=postgres_url, sse_ping_interval=0.1) as here,
        Served(tmp_path / "b", database_url=postgres_url, sse_ping_interval=0.1) as there,
        here.client() as client,
        there.client() as other,
        feed(here) as mine,
        feed(there) as theirs,
    ):
        turn = finished(client, "write hello.py: print(1)")
        theirs.wait(lambda items: any(item.name == "question_opened" for item in items))
        (question,) = asked(other)
        other.post(f"/api/v2/interrupts/{question}/answer", json={"decision": "approve"})
        events(client, turn["id"])
        for found in (mine, theirs):
            until(lambda found=found: _agree(client, found))  # type: ignore[misc]
        cursor = theirs.last
        rename(client, turn["conversation_id"], "Later")
        with feed(there, cursor) as resumed:
            until(
                lambda: [item["title"] for item in about(resumed, turn["conversation_id"])][-1:] == ["Later"]
            )


def test_many_writers_on_two_nodes_lose_no_change(tmp_path: Path, postgres_url: str) -> None:
    """A row that is numbered first may be committed last: nobody may have read past it."""
    with (
        Served(tmp_path / "a", database_url=postgres_url, sse_ping_interval=0.1) as here,
        Served(tmp_path / "b", database_url=postgres_url, sse_ping_interval=0.1) as there,
        here.client() as client,
    ):
        places = [conversation(client) for _ in range(8)]
        with feed(here) as mine, feed(there) as theirs, ThreadPoolExecutor(8) as pool:

            def work(number: int) -> None:
                with (here if number % 2 else there).client() as own:
                    for step in range(15):
                        rename(own, places[number], f"{number} {step}")

            list(pool.map(work, range(8)))
            for found in (mine, theirs):
                until(lambda found=found: len(_last(found)) == 8 and _final(found))  # type: ignore[misc]
                ids = [int(item.id) for item in found.events]
                assert ids == sorted(ids)


def _last(found: Feed) -> dict[str, str]:
    return {item.data["id"]: item.data["title"] for item in found.events if item.name == "conversation"}


def _final(found: Feed) -> bool:
    return all(title.endswith(" 14") for title in _last(found).values())


def test_nothing_is_lost_or_told_twice_when_the_server_is_killed(tmp_path: Path) -> None:
    with Process(tmp_path, sse_ping_interval=0.1) as process:

        def client() -> httpx.Client:
            return httpx.Client(base_url=process.url, timeout=30, trust_env=False)

        known: list[Any] = []
        with Feed(client) as found, client() as own:
            for _ in range(3):
                finished(own, "write hello.py: print(1)")
            turn = send(own, conversation(own), "count to 5000 delay=0.001")
            found.wait(lambda items: any(item.data.get("status") == "running" for item in items))
            until(lambda: len(asked(own)) == 3)
            process.kill()
        known += found.events
        process.start()
        with client() as own:
            for question in sorted(asked(own)):
                own.post(f"/api/v2/interrupts/{question}/answer", json={"decision": "reject"})
            own.post(f"/api/v2/turns/{turn['id']}/stop")
            with Feed(client, int(known[-1].id)) as rest:
                until(lambda: State().apply(known + list(rest.events)).questions == set() == asked(own))
                until(lambda: State().apply(known + list(rest.events)).conversations == listed(own))
                told = known + list(rest.events)
        assert len(questions(told)) == len(set(questions(told))) == 6


def test_an_idle_feed_asks_nothing_or_one_small_question_for_all(node: Served, client: httpx.Client) -> None:
    """On PostgreSQL one query for each look, however many feeds are open; on SQLite none at all."""
    conversation(client)
    for name in ("bob", "carol", "dave"):
        node.token(name)
    with ExitStack() as after:
        for name in ("alice", "alice", "bob", "carol", "dave"):
            after.enter_context(feed(node, None, name))
        sent = after.enter_context(statements())
        if node.database.shared:
            until(lambda: sum("unnest" in text for text in sent) >= 2)
            looks = [text for text in sent if "changes" in text]
            assert all("unnest" in text for text in looks)
        else:
            with node.client("erin") as erin:
                turn = finished(erin, "echo x")
                events(erin, turn["id"])
            assert not any("changes" in text for text in sent)


def test_too_many_feeds_of_one_person_are_refused(tmp_path: Path) -> None:
    with Served(tmp_path, streams_per_person=2, sse_ping_interval=0.1) as node, feed(node), feed(node):
        with feed(node) as third:
            assert third.refused == 429
        with feed(node, user_id="bob") as other:
            assert other.names() == ["ready"]
