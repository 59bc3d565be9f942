"""Every scenario gives exactly the expected frames in every dialect, read as a whole or after any event."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core.interrupt_state import Session
from caesura.dialects.artifactflow.encode import Encoder as Artifactflow
from caesura.dialects.native import encode as native
from caesura.dialects.superagent.encode import Encoder as Superagent
from caesura.dialects.superagent.legacy import Encoder as Legacy
from caesura.dialects.threads import encode as threads
from caesura.http.frames import Encoder, encoded
from tests.scenarios import scenario
from tests.scenarios.scenario import Scenario

SCENARIOS = scenario.load()
SESSION = Session("approval-agent", "session-123")
DIALECTS: dict[str, Encoder[Any]] = {
    "native": native,
    "threads": threads,
    "artifactflow": Artifactflow("conv-0123456789abcdefghjkmnpq", "turn-1"),
    "superagent": Superagent(SESSION),
    "superagent_legacy": Legacy(SESSION),
}
#: The frames that end a segment.
ENDS = {
    "native": {"segment_ended"},
    "threads": {"end"},
    "artifactflow": {"complete", "interrupt", "error"},
    "superagent": {"done"},
    "superagent_legacy": {"[DONE]"},
}
each = pytest.mark.parametrize(
    ("dialect", "situation"),
    list(product(DIALECTS, SCENARIOS)),
    ids=lambda item: item.name if isinstance(item, Scenario) else item,
)


def whole(dialect: str, situation: Scenario, after: int = 0) -> bytes:
    encoder = DIALECTS[dialect]
    return encoded(encoder, encoder.start(situation.ordinal, 0), situation.log, after)[1]


def frames_in(dialect: str, stream: bytes) -> list[Any]:
    return scenario.texts(stream) if dialect == "superagent_legacy" else scenario.parse(stream)


@each
def test_each_dialect_gives_the_expected_frames(dialect: str, situation: Scenario) -> None:
    assert frames_in(dialect, whole(dialect, situation)) == situation.frames[dialect]


@each
def test_a_stream_resumed_after_any_event_equals_the_unbroken_one(dialect: str, situation: Scenario) -> None:
    encoder = DIALECTS[dialect]
    state, frames = encoder.start(situation.ordinal, 0), []
    for item in situation.log:
        state, frame = encoder.step(state, item)
        frames.append(frame)
    for after in range(len(situation.log) + 1):
        assert whole(dialect, situation, after) == b"".join(frames[after:])


@each
def test_batches_may_be_cut_anywhere(dialect: str, situation: Scenario) -> None:
    encoder = DIALECTS[dialect]
    for cut in range(len(situation.log) + 1):
        state, first = encoded(encoder, encoder.start(situation.ordinal, 0), situation.log[:cut])
        assert first + encoded(encoder, state, situation.log[cut:])[1] == whole(dialect, situation)


@each
def test_the_last_frame_ends_the_segment_and_no_other_does(dialect: str, situation: Scenario) -> None:
    frames = frames_in(dialect, whole(dialect, situation))
    names = [frame if isinstance(frame, str) else frame[1] for frame in frames]
    assert [name for name in names if name in ENDS[dialect]] == names[-1:]


def test_every_event_of_the_vocabulary_is_in_some_situation() -> None:
    seen = {type(item.event) for situation in SCENARIOS for item in situation.log}
    assert seen == set(ev.Event.__args__)
