"""The encoder of API A."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.core.events import Envelope, Event
from caesura.dialects.threads import encode
from caesura.dialects.threads.encode import State
from caesura.http.frames import encoded

SAID: list[Event] = [
    ev.RunStarted("a", 1, "start", 1),
    ev.ModelStarted(1, "a"),
    ev.TextDelta(1, "one "),
    ev.TextDelta(1, "two "),
    ev.ToolStarted("c", "look", {}, "a"),
    ev.ModelStarted(2, "sub", parent="c"),
    ev.TextDelta(2, "hidden"),
    ev.RunStarted("a", 1, "adopt", 2),
    ev.TextVoided(1),
    ev.TextVoided(2),
    ev.ModelStarted(3, "a"),
    ev.TextDelta(3, "three"),
    ev.ModelFinished(3),
    ev.Finished(),
    ev.SegmentEnded(),
]
LOG = [Envelope(seq, 0, event) for seq, event in enumerate(SAID, 1)]


def test_the_frames_after_any_cursor_equal_those_of_the_unbroken_stream() -> None:
    frames = []
    state = State(1)
    for item in LOG:
        state, frame = encode.step(state, item)
        frames.append(frame)
    for after in range(len(LOG) + 1):
        ended, rest = encoded(encode, State(1), LOG, after)
        assert rest == b"".join(frames[after:])
        assert ended == state


def test_events_before_the_cursor_are_not_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    genuine = encode._partial

    def counted(state: State, seq: int, text: str) -> bytes:
        written.append(seq)
        return genuine(state, seq, text)

    monkeypatch.setattr(encode, "_partial", counted)
    encoded(encode, State(1), LOG, after=10)
    assert written == [12]
