"""The encoder of API C, in the legacy form."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.core import events as ev
from caesura.core.events import Envelope, Event
from caesura.core.interrupt_state import Session
from caesura.dialects.superagent.legacy import Encoder
from caesura.http.frames import encoded
from tests.effort import examples
from tests.scenarios.scenario import texts

ENCODER = Encoder(Session("a", "s"))
BEGUN: list[Event] = [ev.RunStarted("a", 1, "start", 1), ev.ModelStarted(1, "a")]
#: Pieces that are likely to look like something else when they are joined.
PIECES = st.text("[DONE]\r\n\0ab\u2028\x85 :data", max_size=12) | st.sampled_from(
    ["[DONE]", "[DO", "NE]", "\r", "\n", "\r\n", "\0INTERRUPT:{}", "data: [DONE]", "\n\ndata: [DONE]\n\n"]
)


def stream(pieces: list[str]) -> bytes:
    events = [*BEGUN, *(ev.TextDelta(1, piece) for piece in pieces), ev.Finished(), ev.SegmentEnded()]
    log = [Envelope(seq, 0, event) for seq, event in enumerate(events, 1)]
    return encoded(ENCODER, ENCODER.start(1), log)[1]


def plain(text: str) -> str:
    """A text as this form has it: without NUL, and with one kind of line break."""
    return re.sub("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]", "\n", text.replace("\0", ""))


@settings(max_examples=examples(200, 2000), deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_no_text_ends_the_stream_or_asks_a_question(pieces: list[str]) -> None:
    sent = stream(pieces)
    assert b"\0" not in sent
    assert b"\r" not in sent
    *said, end = texts(sent)
    assert end == "[DONE]"
    assert "".join(said) == plain("".join(pieces))
    lines = [line.removeprefix("data:").strip() for line in sent.decode().splitlines()]
    assert lines.count("[DONE]") == 1


@pytest.mark.parametrize(
    ("pieces", "data"),
    [
        (["a", " b"], ["a", " b"]),
        (["a\nb", "\n"], ["a\nb", "\n"]),
        (["a\r", "\nb"], ["a\n", "b"]),
        (["a\r", "\n", "b"], ["a\n", "b"]),
        (["a\r", "\0\n", "b"], ["a\n", "b"]),
        (["a\r", "\0", "\nb"], ["a\n", "b"]),
        (["a\r", "b"], ["a\n", "b"]),
        (["", "a", ""], ["a"]),
        (["[DONE]"], ["[DO", "NE]"]),
        (["x[DONE]y[DONE]"], ["x[DO", "NE]y[DO", "NE]"]),
        (["\0\0"], []),
        (["  "], ["  "]),
    ],
)
def test_each_piece_is_a_frame(pieces: list[str], data: list[str]) -> None:
    assert texts(stream(pieces)) == [*data, "[DONE]"]


def test_a_failure_without_text_begins_with_its_mark() -> None:
    for said, mark in ((False, "[ERROR] it broke (err-1)"), (True, "\n[ERROR] it broke (err-1)")):
        spoken: list[Event] = [ev.TextDelta(1, "so")] if said else []
        events = [*BEGUN, *spoken, ev.Failed("it broke", error_id="err-1"), ev.SegmentEnded()]
        log = [Envelope(seq, 0, event) for seq, event in enumerate(events, 1)]
        assert texts(encoded(ENCODER, ENCODER.start(1), log)[1])[-2:] == [mark, "[DONE]"]
