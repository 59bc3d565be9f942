"""Stopping a turn: its text and results are kept, and every provider accepts the remaining history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core.errors import NothingPending
from caesura.core.turns import Turn
from caesura.engine.agent import Compiled
from caesura.engine.versions import Versions
from caesura.store import life
from tests.engine.world import NO, PATIENCE, YES, World, roles
from tests.openai_server import Call, Hang, Say

SEAL = Call("seal", {"text": "b"}, "seal-1")


async def test_a_tool_that_ignores_its_cancellation_does_not_keep_its_run_alive(world: World) -> None:
    world.agent("tools: [stubborn]")
    world.desk.script(Say("working", (Call("stubborn", {"text": "x"}),)), Say("on and on"))
    turn = await world.send("go")
    await world.until(turn, ev.ToolStarted)
    while not world.traces():  # noqa: ASYNC110 - what the tool leaves is a file
        await asyncio.sleep(0.01)
    assert world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    await world.checked(turn)


async def test_a_stop_in_the_middle_of_a_text_keeps_it_in_the_history(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["Once ", "upon"]), Say("yes"))
    turn = await world.send("tell")
    await world.until(turn, ev.TextDelta, 2)
    assert world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    row = await world.checked(turn)
    assert row.status == "stopped"
    assert [(m.content, m.cut) for m in row.messages or ()] == [("Once upon", True)]
    assert (await world.say("go on")).finished
    assert world.desk.sent() == [("user", "tell"), ("assistant", "Once upon"), ("user", "go on")]


async def test_a_stop_inside_a_tool_makes_its_outcome_unknown(world: World) -> None:
    world.agent("tools: [note, wait]")
    calls = [Call("note", {"text": "a"}, "note-1"), Call("wait", {"text": "b"}, "wait-1")]
    world.desk.script(Say("both", calls), Say("I see"))
    turn = await world.send("go")
    await world.until(turn, ev.ToolFinished)
    await world.until(turn, ev.ToolStarted, 2)
    assert world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    row = await world.checked(turn)
    assert [(m.name, m.status) for m in row.messages or () if m.role == "tool"] == [
        ("note", "ok"),
        ("wait", "unknown"),
    ]
    assert (await world.say("what now")).finished
    sent = world.desk.sent()
    assert sent[2] == ("tool", "noted a")
    assert "may or may not" in sent[3][1]


async def test_a_stop_before_a_tool_call_marks_the_call_as_not_done(world: World) -> None:
    world.agent("tools: [note, seal]")
    calls = [Call("note", {"text": "a"}, "note-1"), SEAL]
    world.desk.script(Say("both", calls), Say("I see"))
    said = await world.say("go")
    assert said.interrupts
    await stop_waiting(world, said.turn, "user")
    row = await world.checked(said.turn)
    assert [(m.name, m.status) for m in row.messages or () if m.role == "tool"] == [
        ("note", "ok"),
        ("seal", "not_done"),
    ]
    assert (await world.say("what now")).finished
    assert world.traces() == ["note a"]


async def test_an_approval_from_before_a_stop_does_not_count_for_a_retry(world: World) -> None:
    world.agent("tools: [seal]")
    other = Call("seal", {"text": "c"}, "seal-2")
    world.desk.script(Say("both", [SEAL, other]), Say("done"))
    said = await world.say("go")
    first, _ = said.interrupts
    assert not await world.answer(said.turn, {first.id: YES})
    await stop_waiting(world, said.turn, "user")
    again = await world.retry(said.turn)
    assert [item.tool_call_id for item in again.interrupts] == ["seal-1", "seal-2"]
    assert world.traces() == []
    assert (await world.resume(again, YES, NO)).finished
    assert world.traces() == ["seal b"]


async def test_a_stop_revokes_the_approval_of_a_repeatable_tool_that_was_running(world: World) -> None:
    world.agent("tools: [ponder]")
    world.desk.script(Say("", [Call("ponder", {"text": "b"}, "ponder-1")]), Say("well"))
    said = await world.say("go")
    assert await world.answer(said.turn, {said.interrupts[0].id: YES})
    await world.until(said.turn, ev.ToolStarted)
    await _traced(world)
    assert world.engine.supervisor.stop(said.turn.num, "user")
    assert (await world.segment(said.turn)).outcome == ev.Stopped("user")
    again = await world.retry(said.turn)
    assert [item.tool_call_id for item in again.interrupts] == ["ponder-1"]
    assert world.traces() == ["ponder b"]
    assert (await world.resume(again, NO)).finished
    assert world.traces() == ["ponder b"]


async def _traced(world: World) -> None:
    async with asyncio.timeout(PATIENCE):
        while not world.traces():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def stop_waiting(world: World, turn: Turn, reason: ev.StopReason) -> list[ev.Event]:
    closed = await world.close(turn, reason)
    assert closed.of(ev.RunStarted)[0].cause == "close"
    return closed.events


@pytest.mark.parametrize(("reason", "outcome"), [("superseded", "superseded"), ("user", "cancelled")])
async def test_a_stop_of_a_waiting_turn_closes_its_question(
    world: World, reason: ev.StopReason, outcome: str
) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("another thing"))
    said = await world.say("go")
    (item,) = said.interrupts
    events = await stop_waiting(world, said.turn, reason)
    assert [event for event in events if isinstance(event, ev.InterruptClosed)] == [
        ev.InterruptClosed(item.id, outcome)  # type: ignore[arg-type]
    ]
    assert [event.reason for event in events if isinstance(event, ev.Stopped)] == [reason]
    with pytest.raises(NothingPending):
        await world.answer(said.turn, {item.id: YES})
    assert (await world.say("something else")).finished
    assert world.traces() == []
    assert world.desk.sent()[2][0] == "tool"


async def test_the_owner_finds_a_stop_that_was_only_requested_in_the_row(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["Once"]))
    turn = await world.send("tell")
    await world.until(turn, ev.TextDelta)
    assert await world.database.write(life.request_stop, turn.num, "disconnect")
    assert (await world.segment(turn)).outcome == ev.Stopped("disconnect")


async def test_after_a_stop_at_any_moment_the_row_and_the_log_agree(world: World) -> None:
    world.agent("tools: [note]")
    calls = [Call("note", {"text": str(number)}, f"note-{number}") for number in range(3)]
    for moment in range(12):
        world.desk._script.clear()
        world.desk.script(Say(["one ", "two ", "three"], calls), Say(["four ", "five"]), Say("next"))
        await world.begin()
        turn = await world.send("go")
        await asyncio.sleep(moment * 0.008)
        world.engine.supervisor.stop(turn.num, "user")
        said = await world.segment(turn)
        assert isinstance(said.outcome, ev.Stopped | ev.Finished)
        await world.checked(turn)
        world.desk._script.clear()
        # A request that was being sent when the turn was stopped may still use one reply.
        world.desk.script(Say("next"), Say("next"))
        assert (await world.say("and now?")).finished


async def test_a_turn_that_was_stopped_before_it_began_has_no_text(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.agent("tools: []")
    stopped = asyncio.Event()
    found = Versions.of

    async def late(*args: Any) -> Compiled:
        await stopped.wait()
        return await found(*args)

    monkeypatch.setattr(Versions, "of", late)
    turn = await world.send("go")
    assert world.engine.supervisor.stop(turn.num, "user")
    stopped.set()
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    row = await world.checked(turn)
    assert row.messages == []
    world.desk.script(Say("hello"))
    assert (await world.say("again")).finished
    assert world.desk.sent() == [("user", "go"), ("user", "again")]


async def test_a_stop_after_the_last_word_does_not_delay_the_end(world: World) -> None:
    world.agent("tools: []")
    world.desk.title = Hang()
    world.desk.script(Say("hello"))
    turn = await world.send("go")
    await world.until(turn, ev.Finished)
    world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert said.finished
    await world.checked(turn)


async def test_a_stop_keeps_the_text_of_a_sub_agent(world: World) -> None:
    world.agent("tools: []", name="helper", model="openai:helper")
    world.agent("tools: []\nsub_agents: [{ref: helper, description: Helps}]")
    world.desk.script(Say("I ask", [Call("helper", {"task": "help"}, "help-1")]), Say("so"))
    world.desk.script(Hang(["I am ", "helping"]), model="helper")
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta, 3)
    world.engine.supervisor.stop(turn.num, "user")
    await world.segment(turn)
    row = await world.checked(turn)
    inner = [m for m in row.messages or () if m.parent == "help-1"]
    assert [(m.content, m.agent, m.cut) for m in inner] == [("I am helping", "helper", True)]
    assert roles([m for m in row.messages or () if m.parent is None]) == ["assistant", "tool"]
    assert (await world.say("what now")).finished
