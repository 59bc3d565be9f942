"""The frames of the native API."""

import json
import time
from collections.abc import Callable
from dataclasses import fields
from typing import get_args

import orjson
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import cursors
from caesura.core import events as ev
from caesura.dialects.native import encode
from caesura.http.frames import encoded
from tests.core.strategies import events

AT = 1_700_000_000_000


def decoded(frame: bytes) -> tuple[int, str, dict[str, object]]:
    assert frame.endswith(b"\n\n")
    id, name, data = frame[:-2].split(b"\n")
    return int(id.removeprefix(b"id: ")), name.removeprefix(b"event: ").decode(), orjson.loads(data[6:])


def test_a_frame_has_the_name_of_its_event() -> None:
    assert encode.NAMES[ev.TextDelta] == "text_delta"
    assert encode.NAMES[ev.RunStarted] == "run_started"
    assert len(set(encode.NAMES.values())) == len(get_args(ev.Event))


@given(events("hostile"))
def test_a_frame_is_three_lines_with_all_fields(event: ev.Event) -> None:
    id, name, data = decoded(encode.step(encode.start(1), ev.Envelope(5, AT, event))[1])
    assert (cursors.seq(id), name) == (5, encode.NAMES[type(event)])
    untimed = isinstance(event, ev.TextDelta | ev.ReasoningDelta | ev.CallDelta)
    timed = set() if untimed else {"at"}
    # What a provider wants back is between it and the server, and the tasks of a graph are the graph's.
    assert set(data) == {field.name for field in fields(event)} - {"kept", "tasks"} | timed


@given(st.lists(events("hostile"), max_size=20), st.data())
def test_a_stream_resumed_at_any_cursor_equals_the_unbroken_one(
    made: list[ev.Event], data: st.DataObject
) -> None:
    log = [ev.Envelope(seq, AT + seq, event) for seq, event in enumerate(made, 1)]
    cut = data.draw(st.integers(0, len(log)))
    state, first = encoded(encode, encode.start(1), log[:cut])
    end, second = encoded(encode, state, log[cut:])
    assert (end, first + second) == encoded(encode, encode.start(1), log)


def test_a_token_costs_less_than_its_json_would() -> None:
    batch = [ev.Envelope(seq, AT, ev.TextDelta(1, "hello ")) for seq in range(1, 257)]
    data = [{"call": 1, "text": "hello "}] * len(batch)
    ours = _best(lambda: encoded(encode, 0, batch))
    assert ours < _best(lambda: [json.dumps(item) for item in data])
    assert len(encoded(encode, 0, batch)[1]) / len(batch) <= 64


def _best(work: Callable[[], object]) -> float:
    def took() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return min(took() for _ in range(50))
