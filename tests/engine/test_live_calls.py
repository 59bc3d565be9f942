"""Arguments of a tool call are seen while the model writes them. Nothing runs before they are complete."""

from __future__ import annotations

import json

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.fold import fold
from caesura.engine.run import LONGEST_DELTA
from tests.engine.test_hand_over import next_engine
from tests.engine.world import NO, YES, World
from tests.openai_server import Broken, Call, Hang, Say

DOCUMENT = {
    "id": "plan",
    "title": "计划 😀",
    "content_type": "markdown",
    "content": "# Plan\n\n" + "oak " * 40,
}
TEXT = json.dumps(DOCUMENT)
HALF = TEXT[: len(TEXT) // 2]


def written(events: list[ev.Event], index: int = 0, call: int = 1) -> str:
    deltas = (event for event in events if isinstance(event, ev.CallDelta))
    return "".join(event.text for event in deltas if (event.index, event.call) == (index, call))


async def test_a_document_is_in_the_log_piece_by_piece_before_its_call_begins(world: World) -> None:
    world.agent("tools: [create_artifact, look]")
    calls = [Call("look", {"text": "a" * 200}, "call-0"), Call("create_artifact", TEXT)]
    world.desk.script(Say("Well. ", calls=calls), Say("done"))
    said = await world.say("write")
    assert said.finished
    deltas = said.of(ev.CallDelta)
    assert [event.name for event in deltas] == ["create_artifact"] + [""] * (len(deltas) - 1)
    assert {event.index for event in deltas} == {1}
    assert len(deltas) > 5
    shown = written(said.events, 1)
    assert TEXT.startswith(shown)
    assert len(TEXT) - len(shown) < 16
    assert (await world.transcript(said.turn)).writing() == []
    await world.checked(said.turn)


async def test_half_of_a_call_is_void_after_a_crash_and_was_not_made(world: World) -> None:
    world.agent("tools: [create_artifact]")
    world.desk.script(
        Hang(calls=[Call("create_artifact", HALF)]), Say(calls=[Call("create_artifact", TEXT)]), Say("ok")
    )
    turn = await world.send("write")
    await world.until(turn, ev.CallDelta, 3)
    before = await world.transcript(turn)
    [item] = before.writing()
    assert (item.call, item.index, item.name, item.agent) == (1, 0, "create_artifact", "tester")
    assert HALF.startswith(item.text)
    assert before.messages() == []
    await world.engine.drain(0)
    next_engine(world)
    said = await world.segment(turn)
    assert said.finished
    assert said.of(ev.TextVoided) == [ev.TextVoided(1)]
    assert [event.args for event in said.of(ev.ToolStarted)] == [DOCUMENT]
    assert [event.version for event in said.of(ev.ArtifactChanged)] == [1]
    assert TEXT.startswith(written(said.events, call=2))
    await world.checked(turn)


async def test_a_model_that_breaks_off_in_a_call_is_tried_again(world: World) -> None:
    world.agent("tools: [create_artifact]")
    half = Broken([], [Call("create_artifact", HALF)])
    world.desk.script(half, half, Say(calls=[Call("create_artifact", TEXT)]), Say("ok"))
    said = await world.say("write")
    assert said.finished
    assert said.of(ev.TextVoided) == [ev.TextVoided(1), ev.TextVoided(2)]
    assert [event.args for event in said.of(ev.ToolStarted)] == [DOCUMENT]
    await world.checked(said.turn)


async def test_a_model_that_has_said_a_word_and_breaks_off_in_a_call_fails_the_turn(world: World) -> None:
    world.agent("tools: [create_artifact]")
    world.desk.script(Broken(["Well. "], [Call("create_artifact", HALF)]))
    said = await world.say("write")
    assert not said.failure.message.startswith("{")
    row = await world.checked(said.turn)
    assert [(m.content, m.tool_calls) for m in row.messages or ()] == [("Well. ", ())]
    assert fold(said.events).writing() == []


async def test_a_stop_leaves_nothing_of_half_a_call(world: World) -> None:
    world.agent("tools: [create_artifact]")
    world.desk.script(Hang(calls=[Call("create_artifact", HALF)]))
    turn = await world.send("write")
    await world.until(turn, ev.CallDelta, 3)
    assert await world.engine.stop(turn, "user")
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    assert not said.of(ev.ToolStarted)
    assert (await world.checked(turn)).messages == []
    assert (await world.transcript(turn)).writing() == []


@pytest.mark.parametrize("answer", [YES, NO], ids=["approved", "refused"])
async def test_a_file_that_was_seen_before_still_needs_approval(world: World, answer: Answer) -> None:
    world.agent("tools: [write_file]")
    call = Call("write_file", {"path": "a.txt", "content": "oak " * 40})
    world.desk.script(Say(calls=[call]), Say("ok"))
    said = await world.say("write")
    assert call.text.startswith(written(said.events))
    assert written(said.events)
    assert not said.of(ev.ToolStarted)
    assert not list(world.workspaces.rglob("a.txt"))
    done = await world.resume(said, answer)
    assert done.finished
    assert bool(list(world.workspaces.rglob("a.txt"))) is (answer is YES)


async def test_a_long_piece_is_several_events_and_the_first_has_the_name(
    world: World,
) -> None:
    world.agent("tools: [create_artifact]")
    text = json.dumps({**DOCUMENT, "content": "x" * 3 * LONGEST_DELTA})
    world.desk.script(Say(calls=[Call("create_artifact", text)], width=len(text)), Say("ok"))
    said = await world.say("write")
    deltas = said.of(ev.CallDelta)
    assert [len(event.text) <= LONGEST_DELTA for event in deltas] == [True] * 4
    assert [event.name for event in deltas] == ["create_artifact", "", "", ""]
    assert written(said.events) == text


async def test_arguments_over_the_limit_are_not_seen_any_further(world: World) -> None:
    world.agent("tools: [create_artifact]")
    text = json.dumps({**DOCUMENT, "content": "x" * 2_000_000})
    world.desk.script(Say(calls=[Call("create_artifact", text)], width=100_000), Say("ok"))
    said = await world.say("write")
    assert len(written(said.events)) <= 1024 * 1024
    [result] = said.of(ev.ToolFinished)
    assert "longer than" in result.output
