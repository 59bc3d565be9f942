"""The data of native events as models, for the OpenAPI document. They are derived from the events."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

from pydantic import BaseModel, Field, create_model

from caesura.core import events as ev
from caesura.dialects.native import encode, question_replies

_AT = (int, Field(description="The time of the event"))
_UNTIMED = (ev.TextDelta, ev.ReasoningDelta, ev.CallDelta)


def _model(kind: type[Any]) -> type[BaseModel]:
    hints = get_type_hints(kind)
    members: dict[str, Any] = {} if kind in _UNTIMED else {"at": _AT}
    shown = [item.name for item in fields(kind) if item.name not in ev.HIDDEN]
    members |= {name: (hints[name], ...) for name in shown}
    if kind is ev.Interrupted:
        members["interrupts"] = (list[question_replies.Interrupt], ...)
    if kind is ev.ModelFinished:
        members["tool_calls"] = (list[dict[str, Any]], ...)
    return create_model(f"{kind.__name__}Event", __doc__=_first_line(kind), **members)


def _first_line(kind: type[Any]) -> str | None:
    text = kind.__doc__ or ""
    return None if text.startswith(f"{kind.__name__}(") else " ".join(text.split())


def models() -> dict[str, type[BaseModel]]:
    """The data of each event, by its name on the wire. Every member is always there."""
    return {name: _model(kind) for kind, name in encode.NAMES.items()}
