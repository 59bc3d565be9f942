"""Encodes the events of a segment as frames of the legacy form, with a pure fold: the text of the agent, the
interrupt, and `[DONE]`.

A frame has only text, so nothing that a model says may look like the end or like an interrupt. An interrupt
begins with NUL, which no text has. `[DONE]` in a text is divided over two frames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from caesura.core import events as ev
from caesura.core import interrupt_state, interrupts, json_data
from caesura.core.events import Envelope
from caesura.core.interrupt_state import Session
from caesura.core.interrupts import Interrupt
from caesura.dialects.superagent import encode

_DONE = "[DONE]"
#: Where `[DONE]` is divided.
_MIDDLE = len("[DO")
DONE = b"data: [DONE]\n\n"
#: Everything that a reader may take for the end of a line.
_BREAK = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
RESTART = "\n[RESTART]\n"


class State(NamedTuple):
    """The state of a reader: the model calls of sub-agents, those that have shown text, and whether the text
    ended in the first half of a line break."""

    hidden: frozenset[int] = frozenset()
    shown: frozenset[int] = frozenset()
    half: bool = False


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder of one turn of a session."""

    session: Session

    def start(self, ordinal: int, epoch: int = 0) -> State:
        return State()

    def step(self, state: State, envelope: Envelope) -> tuple[State, bytes]:
        """The frames of one event; empty if this form has none for it."""
        event = envelope.event
        if type(event) is ev.TextDelta:  # nearly all events of a log
            return _said(state, event.call, event.text)
        return self.skip(state, event), self._frames(state, envelope)

    def skip(self, state: State, event: ev.Event) -> State:
        """Like `step`, without the frames."""
        match event:
            case ev.TextDelta(call, text):
                return _said(state, call, text)[0]
            case ev.RunStarted(cause="adopt"):
                return state
            case ev.RunStarted():
                return State()
            case ev.ModelStarted(call, parent=parent):
                return state if parent is None else state._replace(hidden=state.hidden | {call})
            case ev.TextVoided(call):
                return state._replace(shown=state.shown - {call}, half=False)
            case (
                ev.ReasoningDelta()
                | ev.CallDelta()
                | ev.ModelFinished()
                | ev.ToolStarted()
                | ev.ToolProgress()
                | ev.GraphWrote()
                | ev.ToolFinished()
                | ev.TitleChanged()
                | ev.ArtifactChanged()
                | ev.Interrupted()
                | ev.InterruptClosed()
                | ev.Finished()
                | ev.Failed()
                | ev.Stopped()
                | ev.SegmentEnded()
            ):
                return state
            case unreachable:
                assert_never(unreachable)

    def _frames(self, state: State, envelope: Envelope) -> bytes:
        """The frames of an event that is no text. `state` is the one before the event."""
        event = envelope.event
        match event:
            case ev.TextVoided(call):
                return frames(RESTART) if call in state.shown else b""
            case ev.Interrupted(items) if items:
                return interrupt(interrupt_state.of(self.session, items, envelope.at))
            case ev.Failed():
                return error(encode.failure(event), bool(state.shown))
            case ev.SegmentEnded():
                return DONE
            case (
                ev.RunStarted()
                | ev.ModelStarted()
                | ev.TextDelta()
                | ev.ReasoningDelta()
                | ev.CallDelta()
                | ev.ModelFinished()
                | ev.ToolStarted()
                | ev.ToolProgress()
                | ev.GraphWrote()
                | ev.ToolFinished()
                | ev.TitleChanged()
                | ev.ArtifactChanged()
                | ev.Interrupted()
                | ev.InterruptClosed()
                | ev.Finished()
                | ev.Stopped()
            ):
                return b""
            case unreachable:
                assert_never(unreachable)


def interrupt(state: dict[str, object]) -> bytes:
    return b"data: \0INTERRUPT:%b\n\n" % json_data.line(json_data.dumps(state))


def error(message: str, after_text: bool) -> bytes:
    """A failure, for a person to read: a client of this form can only show it."""
    return frames(f"\n[ERROR] {message}" if after_text else f"[ERROR] {message}")


def not_taken(session: Session, items: Sequence[Interrupt], at: int) -> bytes:
    """The frames for a message that came while these wait."""
    asked = interrupt(interrupt_state.of(session, items, at))
    return error(interrupts.not_taken(items), after_text=False) + asked + DONE


def frames(text: str) -> bytes:
    """The frames of a text. A line break in it makes several lines of one frame."""
    text = _BREAK.sub("\n", json_data.text(text).replace("\0", ""))
    pieces = text.split(_DONE)
    if len(pieces) > 1:
        head, tail = _DONE[:_MIDDLE], _DONE[_MIDDLE:]
        inner = [f"{tail}{piece}{head}" for piece in pieces[1:-1]]
        pieces = [pieces[0] + head, *inner, tail + pieces[-1]]
    return b"".join(b"data: %b\n\n" % piece.replace("\n", "\ndata: ").encode() for piece in pieces if piece)


def _said(state: State, call: int, text: str) -> tuple[State, bytes]:
    hidden, shown, half = state
    if call in hidden or not text:
        return state, b""
    if call not in shown:
        shown |= {call}
        state = State(hidden, shown, half)
    if text.isprintable() and _DONE not in text:
        return State(hidden, shown) if half else state, b"data: %b\n\n" % json_data.text(text).encode()
    text = text.replace("\0", "")
    if not text:
        return state, b""
    if half and text.startswith("\n"):
        text = text[1:]
    return State(hidden, shown, text.endswith("\r")), frames(text)
