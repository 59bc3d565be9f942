"""The state of an interrupt for programs that know forms only: a reason, and fields to fill in."""

from __future__ import annotations

from typing import Any, assert_never
from zlib import crc32

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

_NANOSECONDS = 1_000_000


def of(item: Interrupt, agent_name: str, session_id: str, created_at: int) -> dict[str, Any]:
    """The `InterruptState` of an interrupt that was asked at `created_at`, in milliseconds."""
    return {
        "session_id": session_id,
        "agent_name": agent_name,
        "reason": reason(item),
        "fields": [field_dict(field) for field in fields(item)],
        "timestamp": created_at // 1000,
        "checkpoint_id": checkpoint_id(item, agent_name, session_id, created_at),
    }


def reason(item: Interrupt) -> str:
    match item:
        case Confirmation():
            return item.reason or item.description
        case Questions():
            return item.description or "\n".join(question.question for question in item.questions)
        case Approval() | GraphRequest():
            return item.description or item.label
        case unreachable:
            assert_never(unreachable)


def fields(item: Interrupt) -> tuple[Field, ...]:
    """The form: the fields of a confirmation, a field for each question, or one field to confirm."""
    match item:
        case Confirmation():
            return item.fields
        case Questions():
            return tuple(_field(number, question) for number, question in enumerate(item.questions, 1))
        case Approval():
            return (Field("confirm", "confirm", item.label, required=True),)
        case GraphRequest():
            return (Field("value", "text", item.label, required=True),)
        case unreachable:
            assert_never(unreachable)


def checkpoint_id(item: Interrupt, agent_name: str, session_id: str, created_at: int) -> str:
    """The agent, the session and the time in nanoseconds. Interrupts that are asked together have the same
    millisecond, and differ in the digits after it."""
    return f"{agent_name}_{session_id}_{created_at * _NANOSECONDS + crc32(item.id.encode()) % _NANOSECONDS}"


def _field(number: int, question: Question) -> Field:
    free = not question.options or any(option.allow_custom for option in question.options)
    values = () if free else tuple(dict.fromkeys(option.value for option in question.options))
    return Field(f"answer_{number}", "text" if free else "select", question.question, True, values)
