"""How long and how often a turn may work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from caesura.core import events as ev
from caesura.store import interrupts
from caesura.store.database import Database
from tests.conformance.rows import change_turn
from tests.engine.world import YES, World, limits, world_over
from tests.openai_server import Call, Desk, Hang, Say


@pytest_asyncio.fixture
async def hasty(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    async with world_over(database, tmp_path, desk, limits(run=2)) as world:
        yield world


async def test_a_turn_that_takes_too_long_fails_and_keeps_its_text(hasty: World) -> None:
    hasty.agent("tools: []")
    hasty.desk.script(Hang(["so ", "slow"]), Say("quick"))
    said = await hasty.say("go")
    assert (said.failure.code, said.failure.retryable) == ("timeout", True)
    assert said.failure.error_id
    row = await hasty.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["so slow"]
    assert (await hasty.say("again")).finished
    assert hasty.desk.sent() == [("user", "go"), ("assistant", "so slow"), ("user", "again")]


async def test_the_time_a_person_takes_to_answer_does_not_count(hasty: World) -> None:
    hasty.agent("tools: [seal]\nlimits: {max_seconds: 60}")
    hasty.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Say("done"))
    began = time.monotonic()
    said = await hasty.say("go")
    asked = time.monotonic()
    await asyncio.sleep(0.8)
    answered = time.monotonic()
    said = await hasty.resume(said, YES)
    assert said.finished
    worked = (asked - began) + (time.monotonic() - answered)
    assert said.row.running_ms <= worked * 1000 + 10


async def test_the_time_of_all_segments_counts_together(hasty: World) -> None:
    hasty.agent("tools: [seal]\nlimits: {max_seconds: 60}")
    hasty.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Hang(["no "]))
    first = await hasty.say("go")
    assert first.row.running_ms > 0
    await change_turn(hasty.database, first.turn, running_ms=59_800)
    said = await hasty.resume(first, YES)
    assert said.failure.code == "timeout"
    assert 60_000 <= said.row.running_ms < 70_000


async def test_a_retry_of_a_turn_that_took_too_long_has_the_full_time_again(hasty: World) -> None:
    hasty.agent("tools: []")
    hasty.desk.script(Hang(["so ", "slow"]), Say("quick"))
    said = await hasty.say("go")
    assert (await hasty.retry(said.turn)).finished


async def test_the_agents_own_time_limit_overrides_the_servers(world: World) -> None:
    world.agent("tools: []\nlimits: {max_seconds: 0.3}")
    world.desk.script(Hang(["so"]))
    said = await world.say("go")
    assert said.failure.code == "timeout"
    assert "0.3" in said.failure.message


async def test_an_agent_that_never_ends_is_stopped_at_its_step_limit(world: World) -> None:
    world.agent("tools: [look]\nlimits: {max_steps: 3}")
    world.desk.script(*(Say(f"step {n}", [Call("look", {"text": str(n)}, f"look-{n}")]) for n in range(5)))
    said = await world.say("go")
    assert (said.failure.code, said.failure.retryable) == ("steps", True)
    assert world.traces() == ["look 0", "look 1", "look 2"]
    await world.checked(said.turn)
    world.desk._script.clear()
    world.desk.script(Say("fine"))
    assert (await world.say("enough")).finished


async def test_a_retry_has_the_full_number_of_steps_and_no_more(world: World) -> None:
    world.agent("tools: [look]\nlimits: {max_steps: 3}")
    world.desk.script(*(Say(f"step {n}", [Call("look", {"text": str(n)}, f"look-{n}")]) for n in range(9)))
    said = await world.say("go")
    again = await world.retry(said.turn)
    assert again.failure.code == "steps"
    assert len(again.of(ev.ModelFinished)) == 3
    assert world.traces() == [f"look {n}" for n in range(6)]


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({"questions": 1}, "the agent asked for 2 decisions at once, and 1 may be"),
        ({"question_bytes": 1_000}, " bytes, and 1000 may be"),
    ],
)
async def test_an_agent_that_asks_too_much_at_once_fails(
    database: Database, tmp_path: Path, desk: Desk, bounds: dict[str, int], told: str
) -> None:
    async with world_over(database, tmp_path, desk, limits(**bounds)) as world:
        world.agent("tools: [seal]")
        calls = [Call("seal", {"text": name * 600}) for name in ("a", "b")]
        world.desk.script(Say("May I?", calls))
        said = await world.say("go")
        assert said.failure.code == "questions"
        assert told in said.failure.message
        assert await world.database.read(interrupts.inbox, "alice") == []


async def test_a_tool_call_that_never_ends_is_cut_off(database: Database, tmp_path: Path, desk: Desk) -> None:
    async with world_over(database, tmp_path, desk, limits(log=2_000)) as world:
        world.agent("tools: [seal]")
        world.desk.script(Say("May I?", [Call("seal", {"text": "x" * 5_000})]))
        said = await world.say("go")
        assert (said.failure.code, said.failure.retryable) == ("turn_bytes", False)
