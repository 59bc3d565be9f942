"""Turns that change their owner: drained, left by a dead owner, taken from a stalled one."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Connection, select, update

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import Unavailable
from caesura.core.interrupts import Approval
from caesura.engine.engine import Engine
from caesura.engine.heart import Heart
from caesura.store import life, schema, tool_calls
from caesura.store.database import Database
from tests.engine.slow_disk import SlowDisk
from tests.engine.world import NO, PATIENCE, YES, World, world_over
from tests.openai_server import Call, Desk, Hang, Held, Say

SEAL = Call("seal", {"text": "b"}, "seal-1")


def next_engine(world: World) -> Engine:
    world.engine = world.new_engine()
    world.engine.start()
    return world.engine


async def test_a_drained_engine_releases_turns_after_a_step_and_the_next_continues(world: World) -> None:
    world.agent("tools: [look]")
    world.desk.script(Say(["one ", "two ", "three"], [Call("look", {"text": "a"})], pause=0.05), Say("done"))
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta)
    await world.engine.drain(5)
    row = await world.row(turn)
    assert (row.status, row.owner) == ("queued", None)
    before = await world.transcript(turn)
    assert [m.content for m in before.finished[:1]] == ["one two three"]
    next_engine(world)
    said = await world.segment(turn)
    assert said.finished
    assert not said.of(ev.TextVoided)
    assert [event.cause for event in said.of(ev.RunStarted)] == ["start", "adopt"]
    assert world.traces() == ["look a"]
    assert len(world.desk.requests) == 2
    await world.checked(turn)


async def test_a_drain_without_grace_cancels_the_run_and_its_text_is_void(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["half "]), Say("whole"))
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta)
    await world.engine.drain(0)
    assert (await world.row(turn)).status == "queued"
    next_engine(world)
    said = await world.segment(turn)
    assert said.of(ev.TextVoided) == [ev.TextVoided(1)]
    assert said.finished
    row = await world.checked(turn)
    assert [m.content for m in row.messages or ()] == ["whole"]


async def test_the_person_is_asked_about_a_tool_that_a_drain_cancelled(world: World) -> None:
    world.agent("tools: [wait]")
    world.desk.script(Say("waiting", [Call("wait", {"text": "a"}, "wait-1")]), Say("well"))
    turn = await world.send("go")
    await world.until(turn, ev.ToolStarted)
    async with asyncio.timeout(PATIENCE):
        while not world.traces():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await world.engine.drain(0)
    next_engine(world)
    said = await world.segment(turn)
    (item,) = said.waiting(Approval)
    assert item.unknown
    assert item.tool_call_id == "wait-1"
    said = await world.resume(said, NO)
    assert said.finished
    assert said.results()[0][2] == "unknown"
    assert world.traces() == ["wait a"]
    await world.checked(turn)


async def test_an_ended_turn_is_not_started_again_by_a_drain(world: World) -> None:
    world.agent("tools: []")
    world.desk.title = Hang()
    world.desk.script(Say("hello"))
    turn = await world.send("go")
    await world.until(turn, ev.Finished)
    await world.engine.drain(0)
    assert (await world.row(turn)).status == "done"
    next_engine(world)
    await world.segment(turn)
    await world.checked(turn)
    assert len(world.desk.requests) == 1


@pytest.mark.parametrize("ended", [False, True])
async def test_a_turn_that_was_handed_over_can_be_claimed_before_its_lease_ends(
    database: Database, tmp_path: Path, desk: Desk, ended: bool
) -> None:
    """Also a turn that has only its last event to write: its stream would stay open until the lease ends."""
    async with world_over(database, tmp_path, desk, lease=600) as world:
        world.agent("tools: []")
        desk.title = Hang()
        desk.script(Say("hello") if ended else Hang(["half "]))
        turn = await world.send("go")
        await world.until(turn, ev.Finished if ended else ev.TextDelta)
        await world.engine.drain(0)
        claimed = await database.write(life.claim_some, "another", 600_000, 10)
        assert [item.num for item in claimed] == [turn.num]


async def test_a_waiting_turn_survives_a_drain_and_is_answered_elsewhere(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("done"))
    said = await world.say("go")
    await world.engine.drain()
    next_engine(world)
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["seal b"]


def dead(connection: Connection) -> None:
    """Expire all leases."""
    connection.execute(update(schema.turns).values(lease_until=0))


async def leave(world: World) -> None:
    """The engine vanishes: its runs are cut off and their turns are not released."""
    supervisor = world.engine.supervisor
    jobs = list(supervisor._jobs.values())
    for job in jobs:
        job.task.cancel()
    if jobs:
        await asyncio.wait([job.task for job in jobs])
    await world.engine.drain(0)


async def test_turns_of_a_dead_owner_are_adopted_at_the_start(world: World) -> None:
    world.agent("tools: [note]")
    world.desk.script(Say("I note", [Call("note", {"text": "a"})]), Hang(["and "]), Say("done"))
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta, 2)
    await leave(world)
    assert (await world.row(turn)).owner is not None
    await world.database.write(dead)
    next_engine(world)
    said = await world.segment(turn)
    assert said.finished
    assert world.traces() == ["note a"]
    row = await world.checked(turn)
    assert [m.content for m in row.messages or ()] == ["I note", "noted a", "done"]
    assert [role for role, _ in world.desk.sent()] == ["user", "assistant", "tool"]


async def test_turns_of_a_dead_owner_are_adopted_while_running(hasty: World) -> None:
    hasty.agent("tools: []")
    hasty.desk.script(Hang(["half "]), Say("whole"))
    turn = await hasty.send("go")
    await hasty.until(turn, ev.TextDelta)
    other = hasty.new_engine()
    other.start()
    await leave(hasty)
    hasty.engine = other
    said = await hasty.segment(turn)
    assert said.finished
    row = await hasty.checked(turn)
    assert [m.content for m in row.messages or ()] == ["whole"]


async def test_a_turn_that_was_left_without_storage_goes_on_before_its_lease_ends(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    async with world_over(database, tmp_path, desk, lease=10 * PATIENCE) as world:
        world.agent("tools: []")
        held = Held("half", Say(" and half"))
        desk.script(held, Say("whole"))
        turn = await world.send("go")
        await world.until(turn, ev.TextDelta)
        world.engine.runner._runs[turn.num].stream.fail(Unavailable())
        held.go_on.set()
        assert (await world.segment(turn)).finished
        assert [message.content for message in (await world.checked(turn)).messages or ()] == ["whole"]


async def test_a_claim_that_is_not_durable_is_not_run(database: Database, tmp_path: Path, desk: Desk) -> None:
    disk = SlowDisk(database)
    async with world_over(cast(Database, disk), tmp_path, desk, lease=1.2) as world:
        world.agent("tools: []")
        desk.script(Say("done"))
        await world.begin()
        disk.broken = True
        turn = await database.write(life.create, life.New(world.conversation, "go"))
        async with asyncio.timeout(PATIENCE):
            while (await world.row(turn)).epoch == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert world.engine.supervisor.count == 0
        assert await world.log.read(turn.num) == []
        disk.broken = False
        said = await world.segment(turn)
        assert said.finished
        assert [event.epoch > 1 for event in said.of(ev.RunStarted)] == [True]


async def test_a_crashed_turn_with_a_requested_stop_keeps_its_text(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["Once ", "upon"]), Say("next"))
    turn = await world.send("tell")
    await world.until(turn, ev.TextDelta, 2)
    await leave(world)
    await world.database.write(life.request_stop, turn.num, "user")
    await world.database.write(dead)
    next_engine(world)
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    assert not said.of(ev.TextVoided)
    row = await world.checked(turn)
    assert [(m.content, m.cut) for m in row.messages or ()] == [("Once upon", True)]
    assert (await world.say("go on")).finished
    assert world.desk.sent() == [("user", "tell"), ("assistant", "Once upon"), ("user", "go on")]


async def test_words_are_kept_until_another_attempt_begins_a_reply(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["Once ", "upon"]), Hang([]), Hang([]), Say("whole"))
    turn = await world.send("tell")
    await world.until(turn, ev.TextDelta, 2)
    for asked in (2, 3):
        await leave(world)
        await world.database.write(dead)
        next_engine(world)
        async with asyncio.timeout(PATIENCE):
            while len(world.desk.requests) < asked:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
    assert world.engine.supervisor.stop(turn.num, "user")
    said = await world.segment(turn)
    assert said.outcome == ev.Stopped("user")
    row = await world.checked(turn)
    assert [(m.content, m.cut) for m in row.messages or ()] == [("Once upon", True)]
    again = await world.retry(turn)
    assert again.of(ev.TextVoided) == [ev.TextVoided(1)]
    row = await world.checked(turn)
    assert [(m.content, m.cut) for m in row.messages or ()] == [("whole", False)]


async def rows(world: World) -> dict[str, list[Any]]:
    def everything(connection: Connection) -> dict[str, list[Any]]:
        found = {}
        for table in schema.metadata.sorted_tables:
            found[table.name] = [
                tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))
            ]
        return found

    return await world.database.read(everything)


@pytest.mark.parametrize("where", ["text", "tool"])
async def test_a_stalled_owner_writes_no_row_when_it_resumes(hasty: World, where: str) -> None:
    """Two engines in one process: the heartbeat of the first is blocked until the second is done."""
    hasty.agent("tools: [wait]")
    first = Hang(["half "]) if where == "text" else Say("I wait", [Call("wait", {"text": "a"}, "wait-1")])
    hasty.desk.script(first, Say("whole"))
    stalled, beating = hasty.engine, threading.Event()
    database = _Stalling(hasty.database, beating)
    stalled.supervisor._database = stalled.supervisor._heart._database = database
    assert stalled.supervisor._adopting is not None
    stalled.supervisor._adopting.cancel()
    other = hasty.new_engine()
    turn = await hasty.send("go")
    await hasty.until(turn, ev.TextDelta if where == "text" else ev.ToolStarted)
    other.start()
    hasty.engine = other
    said = await hasty.segment(turn)
    if where == "tool":
        said = await hasty.resume(said, NO)
    assert said.finished
    await other.supervisor.join(turn.num)
    before = await rows(hasty)
    beating.set()
    async with asyncio.timeout(PATIENCE):
        while stalled.supervisor.count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert await rows(hasty) == before
    await hasty.checked(turn)
    await stalled.drain(0)


class _Stalling:
    """The same database, whose blocking writes wait until they are released."""

    def __init__(self, database: Database, beating: threading.Event) -> None:
        self._database, self._beating = database, beating

    def write_now(self, *args: Any, **kwargs: Any) -> Any:
        self._beating.wait()
        return self._database.write_now(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class _Pauses:
    """Records the pause before each heartbeat, and lets a given number of heartbeats happen at once."""

    def __init__(self, beats: int) -> None:
        self.seen: list[float] = []
        self._beats = beats

    def wait(self, pause: float, _: object) -> bool:
        self.seen.append(pause)
        return len(self.seen) > self._beats


class _Refusing:
    """The same database, which refuses the first blocking writes."""

    def __init__(self, database: Database, refusals: int) -> None:
        self._database, self._refusals = database, refusals

    def write_now(self, *args: Any, **kwargs: Any) -> Any:
        self._refusals -= 1
        if self._refusals >= 0:
            raise Unavailable
        return self._database.write_now(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


async def test_leases_that_could_not_be_renewed_are_renewed_soon(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["one "]))
    await world.send("go")
    supervisor, pauses = world.engine.supervisor, _Pauses(4)
    refusing = cast(Database, _Refusing(world.database, 2))
    heart = Heart(refusing, supervisor.owner, 30_000, supervisor._jobs, _ignored, _ignored)
    monkeypatch.setattr(heart, "_rest", pauses.wait)
    await asyncio.to_thread(heart._beat, asyncio.get_running_loop())
    assert pauses.seen[0] == pauses.seen[3] == 10
    assert pauses.seen[1] == pauses.seen[2] < 5


def _ignored(*_: object) -> None:
    pass


async def test_a_call_that_is_made_again_has_the_arguments_a_person_gave_it(world: World) -> None:
    """Simulates a crash between the beginning of an edited call and its result."""
    world.agent("tools: [look]\npermissions: {look: confirm}")
    world.desk.script(Say("May I?", [Call("look", {"text": "theirs"}, "look-1")]), Say("done"))
    said = await world.say("go")
    await world.database.write(tool_calls.begin, said.turn.num, "look-1", "look", {"text": "mine"})
    said = await world.resume(said, Answer("edit", args={"text": "mine"}))
    assert said.finished
    assert world.traces() == ["look mine"]


async def test_an_unknown_call_is_shown_with_the_arguments_a_person_gave_it(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]), Say("done"))
    said = await world.say("go")
    await world.database.write(tool_calls.begin, said.turn.num, "seal-1", "seal", {"text": "mine"})
    said = await world.resume(said, Answer("edit", args={"text": "mine"}))
    (item,) = said.waiting(Approval)
    assert item.unknown
    assert item.args == {"text": "mine"}
    assert item.description == (
        "(The server stopped meanwhile: it may already be done. Run it again?) "
        'Using tool: seal {"text":"mine"}'
    )
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["seal mine"]
