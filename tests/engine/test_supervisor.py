"""A node keeps renewing its leases and looking for work, even if one step raises an exception."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, update

from caesura.core import events as ev
from caesura.core import ids
from caesura.core.turns import Turn
from caesura.store import conversations, life, schema
from tests.engine.world import PATIENCE, World
from tests.openai_server import Hang, Say
from tests.waiting import until


async def test_a_claim_that_was_lost_before_its_run_began_does_not_end_the_run_of_the_next(
    world: World,
) -> None:
    turn = await _running(world)
    world.engine.supervisor.run(replace(turn, epoch=turn.epoch - 1))
    assert world.engine.supervisor.works_on(turn)
    assert await world.engine.stop(turn, "user")
    assert (await world.checked(turn)).status == "stopped"


async def test_a_process_that_slept_beyond_its_lease_does_not_take_its_own_turn(world: World) -> None:
    turn = await _running(world)

    def sleep(connection: Connection) -> Turn:
        _run_out(connection, turn)
        return _queue(connection)

    other = await world.database.write(sleep)
    world.engine.supervisor.nudge()
    assert (await world.segment(other)).finished  # so the turn beside it was looked at too
    assert (await world.row(turn)).epoch == 1
    assert world.engine.supervisor.works_on(turn)


async def test_a_failed_search_for_work_is_repeated(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await _running(world)
    failures = _fail_first(monkeypatch, "claim_some")
    other = await world.database.write(_queue)
    assert (await world.segment(other)).finished
    assert failures == [0, 1]
    assert world.engine.supervisor.alive


async def test_leases_are_renewed_after_a_failed_renewal(
    hasty: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await _running(hasty)
    failures = _fail_first(monkeypatch, "renew")
    await until(lambda: failures == [0, 1])
    await hasty.database.write(_run_out, turn)
    await _renewed(hasty, turn)
    assert hasty.engine.supervisor.alive


async def test_leases_are_renewed_while_a_drain_waits_for_the_last_run(hasty: World) -> None:
    turn = await _running(hasty)
    supervisor = hasty.engine.supervisor
    draining = asyncio.create_task(supervisor.drain(PATIENCE))
    await until(lambda: supervisor.draining)
    await hasty.database.write(_run_out, turn)
    await _renewed(hasty, turn)
    assert supervisor.stop(turn.num, "user")
    await draining
    assert (await hasty.checked(turn)).epoch == 1


async def _running(world: World) -> Turn:
    """A turn that runs until somebody stops it, and an agent `other` that replies at once."""
    world.agent("tools: []")
    world.agent("tools: []", name="other", model="openai:other")
    world.desk.script(Say("here"), model="other")
    world.desk.script(Hang(["half "]))
    await world.begin()
    await world.database.write(conversations.set_title, world.conversation, "Mine")
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta)
    return turn


def _queue(connection: Connection) -> Turn:
    conversation = conversations.create(connection, ids.conversation(), "alice", "other")
    conversations.set_title(connection, conversation.id, "Mine")
    return life.create(connection, life.New(conversation.id, "hi"))


def _run_out(connection: Connection, turn: Turn) -> None:
    """Expire the turn's lease."""
    row = schema.turns.c.num == turn.num
    connection.execute(update(schema.turns).where(row).values(lease_until=0))


async def _renewed(world: World, turn: Turn) -> None:
    async with asyncio.timeout(PATIENCE):
        while not (await world.row(turn)).lease_until:  # noqa: ASYNC110 - another thread renews it
            await asyncio.sleep(0.01)


def _fail_first(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    """Let the next call fail with an unexpected exception. The list has how often to fail, and how often it
    did."""
    genuine, counts = getattr(life, name), [1, 0]

    def step(connection: Connection, *values: Any) -> Any:
        if counts[0]:
            counts[:] = 0, counts[1] + 1
            raise RuntimeError("a fault of ours")
        return genuine(connection, *values)

    monkeypatch.setattr(life, name, step)
    return counts
