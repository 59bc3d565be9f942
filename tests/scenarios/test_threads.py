"""API A: every situation gives exactly these frames, read whole or from any event on."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.dialects.threads import encode
from tests.scenarios import scenario
from tests.scenarios.scenario import Scenario

SCENARIOS = scenario.load()
each = pytest.mark.parametrize("situation", SCENARIOS, ids=lambda item: item.name)


def whole(situation: Scenario, after: int = 0) -> bytes:
    return encode.encode(encode.State(situation.ordinal), situation.log, after)[1]


@each
def test_the_frames_are_these(situation: Scenario) -> None:
    assert scenario.parse(whole(situation)) == situation.frames["threads"]


@each
def test_a_stream_read_on_from_any_event_equals_the_unbroken_one(situation: Scenario) -> None:
    everything = scenario.parse(whole(situation))
    for after in range(len(situation.log) + 1):
        rest = [frame for frame in everything if frame[0] & 0xFFFFFFFF > after]
        assert scenario.parse(whole(situation, after)) == rest


@each
def test_batches_may_be_cut_anywhere(situation: Scenario) -> None:
    for cut in range(len(situation.log) + 1):
        state, first = encode.encode(encode.State(situation.ordinal), situation.log[:cut])
        assert first + encode.encode(state, situation.log[cut:])[1] == whole(situation)


@each
def test_there_is_exactly_one_end_and_it_is_last(situation: Scenario) -> None:
    names = [frame[1] for frame in scenario.parse(whole(situation))]
    assert names.count("end") == 1
    assert names[-1] == "end"


def test_every_event_of_the_vocabulary_is_in_some_situation() -> None:
    seen = {type(item.event) for situation in SCENARIOS for item in situation.log}
    not_yet: set[type] = {ev.ArtifactChanged}
    assert seen | not_yet == set(ev.Event.__args__)
