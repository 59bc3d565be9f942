"""The state of an interrupt, as a reason and a form."""

import pytest

from caesura.core import interrupt_state
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


def fields(item: Interrupt) -> list[tuple[str, str, str, bool, list[str]]]:
    state = interrupt_state.of(item, "agent", "session", AT)
    return [
        (field["name"], field["type"], field["label"], field["required"], field.get("options", []))
        for field in state["fields"]
    ]


def test_a_confirmation_has_its_own_reason_and_form() -> None:
    form = (Field("confirm", "confirm", "确认删除", True), Field("why", "select", "Why", options=("a", "b")))
    item = Confirmation("int-1", reason="Please confirm: 1,234 rows.", description="long", fields=form)
    state = interrupt_state.of(item, "approval-agent", "session-123", AT)
    number = state.pop("checkpoint_id").removeprefix("approval-agent_session-123_")
    assert (len(number), number[:13]) == (19, str(AT))
    assert state == {
        "session_id": "session-123",
        "agent_name": "approval-agent",
        "reason": "Please confirm: 1,234 rows.",
        "fields": [
            {"name": "confirm", "type": "confirm", "label": "确认删除", "required": True},
            {"name": "why", "type": "select", "label": "Why", "required": False, "options": ["a", "b"]},
        ],
        "timestamp": AT // 1000,
    }


def test_an_approval_asks_to_confirm_what_its_description_says() -> None:
    item = Approval("int-1", label="Run a command", description="Run a command: ls", name="execute")
    assert interrupt_state.reason(item) == "Run a command: ls"
    assert fields(item) == [("confirm", "confirm", "Run a command", True, [])]


def test_each_question_is_a_field() -> None:
    closed = Question("Which?", (Option("One", "1"), Option("Uno", "1"), Option("Two", "2")))
    open_ended = Question("How?", (Option("Fast", "fast"), Option("Other", "", allow_custom=True)))
    item = Questions("int-1", questions=(closed, open_ended, Question("Why?")))
    assert interrupt_state.reason(item) == "Which?\nHow?\nWhy?"
    assert fields(item) == [
        ("answer_1", "select", "Which?", True, ["1", "2"]),
        ("answer_2", "text", "How?", True, []),
        ("answer_3", "text", "Why?", True, []),
    ]


def test_a_graphs_request_is_a_text_field() -> None:
    item = GraphRequest("int-1", label="Input", description="Input: a name", value={"any": "thing"})
    assert interrupt_state.reason(item) == "Input: a name"
    assert fields(item) == [("value", "text", "Input", True, [])]


@pytest.mark.parametrize("other", ["int-2", "int-3"])
def test_interrupts_that_are_asked_together_have_different_checkpoints(other: str) -> None:
    names = {interrupt_state.checkpoint_id(Approval(name), "a", "s", AT) for name in ("int-1", other)}
    assert len(names) == 2
