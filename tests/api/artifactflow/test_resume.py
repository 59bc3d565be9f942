"""Deciding on questions: once, about what was shown, and for the right run."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.artifactflow.message import Message, kinds, last, said, typed, words
from tests.api.server import Served

Files = Callable[[str, str], Path]
TWO_STEPS = "write a.txt then write b.txt"


def test_the_interrupt_has_what_a_front_end_shows_and_sends_back(alice: httpx.Client) -> None:
    message = Message.send(alice, "write hello.py: print(1)")
    found = message.read()
    assert kinds(found)[-2:] == ["permission_required", "interrupt"]
    asked = last(found, "interrupt")
    request = {
        "interrupt_id": asked["interrupt_data"]["interrupt_id"],
        "type": "tool_permission",
        "agent": "assistant",
        "parent": None,
        "call_id": asked["interrupt_data"]["call_id"],
        "tool_name": "write_file",
        "params": {"path": "hello.py", "content": "print(1)"},
        "label": "Write a file",
        "description": "Writing file: hello.py",
        "expires_at": None,
        "decisions": ["approve", "edit", "reject", "respond"],
        "unknown": False,
    }
    assert asked == {
        "success": True,
        "interrupted": True,
        "interrupt_type": "tool_permission",
        "interrupt_data": {**request, "requests": [request]},
        "conversation_id": message.conversation_id,
        "message_id": message.id,
        "thread_id": message.thread_id,
    }
    assert typed(found, "permission_required") == [{"routing": request}]


def test_approved_makes_the_call_and_not_approved_tells_the_agent(
    alice: httpx.Client, file_of: Files
) -> None:
    for approved in (True, False):
        message = Message.send(alice, "write a.txt: x")
        message.read()
        found = message.resume(approved=approved)
        (result,) = typed(found, "tool_result")
        assert (result["tool_name"], result["success"]) == ("write_file", approved)
        assert result["status"] == ("ok" if approved else "refused")
        assert len(typed(found, "tool_start")) == approved
        assert last(found, "complete")["response"] == said(found) == message.shown()["response"]
        assert file_of(message.conversation_id, "a.txt").exists() == approved


@pytest.mark.parametrize(
    ("asks", "decision", "status"),
    [
        ("write a.txt: x", {"decision": "approve"}, "ok"),
        ("write a.txt: x", {"decision": "edit", "args": {"path": "b.txt", "content": "y"}}, "ok"),
        ("write a.txt: x", {"decision": "reject", "message": "not now"}, "refused"),
        ("write a.txt: x", {"approved": False, "message": "not now"}, "refused"),
        ("write a.txt: x", {"decision": "respond", "message": "it is there"}, "answered"),
        ("ask me one question", {"decision": "answers", "answers": ["red"]}, "ok"),
        ("ask me one question", {"approved": False, "message": "not now"}, "ok"),
    ],
)
def test_a_decision_says_more_than_yes_and_no(
    alice: httpx.Client, file_of: Files, asks: str, decision: dict[str, Any], status: str
) -> None:
    message = Message.send(alice, asks)
    message.read()
    found = message.resume(**decision)
    (result,) = typed(found, "tool_result")
    assert result["status"] == status
    assert result["success"] == (status in ("ok", "answered"))
    assert decision.get("message", "") in result["output"]
    assert file_of(message.conversation_id, "b.txt").exists() == (decision.get("decision") == "edit")
    assert last(found, "complete")["success"] is True


@pytest.mark.parametrize("approved", [True, False])
def test_a_confirmation_in_words_is_approved_or_refused(alice: httpx.Client, approved: bool) -> None:
    message = Message.send(alice, "delete the old rows", agent="approval-agent")
    asked = last(message.read(), "interrupt")
    assert asked["interrupt_type"] == "confirmation"
    assert asked["interrupt_data"]["fields"]
    assert asked["interrupt_data"]["reason"]
    assert last(message.resume(approved=approved), "complete")["response"]


def test_always_allow_asks_no_more_along_the_branch_alone(alice: httpx.Client) -> None:
    root = Message.send(alice, "echo root")
    root.read()
    message = root.then("write a.txt")
    message.read()
    message.resume(approved=True, always_allow=True)
    allowed = message.then("write b.txt")
    assert kinds(allowed.read())[-1] == "complete"
    beside = message.then("write c.txt", parent_message_id=root.id)
    assert kinds(beside.read())[-1] == "interrupt"
    other_tool = allowed.then("run ls", parent_message_id=allowed.id)
    assert kinds(other_tool.read())[-1] == "interrupt"


# --- which run and which question


def test_ids_that_do_not_belong_together_are_not_found(alice: httpx.Client, bob: httpx.Client) -> None:
    one, two = Message.send(alice, "write a.txt"), Message.send(alice, "write b.txt")
    theirs = Message.send(bob, "write c.txt")
    for message in (one, two, theirs):
        message.read()
    wrong = [
        {"thread_id": two.thread_id},
        {"message_id": two.id},
        {"thread_id": two.thread_id, "message_id": two.id},
        {"thread_id": theirs.thread_id, "message_id": theirs.id},
        {"thread_id": one.id},
        {"message_id": one.thread_id},
        {"thread_id": "thd-1", "message_id": "msg-1"},
        {"thread_id": "", "message_id": ""},
    ]
    for ids in wrong:
        assert one.decide(approved=True, **ids).status_code == 404, ids
    assert theirs.at(alice).decide(approved=True).status_code == 404
    for message in (one, two, theirs):
        assert message.shown()["status"] == "waiting"


def test_nothing_pending_is_a_conflict(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a")
    message.read()
    for body in ({"approved": True}, {"approved": False}, {"approved": True, "interrupt_id": "int-1"}):
        refused = message.decide(**body)
        assert (refused.status_code, refused.json()) == (409, {"detail": "nothing is pending"})


def test_of_many_answers_one_counts_and_the_others_are_told_what_it_was(
    server: Served, alice: httpx.Client, file_of: Files
) -> None:
    message = Message.send(alice, "write a.txt", agent="stuck")
    asked = last(message.read(), "interrupt")["interrupt_data"]["interrupt_id"]
    answers: dict[bool, list[httpx.Response]] = {True: [], False: []}

    def click(approved: bool) -> None:
        with server.client() as client:
            answers[approved].append(message.at(client).decide(approved=approved, interrupt_id=asked))

    clicks = [threading.Thread(target=click, args=(number % 2 == 0,)) for number in range(6)]
    for each in clicks:
        each.start()
    for each in clicks:
        each.join()
    everyone = answers[True] + answers[False]
    assert sorted(answer.status_code for answer in everyone) == [200, *[409] * 5]
    yes = any(answer.status_code == 200 for answer in answers[True])
    decision = {"decision": "approve" if yes else "reject"}
    for answer in everyone:
        if answer.status_code == 409:
            assert answer.json() == {"detail": "already answered", "decision": decision}
    again = message.decide(approved=True)  # names no question
    assert (again.status_code, again.json()["decision"]) == (409, decision)
    with message.reading() as found:
        words(found)  # the call has its result
    message.cancel()
    assert file_of(message.conversation_id, "a.txt").exists() == yes


@pytest.mark.usefixtures("slow_clicks")
def test_a_second_click_approves_nothing_that_was_not_seen(alice: httpx.Client, file_of: Files) -> None:
    message = Message.send(alice, TWO_STEPS)
    message.read()
    assert message.decide(approved=True).status_code == 200
    second = last(message.read(), "interrupt")
    for approved in (True, False):
        refused = message.decide(approved=approved)
        assert refused.status_code == 409
        assert refused.json()["detail"] == "an interrupt is pending"
        assert refused.json()["interrupt"]["interrupt_data"] == second["interrupt_data"]
    assert not file_of(message.conversation_id, "b.txt").exists()
    assert message.shown()["status"] == "waiting"


@pytest.mark.usefixtures("no_double_clicks")
def test_an_approval_is_for_the_call_that_was_shown(alice: httpx.Client, file_of: Files) -> None:
    message = Message.send(alice, TWO_STEPS)
    first = last(message.read(), "interrupt")["interrupt_data"]["interrupt_id"]
    second = last(message.resume(approved=True), "interrupt")["interrupt_data"]
    other = Message.send(alice, "write c.txt")
    others = last(other.read(), "interrupt")["interrupt_data"]["interrupt_id"]
    for id in (first, others, "int-unknown", ""):
        refused = message.decide(approved=True, interrupt_id=id)
        assert refused.status_code == 409
        assert refused.json()["interrupt"]["interrupt_data"] == second
    assert not file_of(message.conversation_id, "b.txt").exists()
    assert other.shown()["status"] == "waiting"
    assert kinds(message.resume(approved=True))[-1] == "complete"


def test_one_of_several_questions_is_decided_and_the_others_still_wait(
    alice: httpx.Client, file_of: Files
) -> None:
    message = Message.send(alice, "write a.txt + write b.txt")
    found = message.read()
    assert kinds(found)[-3:] == ["permission_required", "permission_required", "interrupt"]
    a, b = (item["interrupt_id"] for item in last(found, "interrupt")["interrupt_data"]["requests"])
    decided = message.decide(approved=False, interrupt_id=a)
    assert decided.json() == {"stream_url": message.url, "interrupt": message.shown()["interrupt"]}
    left = message.shown()["interrupt"]["interrupt_data"]
    assert [item["interrupt_id"] for item in left["requests"]] == [b] == [left["interrupt_id"]]
    assert message.decide(approved=True, interrupt_id=a).status_code == 409
    assert message.decide(approved=True, interrupt_id=b).json() == {"stream_url": message.url}
    assert kinds(message.read())[-1] == "complete"
    written = [file_of(message.conversation_id, f"{name}.txt").exists() for name in "ab"]
    assert written == [False, True]


def test_one_decision_without_an_id_is_for_all_that_waits(alice: httpx.Client, file_of: Files) -> None:
    message = Message.send(alice, "write a.txt + write b.txt")
    message.read()
    assert kinds(message.resume(approved=True))[-1] == "complete"
    assert all(file_of(message.conversation_id, f"{name}.txt").exists() for name in "ab")


@pytest.mark.parametrize(
    ("asks", "body", "status"),
    [
        ("write a.txt", {}, 400),
        ("write a.txt", {"approved": None}, 400),
        ("write a.txt", {"approved": True, "decision": "approve"}, 400),
        ("write a.txt", {"approved": "yes"}, 422),
        ("write a.txt", {"approved": 1}, 422),
        ("write a.txt", {"decision": "perhaps"}, 422),
        ("write a.txt", {"decision": "answers", "answers": ["x"]}, 400),
        ("write a.txt", {"decision": "edit"}, 400),
        ("write a.txt", {"decision": "edit", "args": {"file": 1}}, 400),
        ("write a.txt", {"decision": "approve", "args": {"path": "b.txt"}}, 400),
        ("write a.txt", {"decision": "approve", "interrupt_id": 5}, 422),
        ("write a.txt", {"approved": True, "thread_id": None}, 422),
        ("ask me one question", {"approved": True}, 400),
        ("ask me one question", {"decision": "answers", "answers": ["red", "x"]}, 400),
        ("ask me one question", {"decision": "answers", "answers": [" "]}, 400),
        ("ask me one question", {"decision": "answers", "answers": "red"}, 422),
    ],
)
def test_a_decision_that_does_not_fit_changes_nothing(
    alice: httpx.Client, asks: str, body: dict[str, Any], status: int
) -> None:
    message = Message.send(alice, asks)
    message.read()
    refused = message.decide(**body)
    assert (refused.status_code, list(refused.json())) == (status, ["detail"])
    assert message.shown()["status"] == "waiting"
    fitting: dict[str, Any] = (
        {"approved": True} if asks.startswith("write") else {"decision": "answers", "answers": ["red"]}
    )
    assert kinds(message.resume(**fitting))[-1] == "complete"


def test_a_question_that_was_answered_is_told_as_answered_also_after_the_end(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt")
    asked = last(message.read(), "interrupt")["interrupt_data"]["interrupt_id"]
    assert last(message.resume(approved=True), "complete")["success"]
    refused = message.decide(approved=False, interrupt_id=asked)
    assert refused.status_code == 409
    assert refused.json() == {"detail": "already answered", "decision": {"decision": "approve"}}


def test_two_tools_are_not_always_allowed_with_one_word(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt + run ls")
    first, _ = last(message.read(), "interrupt")["interrupt_data"]["requests"]
    refused = message.decide(approved=True, always_allow=True)
    assert (refused.status_code, "interrupt_id" in refused.json()["detail"]) == (400, True)
    named = message.decide(approved=True, always_allow=True, interrupt_id=first["interrupt_id"])
    assert named.status_code == 200
    granted = alice.get(f"/api/v2/conversations/{message.conversation_id}/grants").json()["grants"]
    assert [item["tool"] for item in granted] == [first["tool_name"]]
