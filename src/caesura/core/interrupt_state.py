"""What waits in a conversation, for programs that know only forms: an `InterruptState`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from caesura.core import forms, ids
from caesura.core.interrupts import Interrupt


@dataclass(frozen=True, slots=True)
class Session:
    """The session that a client has chosen, and the agent in it."""

    agent_id: str
    session_id: str


def of(session: Session, items: Sequence[Interrupt], at: int) -> dict[str, Any]:
    """The interrupts that wait together. `at`, in milliseconds, is used if they do not tell when they were
    made."""
    made = ids.made_at(items[0].id)
    return {
        "session_id": session.session_id,
        "agent_name": session.agent_id,
        "reason": forms.reason(items),
        "fields": forms.fields(items),
        "timestamp": (at if made is None else made) // 1000,
        "checkpoint_id": checkpoint_id(session, items),
        **_calls(items),
    }


def question(session: Session, items: Sequence[Interrupt]) -> dict[str, Any]:
    """What the person is asked."""
    asked = {"reason": forms.reason(items), "fields": forms.fields(items)}
    return asked | {"checkpoint_id": checkpoint_id(session, items)} | _calls(items)


def checkpoint_id(session: Session, items: Sequence[Interrupt]) -> str:
    """Names what waits, by the first interrupt: the agent, the session, and when the interrupt was made. The
    id of an interrupt has milliseconds; the nanoseconds below come from its random part."""
    first = items[0].id
    made = (ids.made_at(first) or 0) * 1_000_000 + crc32(first.encode()) % 1_000_000
    return f"{session.agent_id}_{session.session_id}_{made}"


def _calls(items: Sequence[Interrupt]) -> dict[str, Any]:
    calls = forms.tool_calls(items)
    return {"tool_calls": calls} if calls else {}
