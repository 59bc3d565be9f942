"""Events decoded from the wire."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.client import Rewound
from caesura.client.events import KINDS, Reader
from caesura.core import codec
from caesura.core import events as ev
from caesura.core.events import Envelope
from caesura.core.interrupts import Approval
from caesura.dialects.native import encode
from caesura.http.frames import encoded
from tests.core import strategies


def decoded(data: bytes) -> list[Envelope]:
    reader = Reader()
    found = [reader.read(block) for block in data.split(b"\n\n") if block]
    return [envelope for envelope in found if envelope is not None]


def as_shown(event: ev.Event) -> ev.Event:
    """The schema of edited arguments and the tasks of a graph stay on the server."""
    if isinstance(event, ev.GraphWrote):
        return replace(event, tasks="")
    if not isinstance(event, ev.Interrupted):
        return event
    asked = [
        replace(item, args_schema=None) if isinstance(item, Approval) else item for item in event.interrupts
    ]
    return replace(event, interrupts=tuple(asked))


def test_client_and_server_use_the_same_event_names() -> None:
    assert {kind: name for name, kind in KINDS.items()} == encode.NAMES


@given(st.lists(strategies.events("hostile"), min_size=1, max_size=5))
def test_a_received_event_equals_the_stored_one(events: list[ev.Event]) -> None:
    stored = codec.decode(codec.VERSION, codec.encode(events), 1, 1_000)
    received = [item.event for item in decoded(encoded(encode, 0, stored)[1])]
    assert received == [as_shown(item.event) for item in stored]


def test_a_delta_has_the_time_of_the_event_before_it() -> None:
    stored = [Envelope(1, 70, ev.ModelStarted(1, "a")), Envelope(2, 80, ev.TextDelta(1, "x"))]
    assert [item.at for item in decoded(encoded(encode, 0, stored)[1])] == [70, 70]


def test_the_first_delta_after_a_cursor_has_its_own_time() -> None:
    stored = [Envelope(seq, 70 + seq, ev.TextDelta(1, "x")) for seq in (8, 9)]
    frames = encode.opening(stored[0]) + encoded(encode, 0, stored)[1]
    reader = Reader(after=7)
    found = [reader.read(block) for block in frames.split(b"\n\n") if block]
    assert [told and told.at for told in found] == [None, 78, 78]


def test_times_do_not_depend_on_where_a_connection_breaks() -> None:
    stored = [Envelope(1, 70, ev.ModelStarted(1, "a"))]
    stored += [Envelope(seq, 70 + seq, ev.TextDelta(1, "x")) for seq in (2, 3)]
    frames = [encoded(encode, 0, [item])[1] for item in stored]
    broken = frames[0] + frames[1] + encode.opening(stored[2]) + frames[2]
    assert decoded(broken) == decoded(b"".join(frames))


def test_a_text_may_contain_characters_that_others_take_for_line_breaks() -> None:
    stored = [Envelope(1, 0, ev.TextDelta(1, "a\u2028b\x85c\x0bd\r\ne\n\nf"))]
    assert decoded(encoded(encode, 0, stored)[1]) == stored


def test_comments_and_events_of_a_newer_server_are_skipped() -> None:
    frames = b": ping\n\nid: 1\nevent: moon_rose\ndata: {}\n\n"
    frames += b'id: 2\nevent: stopped\ndata: {"at":5,"reason":"user","phase":"full"}\n\n'
    assert decoded(frames) == [Envelope(2, 5, ev.Stopped("user"))]


def test_a_log_that_was_cut_by_power_loss_is_reported() -> None:
    reader = Reader(after=100)
    with pytest.raises(Rewound) as caught:
        reader.read(b'id: 41\nevent: finished\ndata: {"at":5}')
    assert caught.value.seq == 40
