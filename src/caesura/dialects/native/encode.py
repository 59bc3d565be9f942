"""The native frames of events: the name of the event's class, and all of its fields."""

from __future__ import annotations

import re
from typing import Any, assert_never, get_args

from caesura.core import cursors, interrupts, json_data
from caesura.core import events as ev
from caesura.core.interrupts import Approval, Confirmation, File, GraphRequest, Interrupt, Questions

#: The name on the wire of each event.
NAMES: dict[type[ev.Event], str] = {
    kind: re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower() for kind in get_args(ev.Event)
}

_UNTIMED = (ev.TextDelta, ev.ReasoningDelta, ev.CallDelta)


def start(ordinal: int, epoch: int = 0) -> int:
    """The state of a reader: the offset that its attempt adds to an event's number."""
    return cursors.make(epoch, 0)


def opening(first: ev.Envelope) -> bytes:
    """A comment with the time of the first event that a reader gets, if its frame has none."""
    untimed = isinstance(first.event, _UNTIMED)
    return b": at %d\n\n" % first.at if untimed else b""


def step(attempt: int, envelope: ev.Envelope) -> tuple[int, bytes]:
    """The frame of one event."""
    seq, at, event = envelope
    attempt = skip(attempt, event)
    return attempt, _frame(attempt + seq, at, event)


def skip(attempt: int, event: ev.Event) -> int:
    """Like `step`, without the frame."""
    return cursors.make(event.epoch, 0) if type(event) is ev.RunStarted else attempt


def _frame(id: int, at: int, event: ev.Event) -> bytes:
    # Nearly all events are deltas: they are written without a dict.
    if isinstance(event, ev.TextDelta):
        members = (id, event.call, _dumps(event.text))
        return b'id: %d\nevent: text_delta\ndata: {"call":%d,"text":%b}\n\n' % members
    if isinstance(event, ev.ReasoningDelta):
        members = (id, event.call, _dumps(event.text))
        return b'id: %d\nevent: reasoning_delta\ndata: {"call":%d,"text":%b}\n\n' % members
    name = NAMES[type(event)].encode()
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (id, name, _dumps(data(at, event)))


def _dumps(value: Any) -> bytes:
    return json_data.line(json_data.dumps(value))


def data(at: int, event: ev.Event) -> dict[str, Any]:
    """The data of a frame. The three delta events have no time, because they make up most of a stream."""
    fields = {name: getattr(event, name) for name in event.__slots__ if name not in ev.HIDDEN}
    if isinstance(event, ev.Interrupted):
        fields["interrupts"] = [interrupt(item) for item in event.interrupts]
    if isinstance(event, _UNTIMED):
        return fields
    return {"at": at, **fields}


def interrupt(item: Interrupt) -> dict[str, Any]:
    """An interrupt with the members of all kinds, and the decisions that it allows."""
    shared: dict[str, Any] = {
        "id": item.id,
        "kind": item.kind,
        "tool_call_id": item.tool_call_id,
        "name": None,
        "args": {},
        "label": item.label,
        "description": item.description,
        "unknown": False,
        "file": None,
        "changed": False,
        "note": "",
        "questions": [],
        "reason": "",
        "context": "",
        "fields": [],
        "value": None,
        "agent": item.agent,
        "parent": item.parent,
        "expires_at": item.expires_at,
        "decisions": list(item.decisions),
    }
    return shared | _own(item)


def _file(file: File) -> dict[str, Any]:
    return {name: getattr(file, name) for name in ("path", "exists", "content", "size", "sha256")}


def _own(item: Interrupt) -> dict[str, Any]:
    """The members that only this kind has."""
    match item:
        case Approval(name=name, args=args, unknown=unknown, file=file, changed=changed, note=note):
            shown = _file(file) if file is not None else None
            own = {"name": name, "args": args, "unknown": unknown, "file": shown}
            return {**own, "changed": changed, "note": note}
        case Questions(name=name, args=args, questions=questions):
            listed = [interrupts.question_dict(question) for question in questions]
            return {"name": name, "args": args, "questions": listed}
        case Confirmation(reason=reason, context=context, fields=fields):
            form = [interrupts.field_dict(field) for field in fields]
            return {"reason": reason, "context": context, "fields": form}
        case GraphRequest(value=value):
            return {"value": value}
        case unreachable:
            assert_never(unreachable)
