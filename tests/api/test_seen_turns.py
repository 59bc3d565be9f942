"""What a page shows of a turn beside its messages: models, times, notes, usage, siblings, the read mark."""

import asyncio
from typing import Any

import httpx
import pytest

from caesura.store.schema import turns as rows
from tests.api.reading import conversation, events, finished, send, to_segment_end
from tests.api.server import Served

SNAPSHOT = "/api/v2/conversations/{}/snapshot"
DEMO = "demo (no AI)"


def snapshot(client: httpx.Client, conversation_id: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(SNAPSHOT.format(conversation_id)).json()
    return found


def seen(client: httpx.Client, turn: dict[str, Any]) -> dict[str, Any]:
    """The turn, which the snapshot and the tree show alike."""
    (shown,) = [
        item for item in snapshot(client, turn["conversation_id"])["turns"] if item["id"] == turn["id"]
    ]
    tree = client.get(f"/api/v2/conversations/{turn['conversation_id']}").json()
    assert shown in tree["turns"]
    found: dict[str, Any] = shown
    return found


def decide(client: httpx.Client, turn: dict[str, Any], **decision: Any) -> None:
    (asked,) = seen(client, turn)["interrupts"]
    answered = client.post(f"/api/v2/interrupts/{asked['id']}/answer", json=decision)
    assert answered.status_code == 200, answered.text


def test_agents_tell_their_model(alice: httpx.Client) -> None:
    for agent in alice.get("/api/v2/agents").json()["agents"]:
        assert (agent["model"], agent["demo"]) == (DEMO, True)


def test_a_turn_tells_its_model_its_times_and_its_usage(alice: httpx.Client) -> None:
    turn = finished(alice, "echo hello")
    log = events(alice, turn["id"])
    shown = seen(alice, turn)
    assert (shown["model"], shown["demo"], shown["notes"]) == (DEMO, True, [])
    ended = [event.data["at"] for event in log if event.name == "model_finished"]
    assert [message["at"] for message in shown["messages"]] == ended
    (used,) = [event.data["usage"] for event in log if event.name == "model_finished"]
    assert shown["usage"] == used


def test_a_live_turn_shows_the_same_as_when_it_has_ended(alice: httpx.Client) -> None:
    turn = finished(alice, "write hello.py: print(1)")
    waiting = seen(alice, turn)
    (pause,) = waiting["notes"]
    assert (pause["kind"], pause["ms"], pause["outcome"]) == ("pause", None, None)
    assert pause["interrupt_id"] == waiting["interrupts"][0]["id"]
    decide(alice, turn, decision="approve")
    log = events(alice, turn["id"])
    over = seen(alice, turn)
    (pause,) = over["notes"]
    times = {
        event.name: event.data["at"] for event in log if event.name in ("interrupted", "interrupt_closed")
    }
    assert (pause["kind"], pause["after"], pause["outcome"]) == ("pause", 1, "approve")
    assert (pause["at"], pause["ms"]) == (
        times["interrupted"],
        times["interrupt_closed"] - times["interrupted"],
    )
    tool = next(message for message in over["messages"] if message["role"] == "tool")
    begun = next(event.data["at"] for event in log if event.name == "tool_started")
    ended = next(event.data["at"] for event in log if event.name == "tool_finished")
    assert (tool["at"], tool["ms"]) == (ended, ended - begun)
    assert over["messages"][0] == {**waiting["messages"][0], "call": None}


def test_the_arguments_that_a_person_edited_are_told_with_the_result(alice: httpx.Client) -> None:
    turn = finished(alice, "write hello.py: print(1)")
    args = {"path": "other.py", "content": "print(2)"}
    decide(alice, turn, decision="edit", args=args)
    events(alice, turn["id"])
    said, tool, *_ = seen(alice, turn)["messages"]
    assert said["tool_calls"][0]["args"]["path"] == "hello.py"
    assert (tool["role"], tool["args"], said["args"]) == ("tool", args, None)


def test_the_arguments_of_the_model_are_not_told_twice(alice: httpx.Client) -> None:
    turn = finished(alice, "write hello.py: print(1)")
    decide(alice, turn, decision="approve")
    events(alice, turn["id"])
    assert all(message["args"] is None for message in seen(alice, turn)["messages"])


def test_a_stopped_and_a_failed_turn_say_so(alice: httpx.Client) -> None:
    turn = finished(alice, "write hello.py: print(1)")
    alice.post(f"/api/v2/turns/{turn['id']}/stop")
    pause, stopped = seen(alice, turn)["notes"]
    assert (pause["outcome"], stopped["kind"], stopped["outcome"]) == ("cancelled", "stopped", "user")
    failed = finished(alice, "fail midway")
    (note,) = seen(alice, failed)["notes"]
    last = next(event for event in events(alice, failed["id"]) if event.name == "failed")
    assert (note["kind"], note["outcome"], note["message"]) == (
        "failed",
        last.data["code"],
        last.data["message"],
    )
    assert (note["at"], note["error_id"]) == (last.data["at"], last.data["error_id"])


def test_turns_with_the_same_parent_are_siblings(alice: httpx.Client) -> None:
    first = finished(alice, "echo one")
    place = first["conversation_id"]
    second = send(alice, place, "echo two")
    to_segment_end(alice, second["id"])
    again = alice.post(f"/api/v2/turns/{second['id']}/regenerate").json()
    to_segment_end(alice, again["id"])
    assert [turn["siblings"] for turn in snapshot(alice, place)["turns"]] == [
        [first["id"]],
        [second["id"], again["id"]],
    ]


def test_a_turn_of_an_older_version_has_no_times(server: Served, alice: httpx.Client) -> None:
    turn = finished(alice, "echo hello")
    events(alice, turn["id"])

    def forget(connection: Any) -> None:
        old = b'[{"role":"assistant","content":"hello","agent":"assistant"}]'
        connection.execute(rows.update().where(rows.c.id == turn["id"]).values(about=None, messages=old))

    server.call(server.database.write(forget))
    shown = seen(alice, turn)
    assert (shown["model"], shown["demo"], shown["notes"], shown["usage"]) == (None, False, [], None)
    assert [(item["at"], item["ms"]) for item in shown["messages"]] == [(None, None)]


# --- the read mark


def mark(client: httpx.Client, place: str, turn_id: str, cursor: int = 0) -> int:
    body = {"turn_id": turn_id, "cursor": cursor}
    return client.put(f"/api/v2/conversations/{place}/read", json=body).status_code


def read(client: httpx.Client, place: str) -> tuple[str, int] | None:
    found = snapshot(client, place)["read"]
    return (found["turn_id"], found["cursor"]) if found else None


@pytest.fixture
def chain(alice: httpx.Client) -> tuple[str, list[str]]:
    """A conversation of three turns, with another branch after the first."""
    place, made = conversation(alice), []
    for content in ("echo one", "echo two", "echo three"):
        turn = send(alice, place, content)
        to_segment_end(alice, turn["id"])
        made.append(turn["id"])
    beside = send(alice, place, "echo other", parent=made[0])
    to_segment_end(alice, beside["id"])
    return place, [*made, beside["id"]]


def test_the_mark_moves_on_and_never_back_on_its_branch(
    alice: httpx.Client, chain: tuple[str, list[str]]
) -> None:
    place, (first, second, third, beside) = chain
    assert read(alice, place) is None
    for turn, cursor, expected in (
        (second, 5, (second, 5)),
        (first, 9, (second, 5)),
        (second, 4, (second, 5)),
        (second, 8, (second, 8)),
        (third, 0, (third, 0)),
        (second, 100, (third, 0)),
        (beside, 3, (beside, 3)),
        (first, 9, (beside, 3)),
        (second, 1, (second, 1)),
    ):
        assert mark(alice, place, turn, cursor) == 204
        assert read(alice, place) == expected


def test_a_mark_needs_a_turn_of_the_conversation(
    alice: httpx.Client, bob: httpx.Client, chain: tuple[str, list[str]]
) -> None:
    place, made = chain
    other = conversation(alice)
    assert mark(alice, other, made[0]) == 404
    assert mark(alice, place, "turn-missing") == 404
    assert mark(bob, place, made[0]) == 404
    for cursor in (-1, 2**53 + 1, "1", 1.5, None):
        body = {"turn_id": made[0], "cursor": cursor}
        assert alice.put(f"/api/v2/conversations/{place}/read", json=body).status_code == 422
    assert read(alice, place) is None


def test_marks_of_many_devices_at_once_end_at_the_furthest(
    server: Served, chain: tuple[str, list[str]]
) -> None:
    place, (first, second, third, _) = chain
    service = server.context.service.conversations

    async def all_at_once() -> None:
        steps = [(turn, cursor) for cursor in range(5) for turn in (third, first, second)]
        await asyncio.gather(*(service.mark_read("alice", place, turn, cursor) for turn, cursor in steps))

    server.call(all_at_once())
    with server.client("alice") as client:
        assert read(client, place) == (third, 4)
