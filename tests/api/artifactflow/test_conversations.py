"""Conversations: listed, read and deleted."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from caesura.dialects.artifactflow import details
from tests.api.artifactflow.message import Message, last, sent, words
from tests.api.server import Served
from tests.api.threads.test_sessions import _fill, rows

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


# --- the list


def test_a_conversation_is_listed_with_its_messages_counted(server: Served) -> None:
    with server.client("lister") as client:
        assert client.get("/api/v1/chat").json() == {"conversations": [], "total": 0, "has_more": False}
        message = Message.send(client, "echo a")
        message.read()
        message.then("echo b").read()
        message.then("echo c", parent_message_id=None).read()
        body = client.get("/api/v1/chat").json()
        (item,) = body["conversations"]
        assert item == {
            "id": message.conversation_id,
            "title": "echo a",
            "message_count": 3,
            "created_at": item["created_at"],
            "updated_at": item["updated_at"],
        }
        assert (body["total"], body["has_more"]) == (1, False)
        assert len(message.detail()["messages"]) == item["message_count"]


def test_pages_are_contiguous_and_the_newest_conversation_comes_first(server: Served) -> None:
    with server.client("pager") as client:
        made = [Message.send(client, f"echo {number}") for number in range(7)]
        for message in made:
            message.read()
        made[2].then("echo again").read()
        ids = [message.conversation_id for message in made]
        expected = [ids[2], *reversed(ids[:2] + ids[3:])]
        seen = []
        for offset in range(0, 9, 3):
            page = client.get("/api/v1/chat", params={"limit": 3, "offset": offset}).json()
            assert page["total"] == 7
            assert page["has_more"] == (offset + 3 < 7)
            seen += [item["id"] for item in page["conversations"]]
        assert seen == expected
        beyond = client.get("/api/v1/chat", params={"offset": 70}).json()
        assert beyond == {"conversations": [], "total": 7, "has_more": False}


def test_a_limit_over_one_hundred_is_taken_as_one_hundred(server: Served) -> None:
    with server.client("crowd") as client:
        server.call(server.database.write(_fill, "crowd", 150))
        assert len(client.get("/api/v1/chat").json()["conversations"]) == 20
        for limit in (100, 101, 10**9):
            page = client.get("/api/v1/chat", params={"limit": limit}).json()
            assert (len(page["conversations"]), page["total"], page["has_more"]) == (100, 150, True)


@pytest.mark.parametrize(
    ("name", "value"), [("limit", "0"), ("limit", "-1"), ("limit", "x"), ("offset", "-1")]
)
def test_the_error_for_a_wrong_page_names_the_parameter(alice: httpx.Client, name: str, value: str) -> None:
    refused = alice.get("/api/v1/chat", params={name: value})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(f"{name}: ")


def test_a_user_id_in_the_query_is_ignored(alice: httpx.Client, bob: httpx.Client) -> None:
    theirs = Message.send(bob, "echo secret")
    theirs.read()
    found = alice.get("/api/v1/chat", params={"user_id": "bob", "limit": 100}).text
    assert theirs.conversation_id not in found
    assert theirs.conversation_id in bob.get("/api/v1/chat", params={"user_id": "alice"}).text


# --- one conversation


def test_a_conversation_has_its_tree_its_active_branch_and_its_session(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a")
    message.read()
    detail = message.detail()
    (only,) = detail.pop("messages")
    assert detail == {
        "id": message.conversation_id,
        "title": "echo a",
        "active_branch": message.id,
        "session_id": f"sess-{message.conversation_id}",
        "created_at": detail["created_at"],
        "updated_at": detail["updated_at"],
    }
    assert only == {
        "id": message.id,
        "parent_id": None,
        "content": "echo a",
        "response": "a",
        "created_at": only["created_at"],
        "children": [],
        "thread_id": message.thread_id,
        "agent": "assistant",
        "status": "done",
        "interrupt": None,
    }


def test_times_are_utc_and_end_in_z(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a")
    found = message.read()
    detail = message.detail()
    texts = [detail["created_at"], detail["updated_at"], detail["messages"][0]["created_at"]]
    texts += [event.data["timestamp"] for event in found if event.name == "stream"]
    for text in texts:
        assert TIME.fullmatch(text)
        age = datetime.now(UTC) - datetime.fromisoformat(text)
        assert timedelta(seconds=-5) < age < timedelta(minutes=5)


def test_an_answer_under_way_is_shown_as_far_as_it_is(server: Served, alice: httpx.Client) -> None:
    message = Message.send(alice, "count to 5000 delay=0.02")
    with message.reading() as found, server.client() as other:
        words(found, 3)
        assert message.at(other).shown()["response"].startswith("1 2")
        assert message.at(other).shown()["status"] == "running"
        message.at(other).cancel()
    assert message.shown()["response"].startswith("1 2")


def test_before_any_answer_the_response_is_null(alice: httpx.Client) -> None:
    message = Message.send(alice, "wait 600 seconds")
    assert message.shown()["response"] is None
    message.cancel()
    assert message.shown()["response"] is None


def test_a_question_is_shown_again_after_a_reload(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt: x")
    asked = last(message.read(), "interrupt")
    shown = message.shown()["interrupt"]
    assert shown == {name: asked[name] for name in ("interrupt_type", "interrupt_data")}
    message.resume(approved=False)
    assert message.shown()["interrupt"] is None


def test_a_long_conversation_is_read_in_pages_and_comes_whole(
    alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = Message.send(alice, "echo 0")
    message.read()
    for number in range(1, 7):
        message.then(f"echo {number}").read()
    whole = message.detail()
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(details, "_PAGE", size)
        assert message.detail() == whole
    assert [item["response"] for item in whole["messages"]] == list("0123456")


# --- deleting


def test_a_deleted_conversation_leaves_nothing_in_any_table(
    server: Served, file_of: Callable[[str, str], Path]
) -> None:
    with server.client("eraser") as client, server.client("eraser") as other:
        Message.send(client, "echo kept").read()
        before = rows(server)
        message = Message.send(client, "write a.txt: x")
        message.read()
        message.resume(approved=True, always_allow=True)
        assert file_of(message.conversation_id, "a.txt").exists()
        asking = message.then("run ls", parent_message_id=None)
        asking.read()
        running = message.then("count to 5000 delay=0.02", parent_message_id=message.id)
        with running.reading() as found:
            words(found)
            gone = other.delete(f"/api/v1/chat/{message.conversation_id}")
            assert (gone.status_code, gone.content) == (204, b"")
            rest = list(found)
            assert (rest[-1].name, rest[-1].data) == ("error", {"error": "the conversation was deleted"})
        assert rows(server) == before
        assert not file_of(message.conversation_id, "").exists()
        assert client.get("/api/v1/chat").json()["total"] == 1


def test_a_deleted_conversation_is_gone_for_every_call(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt")
    message.read()
    path = f"/api/v1/chat/{message.conversation_id}"
    assert alice.delete(path).status_code == 204
    answers = [
        alice.delete(path),
        alice.get(path),
        alice.post(f"{path}/cancel"),
        message.decide(approved=True),
        alice.get(message.url),
        sent(alice, "echo x", conversation_id=message.conversation_id),
    ]
    assert [answer.status_code for answer in answers] == [404] * len(answers)


@pytest.mark.parametrize("id", ["conv-x", "conv-0123456789abcdefghjkmnpq", "conv-alice-1", "conv-conv-x"])
def test_an_unknown_conversation_is_not_found(alice: httpx.Client, id: str) -> None:
    path = f"/api/v1/chat/{id}"
    for answer in (alice.get(path), alice.delete(path), alice.post(f"{path}/cancel")):
        assert (answer.status_code, answer.json()) == (404, {"detail": "conversation not found"})
