"""The native frames of events: the name of the class, and all of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, get_args

from caesura.core import cursors, interrupts, plain
from caesura.core import events as ev

#: The name on the wire of each event.
NAMES: dict[type[ev.Event], str] = {
    kind: re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower() for kind in get_args(ev.Event)
}


def frames(envelopes: Iterable[ev.Envelope], epoch: int = 0) -> tuple[int, bytes]:
    """The frames of these events, one after the other. `epoch` is that of the attempt in which they begin;
    that in which they end comes with them."""
    attempt = cursors.make(epoch, 0)
    made = []
    for seq, at, event in envelopes:
        if type(event) is ev.RunStarted:
            epoch = event.epoch
            attempt = cursors.make(epoch, 0)
        made.append(_frame(attempt + seq, at, event))
    return epoch, b"".join(made)


def _frame(id: int, at: int, event: ev.Event) -> bytes:
    match event:
        case ev.TextDelta(call, text):
            return b'id: %d\nevent: text_delta\ndata: {"call":%d,"text":%b}\n\n' % (id, call, _dumps(text))
        case ev.ReasoningDelta(call, text):
            return b'id: %d\nevent: reasoning_delta\ndata: {"call":%d,"text":%b}\n\n' % (
                id,
                call,
                _dumps(text),
            )
        case _:
            name = NAMES[type(event)].encode()
            return b"id: %d\nevent: %b\ndata: %b\n\n" % (id, name, _dumps(data(at, event)))


def _dumps(value: Any) -> bytes:
    return plain.line(plain.dumps(value))


def data(at: int, event: ev.Event) -> dict[str, Any]:
    """What stands in a frame. The two deltas go without their time: they are most of a stream."""
    fields = {name: getattr(event, name) for name in event.__slots__}
    if isinstance(event, ev.Interrupted):
        fields["interrupts"] = [interrupt(item) for item in event.interrupts]
    if isinstance(event, ev.TextDelta | ev.ReasoningDelta):
        return fields
    return {"at": at, **fields}


def interrupt(item: interrupts.Interrupt) -> dict[str, Any]:
    """A question with all of its members, and what may be decided."""
    return {
        **{name: getattr(item, name) for name in item.__slots__},
        "questions": [interrupts.question_dict(question) for question in item.questions],
        "fields": [interrupts.field_dict(field) for field in item.fields],
        "decisions": list(interrupts.DECISIONS[item.kind]),
    }
