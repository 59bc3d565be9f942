"""The encoder of API C, in the A2UI form."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.core import events as ev
from caesura.core.events import Envelope, Event
from caesura.core.interrupt_state import Session
from caesura.core.interrupts import Approval
from caesura.dialects.superagent import voice
from caesura.dialects.superagent.encode import Encoder
from caesura.http.frames import encoded
from tests.effort import examples
from tests.scenarios.scenario import parse

SESSION = Session("a", "s")
ENCODER = Encoder(SESSION)
BEGUN: list[Event] = [ev.RunStarted("a", 1, "start", 1), ev.ModelStarted(1, "a")]
ENDED: list[Event] = [ev.Finished(), ev.SegmentEnded()]
SAID: list[Event] = [
    *BEGUN,
    *(ev.ReasoningDelta(1, f"hm {number} ") for number in range(100)),
    *(ev.TextDelta(1, f"{number} ") for number in range(200)),
    ev.ModelFinished(1),
    ev.ToolStarted("c", "look", {}, "a"),
    ev.ModelStarted(2, "sub", parent="c"),
    ev.TextDelta(2, "not the reply"),
    ev.ReasoningDelta(2, "not its thoughts"),
    ev.ToolFinished("c", "look", "seen", "ok", "a"),
    ev.ModelStarted(3, "a"),
    *(ev.TextDelta(3, "x") for _ in range(100)),
    ev.RunStarted("a", 1, "adopt", 2),
    ev.TextVoided(3),
    ev.ModelStarted(4, "a"),
    *(ev.TextDelta(4, "y") for _ in range(101)),
    ev.ToolStarted("d", "write", {}, "a"),
    ev.Interrupted((Approval("int-1", name="write", agent="a"),)),
    ev.TitleChanged("A title"),
    ev.SegmentEnded(),
]


def log(*events: Event) -> list[Envelope]:
    return [Envelope(seq, 1_700_000_000_000 + seq, event) for seq, event in enumerate(events, 1)]


def stream(events: list[Envelope], after: int = 0, encoder: Encoder = ENCODER) -> bytes:
    return encoded(encoder, encoder.start(1), events, after)[1]


def frames(events: list[Envelope], after: int = 0, encoder: Encoder = ENCODER) -> list[tuple[Any, str, Any]]:
    return [(id, name, data["data"]) for id, name, data in parse(stream(events, after, encoder))]


def spoken(found: list[tuple[Any, str, Any]], kind: str = "text") -> list[Any]:
    return [data for _, name, data in found if name == kind]


def test_the_frames_after_any_cursor_equal_those_of_the_unbroken_stream() -> None:
    whole, state, parts = log(*SAID), ENCODER.start(1), []
    for item in whole:
        state, frame = ENCODER.step(state, item)
        parts.append(frame)
    for after in range(len(whole) + 1):
        ended, rest = encoded(ENCODER, ENCODER.start(1), whole, after)
        assert rest == b"".join(parts[after:])
        assert ended == state


def test_a_reader_cut_after_any_frame_gets_exactly_the_others() -> None:
    """Also between the frames of one event: their ids say how many of them were seen."""
    events = log(*SAID)
    whole = frames(events)
    assert any("." in str(id) for id, _, _ in whole)
    for number, (id, _, _) in enumerate(whole[:-1]):
        event, _, seen = str(id).partition(".")
        seq = int(event) % 2**24
        after = seq - 1 if seen else seq
        assert frames(events, after, Encoder(SESSION, after + 1, int(seen or 0))) == whole[number + 1 :]
    # An id that no frame has: nothing is left out.
    assert frames(events, 10, Encoder(SESSION, 11, 9)) == frames(events, 10)


def test_each_text_so_far_equals_what_was_said() -> None:
    shown = {"text": "", "thinking": ""}
    for _, name, data in frames(log(*SAID)):
        if name not in shown:
            continue
        shown[name] += data["delta"]
        if data["delta"] == "":
            shown[name] = data["content"]
        assert data["content"] == shown[name]
    assert shown["text"] == "".join(f"{number} " for number in range(200)) + "y" * 101
    assert shown["thinking"] == "".join(f"hm {number} " for number in range(100))


def test_what_is_void_is_taken_back_and_what_sub_agents_say_is_left_out() -> None:
    found = frames(log(*SAID))
    (at,) = [number for number, (_, _, data) in enumerate(found) if data == {"status": "restart"}]
    before = "".join(f"{number} " for number in range(200))
    assert found[at - 1][2]["delta"].endswith("x")
    assert found[at + 1][2] == {"content": before, "delta": ""}
    text = stream(log(*SAID)).decode()
    assert "not the reply" not in text
    assert "not its thoughts" not in text
    switched = [(data["from"], data["to"], data["parent"]) for data in spoken(found, "agent_switch")]
    assert switched == [("a", "sub", "c"), ("sub", "a", None)]


def test_held_text_comes_before_anything_else() -> None:
    found = [name for _, name, _ in frames(log(*SAID))]
    assert found[found.index("tool_call") - 1] == "text"
    assert found[-3:] == ["interrupt", "progress", "done"]


@pytest.mark.parametrize("token", ["a", "word ", "长文", "\x01", '"\\', "\n", "x" * 50])
@pytest.mark.parametrize("count", [3_000, 100_000])
def test_a_stream_carries_at_most_twenty_times_its_text(token: str, count: int) -> None:
    said = [ev.TextDelta(1, token) for _ in range(count)]
    size = len(stream(log(*BEGUN, *said, ev.ModelFinished(1), *ENDED)))
    text = len(token.encode()) * count
    assert size <= voice.PAYS * text + voice.CREDIT + 500
    assert size <= 20 * text


def test_text_waits_for_no_more_than_a_small_part_of_the_text_before_it() -> None:
    chance = random.Random(7)
    state, _ = encoded(ENCODER, ENCODER.start(1), log(*BEGUN))
    behind = size = 0
    for number in range(5_000):
        text = "x" * chance.randrange(1, 9)
        state, frame = ENCODER.step(state, Envelope(number + 3, 0, ev.TextDelta(1, text)))
        behind, size = 0 if frame else behind + len(text), size + len(text)
        assert behind <= size / 14 + 16
        assert frame or number > 3  # the first words never wait


def test_a_text_that_is_too_long_to_be_kept_is_sent_in_pieces_only() -> None:
    piece = "x" * 100_000
    events = log(*BEGUN, *(ev.TextDelta(1, piece) for _ in range(12)), ev.TextVoided(1), *ENDED)
    *said, taken = spoken(frames(events))
    assert "".join(data["delta"] for data in said) == piece * 12
    assert "content" in said[9]
    assert "content" not in said[-1]
    assert taken == {"content": "", "delta": ""}  # what is left is known


def test_of_a_text_that_is_too_long_what_was_said_before_it_is_kept() -> None:
    long = [ev.TextDelta(2, "x" * 100_000) for _ in range(12)]
    first = [*BEGUN, ev.TextDelta(1, "before"), ev.ModelFinished(1), ev.ModelStarted(2, "a")]
    again: list[Event] = [ev.ModelStarted(3, "a"), ev.TextDelta(3, " after")]
    *_, taken, last = spoken(frames(log(*first, *long, ev.TextVoided(2), *again, *ENDED)))
    assert taken == {"content": "before", "delta": ""}
    assert last == {"content": "before after", "delta": " after"}


def test_several_texts_at_once_are_said_in_their_order() -> None:
    """The calls of a graph may speak at the same time. If one of them is void, the others stay."""
    mixed = [ev.TextDelta(number % 2 + 1, f"{number} ") for number in range(300)]
    begun = [*BEGUN, ev.ModelStarted(2, "a")]
    found = frames(log(*begun, *mixed, ev.TextVoided(2), *ENDED))
    *_, taken = spoken(found)
    assert taken["content"] == "".join(f"{number} " for number in range(0, 300, 2))


@settings(max_examples=examples(30, 500), deadline=None)
@given(st.lists(st.text(max_size=30), max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_text_is_said_exactly_however_it_is_cut(pieces: list[str], one: int, other: int) -> None:
    said = [ev.TextDelta(1, piece) for piece in pieces]
    events = log(*BEGUN, *said, ev.ModelFinished(1), *ENDED)
    found = spoken(frames(events))
    spoken_text = "".join(pieces).replace("\0", "")
    assert "".join(data["delta"] for data in found) == spoken_text
    if found:
        assert found[-1]["content"] == spoken_text
    first, second = sorted((one, other))
    state = ENCODER.start(1)
    parts = []
    for batch in (events[:first], events[first:second], events[second:]):
        state, part = encoded(ENCODER, state, batch)
        parts.append(part)
    assert b"".join(parts) == stream(events)
