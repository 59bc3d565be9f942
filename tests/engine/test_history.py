"""The cache of conversation histories."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from caesura.core import events as ev
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.engine import history as module
from caesura.engine.branch import Branch
from caesura.engine.history import History
from caesura.service.locks import PersonLocks
from caesura.service.presence import Presence
from caesura.service.turns import Message as Sent
from caesura.service.turns import Turns
from caesura.store import conversations, life, users
from caesura.store.database import Database
from tests.conformance.rows import settled
from tests.engine.slow_disk import SlowDisk
from tests.engine.world import PATIENCE, world_over
from tests.openai_server import Desk, Hang, Say

KB = 1024


async def test_one_person_does_not_evict_the_histories_of_others(database: Database) -> None:
    turn = await _turn(database)
    history = History(database, 400 * KB)
    bob = replace(turn, id="bob-1", user_id="bob")
    history.extend(bob, Branch(), [Message("assistant", "kept")])
    held = history.size
    for number in range(100):
        mine = replace(turn, id=f"alice-{number}")
        history.extend(mine, Branch(), [Message("assistant", "x" * 20 * KB)])
        assert history.size <= held + 100 * KB
    assert history.size > held + 60 * KB
    assert "bob-1" in history._paths
    for number in range(10):
        someone = replace(turn, id=f"c{number}", user_id=f"c{number}")
        history.extend(someone, Branch(), [Message("assistant", "x" * 80 * KB)])
        assert history.size <= 400 * KB
    for turn_id in list(history._paths):
        history.forget(turn_id)
    assert (history.size, history._of, history._sizes) == (0, {}, {})


async def test_a_history_that_nobody_uses_is_forgotten(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await _turn(database)
    history = History(database, 400 * KB)
    for name in ("first", "second"):
        history.extend(replace(turn, id=name), Branch(), [Message("assistant", "x")])
    await history.before(replace(turn, num=turn.num + 1, id="next", parent_id="first"))
    history.forget_old()
    assert list(history._paths) == ["second", "first"], "the one that was used last is the last to go"
    monkeypatch.setattr(module, "_KEPT", 0.0)
    history.forget_old()
    assert (history.size, history._of, history._sizes) == (0, {}, {})


async def test_the_model_reads_the_end_of_a_branch_that_is_too_long(database: Database) -> None:
    turn = await _turn(database)
    for number in range(8):
        turn = await database.write(_said, turn, f"{number} " + "x" * 20 * KB)
    history = History(database, 400 * KB)
    before = (await history.before(turn)).messages
    said = [message.content.split()[0] for message in before if message.role == "assistant"]
    assert said == ["4", "5", "6", "7"]
    assert history.size <= 100 * KB


async def test_a_branch_is_measured_by_the_memory_that_it_takes(database: Database) -> None:
    turn = await _turn(database)
    for number in range(8):
        turn = await database.write(_said, turn, f"{number} " + "x" * 20 * KB + "😀")
    history = History(database, 400 * KB)
    before = (await history.before(turn)).messages
    assert [message.content.split()[0] for message in before if message.role == "assistant"] == ["7"]
    assert history.size <= 100 * KB
    wide = replace(turn, id="wide")
    history.extend(wide, Branch(), [Message("assistant", "x" * 20 * KB + "😀")])
    assert history._paths["wide"].size > 80 * KB


async def test_what_the_running_turns_of_a_person_read_is_bounded_together(database: Database) -> None:
    turn = await _turn(database)
    for number in range(4):
        turn = await database.write(_said, turn, f"{number} " + "x" * 20 * KB)
    history = History(database, 400 * KB)
    running = [replace(turn, num=turn.num + number) for number in range(3)]
    whole = await history.before(running[0])
    assert len(whole.messages) == 8
    history.forget(turn.parent_id or "")  # others took its place in the cache
    short = await history.before(running[1])
    assert short.messages == whole.messages[-2:]
    assert turn.parent_id not in history._paths
    other = replace(running[2], user_id="bob")
    assert await history.before(other) == whole
    history.extend(running[1], short, [Message("assistant", "y")])
    assert running[1].id not in history._paths  # the next turn may read more
    for each in (*running, *running):
        history.release(each)
    assert (history._uses, history._used) == ({}, {})
    history.forget(turn.parent_id or "")
    assert await history.before(running[1]) == whole
    history.extend(running[1], whole, [Message("assistant", "y")])
    assert running[1].id in history._paths


async def test_turns_that_begin_together_read_no_more_than_the_share(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await _turn(database)
    for number in range(4):
        turn = await database.write(_said, turn, f"{number} " + "x" * 20 * KB)
    history = History(database, 400 * KB)
    running = [replace(turn, num=turn.num + number) for number in range(5)]
    monkeypatch.setattr(history, "_keep", lambda *_: None)  # as if others filled the cache
    read = await asyncio.gather(*(history.before(each) for each in running))
    assert sorted(len(branch.messages) for branch in read) == [2, 2, 2, 2, 8]


async def test_the_history_of_a_deleted_branch_is_empty(database: Database) -> None:
    turn = await _turn(database)
    assert (await History(database).before(replace(turn, parent_id="turn-gone"))).messages == []


async def test_a_message_after_a_retry_does_not_read_the_old_reply_while_the_disk_still_writes(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    disk = SlowDisk(database)
    async with world_over(cast(Database, disk), tmp_path, desk) as world:
        world.agent("tools: []")
        await world.begin()
        await world.database.write(conversations.set_title, world.conversation, "Mine")
        presence, locks = Presence(PATIENCE, lambda _: None), PersonLocks(wanted=False)
        service = Turns(world.database, world.engine, world.offered, presence, locks)
        desk.script(Hang(["the old answer"]), Say("the new answer"), Say("that was it"))
        turn = await world.send("hi")
        await world.until(turn, ev.TextDelta)
        world.engine.supervisor.stop(turn.num, "user")
        await world.segment(turn)
        disk.safe.clear()
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as requests:
            requests.create_task(service.retry("alice", turn.id))
            await world.until(turn, ev.Finished)
            requests.create_task(service.send("alice", world.conversation, Sent("and?")))
            while len(desk.requests) < 3:  # noqa: ASYNC110 - another thread answers them
                await asyncio.sleep(0.005)
            disk.safe.set()
        assert desk.sent(2) == [("user", "hi"), ("assistant", "the new answer"), ("user", "and?")]


async def _turn(database: Database) -> Turn:
    def create(connection: Any) -> Turn:
        users.create(connection, "alice", "hash")
        conversations.create(connection, "conv", "alice", "demo")
        return life.create(connection, life.New("conv", "hi", owner="node", lease_ms=60_000))

    return await database.write(create)


def _said(connection: Any, turn: Turn, text: str) -> Turn:
    """End the turn with this answer, and begin the next."""
    life.settle(connection, [settled(turn, "done", Message("assistant", text))])
    return life.create(connection, life.New("conv", "hi", owner="node", lease_ms=60_000))
