"""The stored form of events: one row holds a run of consecutive events, as a JSON list of
`[code, milliseconds after the row's time, *fields]`.

Versions are kept for ever: a reader must understand every version ever written. Fields are only ever
added at the end, with a default, so that a shorter list of the same version stays readable.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from caesura.core import events as ev
from caesura.core import interrupts, json_data
from caesura.core.errors import CodecError, UnknownVersion

VERSION = 1
#: Rows of version 1, joined and compressed. The log of an ended turn is packed into these.
PACKED = 2
#: The bytes of a delta without its text.
_DELTA = 16

_CODES: dict[type[ev.Event], str] = {
    ev.TextDelta: "t",
    ev.ReasoningDelta: "r",
    ev.CallDelta: "c",
    ev.RunStarted: "run",
    ev.ModelStarted: "model",
    ev.TextVoided: "void",
    ev.ModelFinished: "modelled",
    ev.ToolStarted: "tool",
    ev.ToolProgress: "p",
    ev.ToolFinished: "tooled",
    ev.GraphWrote: "wrote",
    ev.TitleChanged: "title",
    ev.ArtifactChanged: "artifact",
    ev.Interrupted: "ask",
    ev.InterruptClosed: "answered",
    ev.Finished: "done",
    ev.Failed: "failed",
    ev.Stopped: "stopped",
    ev.SegmentEnded: "end",
}


def _interrupted(items: list[dict[str, Any]]) -> ev.Interrupted:
    return ev.Interrupted(tuple(interrupts.from_dict(item) for item in items))


def _model_finished(
    call: int,
    tool_calls: Sequence[dict[str, Any]] = (),
    usage: dict[str, int] | None = None,
    finish_reason: str | None = None,
    kept: Sequence[dict[str, Any]] = (),
    thought_ms: int | None = None,
) -> ev.ModelFinished:
    return ev.ModelFinished(call, tuple(tool_calls), usage, finish_reason, tuple(kept), thought_ms)


_MAKERS: dict[str, Callable[..., ev.Event]] = {code: kind for kind, code in _CODES.items()} | {
    "ask": _interrupted,
    "modelled": _model_finished,
}


def encode(events: Sequence[ev.Event], offsets: Sequence[int] | None = None) -> bytes:
    """The body of one row. `offsets` are milliseconds after the row's time; all zero when left out."""
    if offsets is None:
        return json_data.dumps([_fields(event, 0) for event in events])
    return json_data.dumps([_fields(event, offset) for event, offset in zip(events, offsets, strict=True)])


def size(event: ev.Event) -> int:
    """About how many bytes the event takes in the body of a row. Exact for events that can be large."""
    if isinstance(event, (ev.TextDelta, ev.ReasoningDelta)):
        text = event.text
        return _DELTA + (len(text) if text.isascii() else len(text.encode("utf-8", "replace")))
    return len(json_data.dumps(_fields(event, 0)))


def pack(rows: Sequence[tuple[int, bytes]]) -> bytes:
    """The body of one packed row, from the times and bodies of consecutive rows of version 1. Each body is
    stored unchanged, after its time in milliseconds since the first row's time."""
    start = rows[0][0]
    return zlib.compress(b"[%b]" % b",".join(b"[%d,%b]" % (at - start, body) for at, body in rows))


def decode(version: int, body: bytes, first: int, at: int) -> list[ev.Envelope]:
    """The events of one row, numbered from `first`."""
    return measured(version, body, first, at)[0]


def measured(version: int, body: bytes, first: int, at: int) -> tuple[list[ev.Envelope], int]:
    """As `decode`, with the uncompressed size of the events in bytes."""
    if version not in (VERSION, PACKED):
        raise UnknownVersion(f"events of version {version} cannot be read: this program knows 1 and 2")
    try:
        if version == VERSION:
            return list(_envelopes(json_data.loads(body), first, at)), len(body)
        raw = zlib.decompress(body)
        return list(_unpacked(json_data.loads(raw), first, at)), len(raw)
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error) as error:
        raise CodecError(f"events from {first} cannot be read: {error}") from error


def starts(version: int, body: bytes, first: int, at: int) -> list[ev.Envelope]:
    """Each `RunStarted` of one row. Most rows have none and are not decoded: inside of a text these bytes
    would be escaped."""
    try:
        text = zlib.decompress(body) if version == PACKED else body
    except zlib.error as error:
        raise CodecError(f"events from {first} cannot be read: {error}") from error
    if b'["run",' not in text:
        return []
    return [item for item in decode(version, body, first, at) if isinstance(item.event, ev.RunStarted)]


def _fields(event: ev.Event, offset: int) -> list[Any]:
    # Nearly all events are of these three types, and a class pattern costs three times as much.
    if isinstance(event, ev.TextDelta):
        return ["t", offset, event.call, event.text]
    if isinstance(event, ev.ReasoningDelta):
        return ["r", offset, event.call, event.text]
    if isinstance(event, ev.CallDelta):
        named = [event.name] if event.name else []
        return ["c", offset, event.call, event.index, event.text, *named]
    if isinstance(event, ev.ModelStarted):
        told = [event.context_from] if event.context_from is not None else []
        return ["model", offset, event.call, event.agent, event.model, event.parent, event.ref, *told]
    if isinstance(event, ev.Interrupted):
        return ["ask", offset, [interrupts.to_dict(item) for item in event.interrupts]]
    if isinstance(event, ev.ModelFinished):
        thought = [event.thought_ms] if event.thought_ms is not None else []
        rest = [event.kept, *thought] if event.kept or thought else []
        return ["modelled", offset, event.call, event.tool_calls, event.usage, event.finish_reason, *rest]
    return [_CODES[type(event)], offset, *(getattr(event, name) for name in event.__slots__)]


def _envelopes(rows: Iterable[list[Any]], first: int, at: int) -> Iterable[ev.Envelope]:
    for seq, (code, offset, *fields) in enumerate(rows, first):
        yield ev.Envelope(seq, at + offset, _MAKERS[code](*fields))


def _unpacked(parts: Iterable[tuple[int, list[Any]]], first: int, at: int) -> Iterable[ev.Envelope]:
    for offset, rows in parts:
        yield from _envelopes(rows, first, at + offset)
        first += len(rows)
