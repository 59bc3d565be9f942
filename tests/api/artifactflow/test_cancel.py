"""Cancelling: what was said is kept, and a finished answer is never replaced."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.api.artifactflow.message import Message, kinds, last, said, words
from tests.api.server import Served


def test_a_cancelled_run_completes_with_what_was_said(server: Served, alice: httpx.Client) -> None:
    message = Message.send(alice, "count to 5000 delay=0.02")
    with message.reading() as found, server.client() as other:
        seen = words(found, 3)
        assert message.at(other).cancel() is True
        seen += list(found)
    end = last(seen, "complete")
    assert end == {
        "success": False,
        "interrupted": False,
        "response": said(seen),
        "artifacts_updated": [],
        "cancelled": True,
        "reason": "user",
    }
    assert message.shown()["response"] == said(seen)
    assert message.shown()["status"] == "stopped"
    assert said(message.then("what did I say first?").read()).count("5000") == 1


def test_one_run_of_several_is_cancelled_by_its_message(alice: httpx.Client) -> None:
    root = Message.send(alice, "echo root")
    root.read()
    one, two = root.then("wait 600 seconds"), root.then("wait 600 seconds", parent_message_id=root.id)
    assert one.cancel(message_id=one.id) is True
    assert last(one.read(), "complete")["cancelled"] is True
    assert two.shown()["status"] in ("queued", "running")
    assert two.cancel() is True
    assert last(two.read(), "complete")["cancelled"] is True
    assert root.cancel() is False
    assert root.cancel(message_id=root.id) is False


def test_a_cancelled_question_is_closed(alice: httpx.Client, file_of: Callable[[str, str], Path]) -> None:
    message = Message.send(alice, "write a.txt")
    asked = message.read()
    assert message.cancel() is True
    end = last(message.read(asked[-1].id), "complete")
    assert (end["success"], end["cancelled"], end["reason"]) == (False, True, "user")
    assert message.decide(approved=True).status_code == 409
    assert message.shown()["interrupt"] is None
    assert not file_of(message.conversation_id, "a.txt").exists()


def test_a_message_of_another_conversation_cancels_nothing(alice: httpx.Client) -> None:
    running, other = Message.send(alice, "wait 600 seconds"), Message.send(alice, "echo a")
    other.read()
    url = f"/api/v1/chat/{other.conversation_id}/cancel"
    for body in ({"message_id": running.id}, {"message_id": "msg-1"}, {"message_id": running.thread_id}):
        assert alice.post(url, json=body).status_code == 404
    assert running.shown()["status"] in ("queued", "running")
    running.cancel()


def test_a_body_is_not_needed(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a")
    message.read()
    url = f"/api/v1/chat/{message.conversation_id}/cancel"
    tries: list[dict[str, Any]] = [{}, {"json": {}}, {"json": None}, {"json": {"message_id": None}}]
    for body in tries:
        response = alice.post(url, **body)
        assert (response.status_code, response.json()) == (200, {"cancelled": False})
    assert alice.post(url, json={"message_id": 5}).status_code == 422


def test_a_cancel_beside_the_end_never_replaces_the_real_answer(server: Served) -> None:
    """Whichever comes first: the stream, the conversation and the result of the call agree."""
    with server.client("racer") as client, server.client("racer") as other:
        for number in range(24):
            message = Message.send(client, f"echo the real answer delay={number % 6 / 2000}")
            results: list[bool] = []
            cancels = threading.Thread(target=_cancel, args=(message.at(other), results))
            cancels.start()
            found = message.read()
            cancels.join()
            end = last(found, "complete")
            assert end["response"] == said(found) == (message.shown()["response"] or "")
            assert message.read() == found
            cancelled = end.get("cancelled", False)
            assert cancelled == (message.shown()["status"] == "stopped") == (not end["success"])
            if not cancelled:
                assert end["response"] == "the real answer"
            assert results == [cancelled]


def _cancel(message: Message, results: list[bool]) -> None:
    results.append(message.cancel())


def test_after_the_end_a_cancel_changes_nothing(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo the real answer")
    found = message.read()
    before = message.detail()
    assert message.cancel() is False
    assert message.detail() == before
    assert message.read() == found
    assert kinds(found)[-1] == "complete"
