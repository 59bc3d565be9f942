"""Sending messages: new conversations, branches and roots, and what is refused."""

import re
from typing import Any

import httpx
import pytest

from caesura.store import life
from tests.api.artifactflow.conftest import RUNS
from tests.api.artifactflow.message import LIVE, Message, kinds, last, said, sent
from tests.api.server import Served
from tests.api.threads.conftest import Prompts
from tests.api.threads.test_sessions import rows

UNKNOWN = "conv-0123456789abcdefghjkmnpq"
LONG = "x" * (256 * 1024 + 1)


def test_a_message_makes_a_conversation_and_its_answer_is_streamed(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo good day")
    assert re.fullmatch(r"conv-[0-9a-z]{24}", message.conversation_id)
    assert message.id.removeprefix("msg-") == message.thread_id.removeprefix("thd-")
    found = message.read()
    assert found[0].data == {
        "conversation_id": message.conversation_id,
        "message_id": message.id,
        "thread_id": message.thread_id,
    }
    assert kinds(found) == ["metadata", "start", "llm_complete", "complete"]
    assert said(found) == "good day"
    assert last(found, "complete") == {
        "success": True,
        "interrupted": False,
        "response": "good day",
        "artifacts_updated": [],
    }


@pytest.mark.parametrize("path", ["/api/v1/chat", "/api/v1/chat/"])
def test_both_forms_of_the_path_are_served_without_a_redirect(alice: httpx.Client, path: str) -> None:
    made = alice.post(path, json={"content": "echo a"})
    listed = alice.get(path)
    assert (made.status_code, listed.status_code) == (200, 200)
    assert made.history == listed.history == []
    assert made.json()["conversation_id"] in {item["id"] for item in listed.json()["conversations"]}


# --- where a message goes


def test_without_a_parent_a_message_continues_the_active_branch(alice: httpx.Client) -> None:
    first = Message.send(alice, "echo one")
    first.read()
    second = first.then("what did I say first?")
    assert "echo one" in said(second.read())
    assert second.shown()["parent_id"] == first.id
    assert second.detail()["active_branch"] == second.id


def test_with_null_as_the_parent_a_message_is_a_new_root(alice: httpx.Client, prompts: Prompts) -> None:
    first = Message.send(alice, "echo one", agent="recorder")
    first.read()
    other = first.then("echo two", parent_message_id=None)
    other.read()
    assert other.shown()["parent_id"] is None
    assert [text for kind, text in prompts.last() if kind != "system"] == ["echo two"]
    assert other.detail()["active_branch"] == other.id


def test_with_a_parent_a_message_branches_there(alice: httpx.Client, prompts: Prompts) -> None:
    first = Message.send(alice, "echo one", agent="recorder")
    first.read()
    second = first.then("echo two")
    second.read()
    branch = first.then("echo other", parent_message_id=first.id)
    branch.read()
    assert [text for kind, text in prompts.last() if kind == "user"] == ["echo one", "echo other"]
    third = first.then("echo three")
    third.read()
    detail = first.detail()
    shape = {item["id"]: (item["parent_id"], item["children"]) for item in detail["messages"]}
    assert shape == {
        first.id: (None, [second.id, branch.id]),
        second.id: (first.id, []),
        branch.id: (first.id, [third.id]),
        third.id: (branch.id, []),
    }
    assert detail["active_branch"] == third.id


def test_a_null_conversation_is_a_new_one(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a", conversation_id=None, parent_message_id=None)
    assert message.shown()["parent_id"] is None
    message.read()


def test_the_body_may_choose_the_agent(alice: httpx.Client, prompts: Prompts) -> None:
    message = Message.send(alice, "echo chosen", agent="recorder")
    message.read()
    assert prompts.last()[-1] == ("user", "echo chosen")
    assert message.shown()["agent"] == "recorder"
    other = message.then("echo a", agent="assistant")
    other.read()
    assert other.shown()["agent"] == "assistant"


# --- busy branches


def test_a_branch_with_a_run_takes_no_message_and_other_branches_run_beside_it(alice: httpx.Client) -> None:
    root = Message.send(alice, "echo root")
    root.read()
    slow = "wait 600 seconds"
    one, two = root.then(slow), root.then(slow, parent_message_id=root.id)
    third = root.then("echo beside", parent_message_id=None)
    assert said(third.read()) == "beside"
    assert {one.shown()["status"], two.shown()["status"]} <= set(LIVE)
    for body in ({"parent_message_id": one.id}, {"parent_message_id": two.id}):
        busy = sent(alice, "echo x", conversation_id=root.conversation_id, **body)
        assert (busy.status_code, busy.json()) == (409, {"detail": "run in progress"})
    assert root.cancel()
    for message in (one, two):
        assert last(message.read(), "complete")["cancelled"] is True


def test_without_a_parent_the_active_branch_must_be_free(alice: httpx.Client) -> None:
    message = Message.send(alice, "wait 600 seconds")
    busy = sent(alice, "echo x", conversation_id=message.conversation_id)
    assert (busy.status_code, busy.json()["detail"]) == (409, "run in progress")
    assert len(message.detail()["messages"]) == 1
    message.cancel()


def test_a_waiting_question_keeps_its_branch_until_it_is_superseded(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt")
    asked = last(message.read(), "interrupt")
    busy = sent(alice, "echo x", conversation_id=message.conversation_id)
    assert busy.status_code == 409
    shown = {name: asked[name] for name in ("interrupt_type", "interrupt_data")}
    assert busy.json() == {"detail": "an interrupt is pending", "interrupt": shown}
    assert said(message.then("echo on", supersede=True).read()) == "on"
    assert message.shown()["status"] == "stopped"


# --- what is refused leaves nothing


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"content": "   "}, 400, "message must not be empty"),
        ({"content": LONG}, 400, "message must not be longer than 262144 bytes"),
        ({"content": "hi", "agent": "nobody"}, 404, "agent not found: nobody"),
        ({"content": "hi", "parent_message_id": "msg-1"}, 400, "parent_message_id needs"),
        ({"content": "hi", "agent": "No Body"}, 422, "agent: "),
        ({"content": None}, 422, "content: "),
        ({"content": 5}, 422, "content: "),
        ({}, 422, "content: "),
        ({"content": "hi", "supersede": "yes"}, 422, "supersede: "),
    ],
)
def test_a_refused_first_message_leaves_no_conversation(
    server: Served, alice: httpx.Client, body: dict[str, Any], status: int, detail: str
) -> None:
    before = rows(server)
    refused = alice.post("/api/v1/chat", json=body)
    assert (refused.status_code, set(refused.json())) == (status, {"detail"})
    assert refused.json()["detail"].startswith(detail)
    assert rows(server)["conversations"] == before["conversations"]


def test_a_first_message_over_the_share_of_runs_leaves_no_conversation(server: Served) -> None:
    with server.client("busy") as client:
        running = [Message.send(client, "wait 600 seconds") for _ in range(RUNS)]
        refused = sent(client, "echo x")
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) > 0
        assert client.get("/api/v1/chat").json()["total"] == RUNS
        for message in running:
            message.cancel()


def test_a_conversation_and_its_first_message_are_one_transaction(
    server: Served, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault between the two rows undoes the first of them."""
    before = rows(server)
    seen: list[int] = []

    def fail(connection: Any, new: life.New) -> Any:
        seen.append(rows_in(connection))
        raise RuntimeError("a fault between the two")

    with monkeypatch.context() as patch:
        patch.setattr(life, "create", fail)
        assert sent(alice, "echo x").status_code == 500
    assert seen == [before["conversations"] + 1]
    assert rows(server) == before


def rows_in(connection: Any) -> int:
    found: int = connection.exec_driver_sql("SELECT count(*) FROM conversations").scalar_one()
    return found


@pytest.mark.parametrize("id", [UNKNOWN, "conv-", "conv-alice-1", "x", "", "../x", "conv-\0", "conv-é"])
def test_an_unknown_conversation_is_not_found(alice: httpx.Client, id: str) -> None:
    refused = sent(alice, "echo x", conversation_id=id)
    assert refused.status_code == 404, refused.text


def test_an_unknown_parent_is_not_found(server: Served, alice: httpx.Client, bob: httpx.Client) -> None:
    message, other = Message.send(alice, "echo a"), Message.send(alice, "echo b")
    message.read(), other.read()
    theirs = Message.send(bob, "echo c")
    theirs.read()
    before = rows(server)["turns"]
    for parent in (other.id, theirs.id, "msg-1", "x", "", message.thread_id, "msg-\0"):
        refused = sent(alice, "echo x", conversation_id=message.conversation_id, parent_message_id=parent)
        assert (refused.status_code, refused.json()) == (404, {"detail": "message not found"}), parent
    assert sent(alice, "echo x", conversation_id=theirs.conversation_id).status_code == 404
    assert rows(server)["turns"] == before


def test_a_request_repeated_under_its_key_is_done_once(server: Served, alice: httpx.Client) -> None:
    body, key = {"content": "echo once"}, {"Idempotency-Key": "first-try"}
    made = [alice.post("/api/v1/chat", json=body, headers=key).json() for _ in range(3)]
    assert made[0] == made[1] == made[2]
    other = alice.post("/api/v1/chat", json={"content": "echo other"}, headers=key)
    assert other.status_code == 422
    following = {"content": "echo next", "conversation_id": made[0]["conversation_id"]}
    Message.of(alice, alice.post("/api/v1/chat", json=body, headers=key)).read()
    key = {"Idempotency-Key": "second"}
    two = [alice.post("/api/v1/chat", json=following, headers=key).json() for _ in range(2)]
    assert two[0] == two[1]
