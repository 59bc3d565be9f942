"""The state of a conversation that waits, for programs that know only forms: a reason, and fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, assert_never

from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Field,
    GraphRequest,
    Interrupt,
    Question,
    Questions,
    field_dict,
)

_CONTINUE = "Continue"


def of(items: Sequence[Interrupt], agent_name: str, session_id: str, at: int) -> dict[str, Any]:
    """The `InterruptState` of the interrupts that wait together, since `at` in milliseconds. `checkpoint_id`
    is the id of the first one."""
    return {
        "session_id": session_id,
        "agent_name": agent_name,
        "reason": reason(items),
        "fields": [field_dict(field) for field in fields(items)],
        "timestamp": at // 1000,
        "checkpoint_id": items[0].id,
    }


def reason(items: Sequence[Interrupt]) -> str:
    """One line for each interrupt."""
    return "\n".join(text for item in items if (text := _reason(item)))


def fields(items: Sequence[Interrupt]) -> list[Field]:
    """The form. If several interrupts wait, the names of their fields are numbered."""
    if len(items) == 1:
        return _fields(items[0])
    return [_numbered(item, field, place) for place, item in enumerate(items, 1) for field in _fields(item)]


def _numbered(item: Interrupt, field: Field, place: int) -> Field:
    label = item.description if isinstance(item, Approval) and item.description else field.label
    return replace(field, name=f"{field.name}_{place}", label=label)


def _reason(item: Interrupt) -> str:
    match item:
        case Confirmation():
            return item.reason or item.description
        case Questions():
            return item.description or "\n".join(question.question for question in item.questions)
        case Approval() | GraphRequest():
            return item.description or item.label
        case unreachable:
            assert_never(unreachable)


def _fields(item: Interrupt) -> list[Field]:
    match item:
        case Approval():
            return [_consent(item)]
        case Confirmation():
            return list(item.fields) or [_consent(item)]
        case Questions():
            return [_question(f"answer_{place}", entry) for place, entry in enumerate(item.questions, 1)]
        case GraphRequest():
            return [_consent(item), Field("value")]
        case unreachable:
            assert_never(unreachable)


def _consent(item: Interrupt) -> Field:
    return Field("confirm", "confirm", item.label or _CONTINUE, required=True)


def _question(name: str, question: Question) -> Field:
    """A text if other values than the offered ones are taken; the offered ones are then suggestions."""
    free = not question.options or any(option.allow_custom for option in question.options)
    offered = dict.fromkeys(option.value for option in question.options if not option.allow_custom)
    return Field(name, "text" if free else "select", question.question, True, tuple(offered))
