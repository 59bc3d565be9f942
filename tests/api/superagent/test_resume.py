"""Answers over API C: a confirmation, an approval, questions and the request of a graph, as one form."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.reading import outcome, to_segment_end, until
from tests.api.server import Served
from tests.api.superagent.conftest import FORM
from tests.api.superagent.session import Session, interrupt_in, kinds, of, one, parsed, said, tokens
from tests.api.threads.conftest import Prompts

ASKING = "Are you sure you want to proceed?"
CONFIRM = [{"name": "confirm", "type": "confirm", "label": "Confirm", "required": True}]


def file_of(server: Served, session: Session, name: str) -> Path:
    made: str = session.conversation()["id"]
    return server.settings.data_dir / "workspaces" / made / name


def refused(answer: httpx.Response, status: int, error: str, **more: Any) -> None:
    assert (answer.status_code, answer.json()) == (status, {"error": error, **more})


def nothing(session: Session) -> str:
    return f"no pending interrupt for session: {session.session_id}"


# --- a confirmation


def test_the_state_has_what_the_client_needs_to_draw_the_form(session: Session) -> None:
    assert session.waiting() == {"interrupted": False}
    shown = interrupt_in(tokens(session.send(f"echo All is ready. {ASKING}")))
    state = session.state()
    assert shown == state
    assert set(state) == {"session_id", "agent_name", "reason", "fields", "timestamp", "checkpoint_id"}
    assert (state["session_id"], state["agent_name"]) == (session.session_id, session.agent_id)
    assert (state["reason"], state["fields"]) == (ASKING, CONFIRM)
    (turn,) = session.turns()
    assert state["timestamp"] * 1000 <= turn["created_at"] + 60_000
    named, _, nanoseconds = state["checkpoint_id"].rpartition("_")
    assert named == f"{session.agent_id}_{session.session_id}"
    assert int(nanoseconds) // 10**9 == state["timestamp"]


@pytest.mark.parametrize(
    ("confirm", "told"),
    [(True, "Yes, I confirm. Go ahead."), (False, "No, I refuse. Do not go ahead.")],
)
def test_the_agent_is_told_what_was_decided(
    alice: httpx.Client, prompts: Prompts, confirm: bool, told: str
) -> None:
    session = Session.new(alice, "recorder")
    session.chat("delete the old rows")
    assert said(session.resume(confirm=confirm))
    assert prompts.last()[-1] == ("user", told)
    assert session.waiting() == {"interrupted": False}
    refused(session.decide({"confirm": True}), 409, nothing(session))


def test_a_resumed_reply_has_either_form(session: Session) -> None:
    session.chat("delete the old rows")
    shown = tokens(session.decide({"confirm": True}, a2ui=False))
    assert "".join(shown) == said(session.join())


@pytest.mark.usefixtures("no_double_clicks")
def test_a_resumed_reply_is_scanned_again(alice: httpx.Client, gate: Any) -> None:
    gate()
    session = Session.new(alice, "gated")
    first = one(session.chat("go"), "interrupt")
    second = one(session.resume(confirm=True), "interrupt")
    assert first["reason"] == second["reason"] == "Please confirm this."
    assert first["checkpoint_id"] != second["checkpoint_id"] == session.state()["checkpoint_id"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (None, "input is required"),
        ("yes", "input must be an object"),
        ([], "input must be an object"),
        ({}, "field confirm is required"),
        ({"confirm": None}, "field confirm is required"),
        ({"confirm": "true"}, "field confirm must be true or false"),
        ({"confirm": 1}, "field confirm must be true or false"),
        ({"confirm": True, "other": 1}, "unknown field: other"),
        ({"confirm": False, "other": 1}, "unknown field: other"),
    ],
)
def test_an_input_that_does_not_fit_changes_nothing(session: Session, given: Any, error: str) -> None:
    session.chat(f"echo {ASKING}")
    before = session.state()
    refused(session.decide(given), 400, error)
    assert session.state() == before
    session.resume(confirm=True)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"confirm": True}, "field where is required"),
        ({"confirm": True, "where": "north"}, "field where must be one of: east, west"),
        ({"confirm": True, "where": True}, "field where must be a text"),
        ({"confirm": False, "where": "north"}, "field where must be one of: east, west"),
        ({"confirm": True, "where": "east", "note": 5}, "field note must be a text"),
        ({"confirm": True, "where": "east", "note": "x" * 65537}, "field note is longer than 65536 bytes"),
    ],
)
def test_the_fields_of_the_agents_form_are_checked(alice: httpx.Client, given: Any, error: str) -> None:
    session = Session.new(alice, "former")
    assert one(session.chat(f"echo {ASKING}"), "interrupt")["fields"] == FORM
    refused(session.decide(given), 400, error)
    assert session.waiting()["interrupted"] is True


def test_a_form_is_filled_in_and_a_refusal_needs_nothing_else(alice: httpx.Client, prompts: Prompts) -> None:
    session = Session.new(alice, "former")
    session.chat(f"echo {ASKING}")
    session.resume(confirm=True, where="east", note="with care")
    assert prompts.last()[-1] == ("user", "Yes, I confirm. Go ahead. where: east; note: with care")
    session.chat(f"echo {ASKING}")
    session.resume(confirm=False)
    assert prompts.last()[-1] == ("user", "No, I refuse. Do not go ahead.")
    session.chat(f"echo {ASKING}")
    session.resume(confirm=False, where="west", note="not yet")
    assert prompts.last()[-1] == ("user", "No, I refuse. Do not go ahead. where: west; note: not yet")


# --- other questions


def test_a_tool_call_is_approved_or_refused(server: Served, alice: httpx.Client) -> None:
    """The agent takes no confirmations in words: its tool calls can be approved all the same."""
    for allowed in (True, False):
        session = Session.new(alice, "assistant")
        asked = one(session.chat("write a.txt: x"), "interrupt")
        assert [(field["name"], field["type"], field["required"]) for field in asked["fields"]] == [
            ("confirm", "confirm", True)
        ]
        (call,) = asked["tool_calls"]
        assert (call["name"], call["arguments"]["path"]) == ("write_file", "a.txt")
        assert "a.txt" in asked["reason"]
        assert session.state()["tool_calls"] == asked["tool_calls"]
        found = session.resume(confirm=allowed)
        assert one(found, "tool_result")["is_error"] is not allowed
        assert file_of(server, session, "a.txt").exists() is allowed
        refused(session.decide({"confirm": True}), 404, "agent does not support interrupt/resume: assistant")


def test_calls_that_wait_together_are_decided_one_by_one(server: Served, alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    asked = one(session.chat("write a.txt + write b.txt"), "interrupt")
    assert [field["name"] for field in asked["fields"]] == ["confirm_1", "confirm_2"]
    assert ["a.txt" in asked["fields"][0]["label"], "b.txt" in asked["fields"][1]["label"]] == [True, True]
    refused(session.decide({"confirm_1": True}), 400, "field confirm_2 is required")
    refused(session.decide({"confirm": True}), 400, "unknown field: confirm")
    found = session.resume(confirm_1=True, confirm_2=False)
    assert sorted(data["is_error"] for data in of(found, "tool_result")) == [False, True]
    assert [file_of(server, session, f"{name}.txt").exists() for name in "ab"] == [True, False]
    session.chat("write c.txt + write d.txt")
    assert [data["status"] for data in of(session.resume(confirm=False), "tool_result")] == ["refused"] * 2


def test_questions_are_answered_by_field(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    asked = one(session.chat("ask me 3 questions"), "interrupt")
    names = [field["name"] for field in asked["fields"]]
    assert names == ["answer_1", "answer_2", "answer_3"]
    for field in asked["fields"]:
        assert field["type"] == ("select" if field["name"] in _selects(asked) else "text")
        assert field["label"]
    refused(session.decide({"answer_1": "red"}), 400, "field answer_2 is required")
    (first, *_) = _selects(asked)
    wrong = dict.fromkeys(names, "x" * 20)
    assert session.decide(wrong).json()["error"].startswith(f"field {first} must be one of: ")
    given = {field["name"]: field.get("options", ["anything"])[0] for field in asked["fields"]}
    result = one(session.resume(**given), "tool_result")
    assert not result["is_error"]
    assert given["answer_1"] in result["result"]
    session.chat("ask me one question")
    declined = one(session.resume(confirm=False), "tool_result")
    assert declined["result"] == "The person declined to answer."


def _selects(asked: dict[str, Any]) -> list[str]:
    return [field["name"] for field in asked["fields"] if field["type"] == "select"]


@pytest.mark.parametrize(
    ("given", "heard"),
    [
        ({"confirm": True}, "True"),
        ({"confirm": True, "value": "tomorrow"}, "'tomorrow'"),
        ({"confirm": False}, "False"),
        ({"confirm": False, "value": "never"}, "False"),
    ],
)
def test_the_request_of_a_graph_is_answered(alice: httpx.Client, given: dict[str, Any], heard: str) -> None:
    session = Session.new(alice, "asker")
    asked = one(session.chat("go"), "interrupt")
    assert asked["reason"] == 'Question: {"when":"now?"}'
    fields = [(field["name"], field["required"]) for field in asked["fields"]]
    assert fields == [("confirm", True), ("value", False)]
    refused(session.decide({"value": "x"}), 400, "field confirm is required")
    assert said(session.resume(**given)) == f"heard {heard}"


# --- when nothing waits, or something else


def test_resuming_without_an_interrupt_is_refused(alice: httpx.Client) -> None:
    session = Session.new(alice)
    refused(session.decide({"confirm": True}), 409, nothing(session))
    session.chat("echo x")
    refused(session.decide({"confirm": True}), 409, nothing(session))
    plain = Session.new(alice, "assistant")
    text = "agent does not support interrupt/resume: assistant"
    refused(plain.decide({"confirm": True}), 404, text)
    plain.chat(f"echo {ASKING}")
    refused(plain.decide({"confirm": True}), 404, text)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "agent_id is required"),
        ({"session_id": "s", "input": {}}, "agent_id is required"),
        ({"agent_id": "approval-agent", "input": {}}, "session_id is required"),
        ({"agent_id": "approval-agent", "session_id": "s"}, "input is required"),
    ],
)
def test_what_is_missing_is_named(alice: httpx.Client, body: dict[str, Any], error: str) -> None:
    refused(alice.post("/api/v1/chat/resume", json=body), 400, error)


def test_an_answer_may_also_name_the_interrupt(session: Session) -> None:
    """As the other APIs call it."""
    session.chat("delete the old rows")
    assert session.decide({"confirm": True}, checkpoint_id=session.interrupt()).status_code == 200


def test_an_answer_to_something_else_is_refused_with_what_waits(server: Served, alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    first = one(session.chat("write a.txt then write b.txt"), "interrupt")["checkpoint_id"]
    second = one(session.resume(confirm=True), "interrupt")["checkpoint_id"]
    state = session.state()
    assert state["checkpoint_id"] == second
    for other in (first, "int-unknown", ""):
        answer = session.decide({"confirm": True}, checkpoint_id=other)
        refused(answer, 409, "an interrupt is pending", state=state)
    assert not file_of(server, session, "b.txt").exists()
    assert session.decide({"confirm": True}, checkpoint_id=5).status_code == 400
    assert session.decide({"confirm": True}, checkpoint_id=second).status_code == 200
    assert file_of(server, session, "b.txt").exists()


@pytest.mark.usefixtures("slow_clicks")
@pytest.mark.parametrize("given", [{"confirm": True}, {"confirm": False}, {"other": 1}])
def test_the_second_click_decides_nothing_that_was_not_seen(
    server: Served, alice: httpx.Client, given: dict[str, Any]
) -> None:
    session = Session.new(alice, "assistant")
    session.chat("write a.txt then write b.txt")
    parsed(session.decide({"confirm": True}))
    refused(session.decide(given), 409, "an interrupt is pending", state=session.state())
    assert not file_of(server, session, "b.txt").exists()


def test_the_second_click_learns_of_the_first_while_the_run_goes_on(alice: httpx.Client) -> None:
    session = Session.new(alice, "stuck")
    session.chat("write a.txt")
    sent = {**session.ids, "input": {"confirm": True}}
    with alice.stream("POST", "/api/v1/chat/resume", json=sent, headers={"X-A2UI": "true"}) as response:
        assert response.status_code == 200
        late = session.decide({"confirm": False})
        refused(late, 409, nothing(session), decision={"decision": "approve"})
        assert session.abort() is True


# --- a new message


def test_a_message_while_something_waits_is_not_taken_or_supersedes_it(
    server: Served, alice: httpx.Client
) -> None:
    session = Session.new(alice, "assistant")
    asked = session.chat("write a.txt: x")
    state = session.state()
    told = "The message was not taken: answer the question first."
    again = session.chat("echo next")
    assert kinds(again) == ["error", "interrupt", "done"]
    assert one(again, "error") == {"code": "interrupt_pending", "message": told}
    assert one(again, "interrupt") == one(asked, "interrupt")
    legacy = tokens(session.send("echo next"))
    assert (legacy[0], interrupt_in(legacy)) == (f"[ERROR] {told}", state)
    assert session.state() == state
    assert said(session.chat("echo next", supersede=True)) == "next"
    assert session.waiting() == {"interrupted": False}
    assert not file_of(server, session, "a.txt").exists()
    assert [turn["status"] for turn in session.turns()] == ["stopped", "done"]


def test_what_waits_can_be_aborted(session: Session) -> None:
    session.chat("delete the old rows")
    assert session.abort() is True
    assert session.waiting() == {"interrupted": False}
    refused(session.decide({"confirm": True}), 409, nothing(session))
    assert session.abort() is False
    assert kinds(session.join()) == ["progress", "done"]


def test_a_session_that_does_not_exist_is_not_aborted(alice: httpx.Client) -> None:
    assert Session.new(alice).abort() is False


def test_the_state_is_that_of_the_native_api(session: Session) -> None:
    session.chat("delete the old rows")
    (turn,) = session.turns()
    (item,) = outcome(to_segment_end(session.client, turn["id"])).data["interrupts"]
    state = session.state()
    assert (session.interrupt(), state["reason"], state["fields"]) == (
        item["id"],
        item["reason"],
        item["fields"],
    )


@pytest.mark.usefixtures("no_double_clicks")
def test_an_answer_that_names_nothing_is_about_what_was_shown(alice: httpx.Client) -> None:
    """The second question was shown to nobody: a late click must not approve it."""
    session = Session.new(alice, "assistant")
    session.chat("write a.txt then write b.txt")
    first = session.interrupt()
    assert alice.post(f"/api/v2/interrupts/{first}/answer", json={"decision": "approve"}).is_success
    until(lambda: session.interrupt() not in (None, first))
    late = session.decide({"confirm": True})
    assert late.status_code == 409
    assert session.state() == late.json()["state"]  # this shows it
    assert session.decide({"confirm": True}).status_code == 200
