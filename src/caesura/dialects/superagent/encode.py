"""Encodes the events of a segment as frames of the A2UI form, with a pure fold. A stream that is resumed
after any id equals the unbroken stream.

An event may have several frames. The ids of all but the last are those of the event with `.1`, `.2` and so
on, so that a reader continues exactly even if it was cut between two of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, assert_never

from caesura.core import cursors, interrupt_state, interrupts, json_data
from caesura.core import events as ev
from caesura.core.errors import InterruptPending
from caesura.core.events import Envelope
from caesura.core.interrupt_state import Session
from caesura.core.interrupts import Interrupt
from caesura.dialects.superagent import voice
from caesura.dialects.superagent.voice import SILENT, Voice

Kind = Literal["text", "thinking"]
_MEMBERS: dict[Kind, bytes] = {"text": b"text", "thinking": b"thinking"}


class State(NamedTuple):
    """The state of a reader: the offset that the turn and the attempt add to an event's number, who works,
    the model calls of sub-agents, those that were heard, and what was said and thought."""

    place: int
    agent: str = ""
    hidden: frozenset[int] = frozenset()
    heard: frozenset[int] = frozenset()
    text: Voice = SILENT
    thinking: Voice = SILENT


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder of one turn in this session. Of the event `partly`, the reader has seen the first `seen`
    frames: they are not sent again."""

    session: Session
    partly: int = 0
    seen: int = 0

    def start(self, ordinal: int, epoch: int = 0) -> State:
        return State(cursors.along(ordinal, cursors.make(epoch, 0)))

    def step(self, state: State, envelope: Envelope) -> tuple[State, bytes]:
        """The frames of one event; empty if this API has none for it."""
        event = envelope.event
        if type(event) is ev.TextDelta and not state.thinking.held:  # nearly all events of a log
            state, piece = _said(state, event.call, event.text)
            if not piece:
                return state, b""
            frames = [_spoken("text", envelope.at, state.text, piece)]
        else:
            state, frames = _next(self.session, state, envelope)
        if not frames:
            return state, b""
        seen = self.seen if envelope.seq == self.partly and self.seen < len(frames) else 0
        return state, _joined(state.place + envelope.seq, frames, seen)

    def skip(self, state: State, event: ev.Event) -> State:
        """Like `step`, without the frames."""
        if type(event) is ev.TextDelta and not state.thinking.held:
            return _said(state, event.call, event.text)[0]
        return _next(self.session, state, Envelope(0, 0, event))[0]


def _next(  # noqa: C901 - one case for each event
    session: Session, state: State, envelope: Envelope
) -> tuple[State, list[bytes]]:
    """The state after an event, and the frames of the event without their ids."""
    at, event = envelope.at, envelope.event
    match event:
        case ev.TextDelta(call, text):
            state, frames = _flushed(state, at, ("thinking",))
            state, piece = _said(state, call, text)
            return state, [*frames, _spoken("text", at, state.text, piece)] if piece else frames
        case ev.ReasoningDelta(call, text):
            state, frames = _flushed(state, at, ("text",))
            state, piece = _thought(state, call, text)
            return state, [*frames, _spoken("thinking", at, state.thinking, piece)] if piece else frames
        case ev.RunStarted(agent=agent, cause="adopt", epoch=epoch):
            return state._replace(place=_at(state, epoch), agent=agent), []
        case ev.RunStarted(agent=agent, epoch=epoch):
            return State(_at(state, epoch), agent), []
        case ev.ModelStarted(call, agent, parent=parent):
            if parent is not None:
                state = state._replace(hidden=state.hidden | {call})
            return _switched(state, at, agent, parent)
        case ev.ModelFinished():
            return _flushed(state, at)
        case ev.TextVoided(call):
            return _voided(state, at, call)
        case ev.ToolStarted(id, name, args):
            begun = {"id": id, "name": name, "arguments": args, "status": "running"}
            return _told(state, at, "tool_call", begun)
        case ev.ToolFinished(id, name, output, status):
            failed = status not in ("ok", "answered")
            result = {"id": id, "name": name, "result": output, "is_error": failed, "status": status}
            return _told(state, at, "tool_result", result)
        case ev.ToolProgress(id, text):
            return _told(state, at, "progress", {"status": "tool", "id": id, "text": text})
        case ev.TitleChanged(title):
            return _told(state, at, "progress", {"status": "title", "title": title})
        case ev.ArtifactChanged(id, version, update_type):
            changed = {"id": id, "version": version, "update_type": update_type}
            return _told(state, at, "progress", {"status": "artifact", **changed})
        case ev.Interrupted(items):
            return _over(state, at, "interrupt", interrupt_state.question(session, items) if items else {})
        case ev.Failed():
            return _over(state, at, "error", {"code": event.code, "message": failure(event)})
        case ev.Stopped(reason):
            return _over(state, at, "progress", {"status": "stopped", "reason": reason})
        case ev.Finished():
            return _over(state, at)
        case ev.SegmentEnded():
            return state, [_frame("done", at, b"null")]
        case ev.CallDelta() | ev.GraphWrote() | ev.InterruptClosed():
            return state, []
        case unreachable:
            assert_never(unreachable)


def failure(event: ev.Failed) -> str:
    return f"{event.message} ({event.error_id})" if event.error_id else event.message


def failed(code: str, message: str, at: int) -> bytes:
    """The last frames of a stream whose turn is gone."""
    return (
        _frame("error", at, _dumps({"code": code, "message": message}))
        + b"\n"
        + _frame("done", at, b"null")
        + b"\n"
    )


def not_taken(session: Session, items: Sequence[Interrupt], at: int) -> bytes:
    """The frames for a message that came while these wait."""
    fault = {"code": InterruptPending.code, "message": interrupts.not_taken(items)}
    asked = _dumps(interrupt_state.question(session, items))
    frames = _frame("error", at, _dumps(fault)), _frame("interrupt", at, asked), _frame("done", at, b"null")
    return b"".join(frame + b"\n" for frame in frames)


def anew(at: int) -> bytes:
    """Sent first when power loss took events that the reader has seen: all of the segment comes again."""
    void = b'{"content":"","delta":""}'
    restart = _dumps({"status": "restart", "scope": "segment"})
    return b"%b\n%b\n" % (_frame("progress", at, restart), _frame("text", at, void))


def _at(state: State, epoch: int) -> int:
    return cursors.along(cursors.ordinal(state.place), cursors.make(epoch, 0))


def _said(state: State, call: int, text: str) -> tuple[State, bytes]:
    place, agent, hidden, heard, said, thought = state
    if call in hidden:
        return state, b""
    said, piece = voice.hear(said, call, text)
    return State(place, agent, hidden, heard if call in heard else heard | {call}, said, thought), piece


def _thought(state: State, call: int, text: str) -> tuple[State, bytes]:
    place, agent, hidden, heard, said, thought = state
    if call in hidden:
        return state, b""
    thought, piece = voice.hear(thought, call, text)
    return State(place, agent, hidden, heard if call in heard else heard | {call}, said, thought), piece


def _flushed(
    state: State, at: int, kinds: Sequence[Kind] = ("thinking", "text")
) -> tuple[State, list[bytes]]:
    """At most one of the two kinds is held: the other is sent before a piece of this one is taken."""
    frames = []
    for kind in kinds:
        spoken, piece = voice.flush(state.text if kind == "text" else state.thinking)
        if piece:
            state = state._replace(text=spoken) if kind == "text" else state._replace(thinking=spoken)
            frames.append(_spoken(kind, at, spoken, piece))
    return state, frames


def _told(state: State, at: int, kind: str, data: Mapping[str, Any]) -> tuple[State, list[bytes]]:
    """A frame of another kind, after what is held."""
    state, frames = _flushed(state, at)
    return state, [*frames, _frame(kind, at, _dumps(data))]


def _over(
    state: State, at: int, kind: str | None = None, data: Mapping[str, Any] | None = None
) -> tuple[State, list[bytes]]:
    """The outcome, after what is held."""
    state, frames = _flushed(state, at)
    return state, frames if kind is None else [*frames, _frame(kind, at, _dumps(data))]


def _switched(state: State, at: int, agent: str, parent: str | None) -> tuple[State, list[bytes]]:
    if agent == state.agent:
        return state, []
    switch = {"from": state.agent, "to": agent, "parent": parent}
    return _told(state._replace(agent=agent), at, "agent_switch", switch)


def _voided(state: State, at: int, call: int) -> tuple[State, list[bytes]]:
    """The reader is told that the call is made again, and what the text is without it."""
    if call not in state.heard:
        return state, []
    spoke = voice.speaks(state.text, call)
    state, frames = _told(state, at, "progress", {"status": "restart"})
    said, thought = voice.void(state.text, call), voice.void(state.thinking, call)
    if spoke:
        frames.append(_spoken("text", at, said, b""))
    return state._replace(heard=state.heard - {call}, text=said, thinking=thought), frames


def _spoken(kind: Kind, at: int, spoken: Voice, new: bytes) -> bytes:
    name, content = _MEMBERS[kind], b""
    if spoken.over is None:
        content = b'"content":"%b",' % voice.whole(spoken)
    return b'event: %b\ndata: {"type":"%b","timestamp":%d,"data":{%b"delta":"%b"}}\n' % (
        name,
        name,
        at,
        content,
        new,
    )


def _frame(kind: str, at: int, data: bytes) -> bytes:
    name = kind.encode()
    return b'event: %b\ndata: {"type":"%b","timestamp":%d,"data":%b}\n' % (name, name, at, data)


def _joined(number: int, frames: Sequence[bytes], seen: int) -> bytes:
    """The frames of one event with their ids. The id comes last, because some clients expect `event:`
    first."""
    if len(frames) == 1:
        return b"%bid: %d\n\n" % (frames[0], number)
    last = len(frames)
    numbered = [
        b"%bid: %d\n\n" % (frame, number) if place == last else b"%bid: %d.%d\n\n" % (frame, number, place)
        for place, frame in enumerate(frames, 1)
    ]
    return b"".join(numbered[seen:])


def _dumps(value: Any) -> bytes:
    return json_data.line(json_data.dumps(value))
