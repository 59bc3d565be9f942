"""What waits in a conversation, for programs that know only forms: an `InterruptState`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
        "checkpoint_id": items[0].id,
        **_calls(items),
    }


def question(items: Sequence[Interrupt]) -> dict[str, Any]:
    """What the person is asked. `checkpoint_id` names what waits: the first interrupt."""
    asked = {"reason": forms.reason(items), "fields": forms.fields(items), "checkpoint_id": items[0].id}
    return asked | _calls(items)


def _calls(items: Sequence[Interrupt]) -> dict[str, Any]:
    calls = forms.tool_calls(items)
    return {"tool_calls": calls} if calls else {}
