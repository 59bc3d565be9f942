"""The state of a conversation that waits, as a reason and a form."""

from caesura.core import forms, interrupt_state
from caesura.core.answers import Answer
from caesura.core.interrupt_state import Session
from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Field,
    GraphRequest,
    Interrupt,
    Option,
    Question,
    Questions,
)

AT = 1_746_000_000_123
SESSION = Session("agent", "session")


def fields(*items: Interrupt) -> list[tuple[str, str, str, bool, list[str]]]:
    state = interrupt_state.of(SESSION, items, AT)
    return [
        (field["name"], field["type"], field["label"], field["required"], field.get("options", []))
        for field in state["fields"]
    ]


def test_a_confirmation_has_its_own_reason_and_form() -> None:
    form = (Field("confirm", "confirm", "确认删除", True), Field("why", "select", "Why", options=("a", "b")))
    item = Confirmation("int-1", reason="Please confirm: 1,234 rows.", description="long", fields=form)
    assert interrupt_state.of(Session("approval-agent", "session-123"), [item], AT) == {
        "session_id": "session-123",
        "agent_name": "approval-agent",
        "reason": "Please confirm: 1,234 rows.",
        "fields": [
            {"name": "confirm", "type": "confirm", "label": "确认删除", "required": True},
            {"name": "why", "type": "select", "label": "Why", "required": False, "options": ["a", "b"]},
        ],
        "timestamp": AT // 1000,
        "checkpoint_id": "approval-agent_session-123_23816",
    }


def test_an_approval_asks_to_confirm_what_its_description_says() -> None:
    item = Approval("int-1", label="Run a command", description="Run a command: ls", name="execute")
    assert forms.reason([item]) == "Run a command: ls"
    assert fields(item) == [("confirm", "confirm", "Run a command", True, [])]


def test_a_call_that_can_only_be_answered_is_a_text() -> None:
    item = Approval(
        "int-1", label="Use a tool", description="Using tool: ask", decisions=("reject", "respond")
    )
    assert fields(item) == [("answer", "text", "Use a tool", True, [])]
    assert forms.answered([item], {"answer": "now"}) == {"int-1": Answer("respond", message="now")}
    assert forms.answered([item], {"confirm": False}) == {"int-1": Answer("reject")}


def test_each_question_is_a_field() -> None:
    closed = Question("Which?", (Option("One", "1"), Option("Uno", "1"), Option("Two", "2")))
    open_ended = Question("How?", (Option("Fast", "fast"), Option("Other", "", allow_custom=True)))
    item = Questions("int-1", questions=(closed, open_ended, Question("Why?")))
    assert forms.reason([item]) == "Which?\nHow?\nWhy?"
    assert fields(item) == [
        ("answer_1", "select", "Which?", True, ["1", "2"]),
        ("answer_2", "text", "How?", True, ["fast"]),
        ("answer_3", "text", "Why?", True, []),
    ]


def test_a_graphs_request_is_confirmed_and_may_have_a_value() -> None:
    item = GraphRequest("int-1", description="Input: a name", value={"any": "thing"})
    assert forms.reason([item]) == "Input: a name"
    assert forms.reason([GraphRequest("int-1", description="Question: a\\nb", value="a\nb")]) == "a\nb"
    assert fields(item) == [
        ("confirm", "confirm", "Continue", True, []),
        ("value", "text", "Value", False, []),
    ]


def test_interrupts_that_wait_together_are_one_form() -> None:
    first = Approval("int-1", label="Write", description="Write: a.txt", name="write_file")
    second = Questions("int-2", description="Asks", questions=(Question("Why?"),))
    state = interrupt_state.of(SESSION, [first, second], AT)
    assert (state["reason"], state["checkpoint_id"]) == (
        "Write: a.txt\nAsks",
        interrupt_state.checkpoint_id(SESSION, [first]),
    )
    assert fields(first, second) == [
        ("confirm_1", "confirm", "Write: a.txt", True, []),
        ("answer_1_2", "text", "Why?", True, []),
    ]
