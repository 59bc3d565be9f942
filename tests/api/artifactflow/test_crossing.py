"""One conversation, whichever API made it: listed, read, continued and resumed over the others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.artifactflow.message import Message, kinds, last, said, sent
from tests.api.reading import conversation, outcome, send, to_segment_end
from tests.api.threads.thread import Thread, one
from tests.api.threads.thread import said as said_in_a

Files = Callable[[str, str], Path]


def listed(client: httpx.Client) -> set[str]:
    found = client.get("/api/v1/chat", params={"limit": 100}).json()["conversations"]
    return {item["id"] for item in found}


def newest(client: httpx.Client, conversation_id: str) -> Message:
    """The active message of a conversation, as a front end finds it after a reload."""
    detail = client.get(f"/api/v1/chat/{conversation_id}").json()
    shown = next(item for item in detail["messages"] if item["id"] == detail["active_branch"])
    url = f"/api/v1/stream/{shown['thread_id']}"
    return Message(client, conversation_id, shown["id"], shown["thread_id"], url)


def test_a_conversation_of_api_a_is_listed_read_continued_and_resumed(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    name = f"conv-{thread.id}"
    assert name in listed(alice)
    empty = alice.get(f"/api/v1/chat/{name}").json()
    assert (empty["id"], empty["active_branch"], empty["messages"]) == (name, None, [])
    assert empty["session_id"] == f"sess-{name}"

    thread.chat("echo over A")
    first = newest(alice, name)
    assert said(first.read()) == "over A"
    second = first.then("echo over B")
    assert second.conversation_id == name
    assert said(second.read()) == "over B"
    assert thread.history()[-2:] == [("user", "echo over B"), ("assistant", "over B")]
    assert said_in_a(thread.join()) == "over B"

    asked = one(thread.chat("write a.txt: x"), "interrupt")
    waiting = newest(alice, name)
    assert waiting.shown()["interrupt"]["interrupt_data"]["interrupt_id"] == asked["interrupt_id"]
    assert kinds(waiting.resume(approved=True))[-1] == "complete"
    assert thread.status()["status"] == "idle"
    assert [item["parent_id"] for item in first.detail()["messages"]] == [None, first.id, second.id]
    assert alice.delete(f"/api/v1/chat/{name}").status_code == 204
    assert alice.get(f"/api/status/{thread.id}").status_code == 404


def test_a_conversation_of_api_b_is_a_thread_of_api_a(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt: x")
    message.read()
    thread = Thread(alice, message.conversation_id)
    assert thread.listed()["status"] == "interrupted"
    assert "tool/end" in [event.name for event in thread.resume("continue")]
    found = message.read()
    assert last(found, "complete")["response"] == thread.history()[-1][1]
    assert said_in_a(thread.chat("echo over A")) == "over A"
    assert message.detail()["messages"][-1]["parent_id"] == message.id
    assert said(message.then("what did I say before?").read()).count("over A") == 1


def test_a_native_conversation_is_read_continued_and_resumed(alice: httpx.Client, file_of: Files) -> None:
    made = conversation(alice, title="Native")
    assert made in listed(alice)
    turn = send(alice, made, "write a.txt: x")
    (asked,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    message = newest(alice, made)
    assert message.id == turn["id"].replace("turn-", "msg-")
    assert kinds(message.resume(approved=True, interrupt_id=asked["id"]))[-1] == "complete"
    assert file_of(made, "a.txt").exists()
    following = message.then("echo on")
    following.read()
    turns = alice.get(f"/api/v2/conversations/{made}").json()["turns"]
    assert [item["parent_id"] for item in turns] == [None, turn["id"]]


def test_a_question_of_api_b_is_answered_natively(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt + write b.txt")
    found = message.read()
    requests = last(found, "interrupt")["interrupt_data"]["requests"]
    for request in requests:
        url = f"/api/v2/interrupts/{request['interrupt_id']}/answer"
        assert alice.post(url, json={"decision": "reject"}).status_code == 200
    assert kinds(message.read(found[-1].id))[-1] == "complete"
    assert message.decide(approved=True).status_code == 409


@pytest.mark.parametrize("how", ["retry", "regenerate"])
def test_a_turn_that_is_tried_again_natively_is_read_over_b(alice: httpx.Client, how: str) -> None:
    message = Message.send(alice, "fail midway")
    failed = message.read()
    turn = message.id.replace("msg-", "turn-")
    response = alice.post(f"/api/v2/turns/{turn}/{how}")
    assert response.status_code in (200, 201), response.text
    if how == "retry":
        again = message.read(failed[-1].id)
        assert kinds(again)[:2] == ["metadata", "start"]
        assert last(message.read(), "error")["retryable"] is True
    else:
        first, second = message.detail()["messages"]
        assert (first["parent_id"], second["parent_id"]) == (None, None)
        assert message.detail()["active_branch"] == second["id"] != message.id
        newest(alice, message.conversation_id).read()


def test_a_branch_made_active_natively_is_continued(alice: httpx.Client) -> None:
    first = Message.send(alice, "echo one")
    first.read()
    other = first.then("echo two", parent_message_id=None)
    other.read()
    body = {"turn_id": first.id.replace("msg-", "turn-")}
    alice.post(f"/api/v2/conversations/{first.conversation_id}/branch", json=body)
    assert first.detail()["active_branch"] == first.id
    following = first.then("echo three")
    following.read()
    assert following.shown()["parent_id"] == first.id


def test_the_id_of_api_b_is_the_only_one_of_a_conversation_here(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    for id in (thread.id, f"conv-conv-{thread.id}", f"CONV-{thread.id}"):
        assert alice.get(f"/api/v1/chat/{id}").status_code == 404, id
        assert sent(alice, "echo x", conversation_id=id).status_code == 404, id
    ids: list[Any] = [alice.get(f"/api/v1/chat/conv-{thread.id}").json()["id"] for _ in range(2)]
    assert ids == [f"conv-{thread.id}"] * 2
