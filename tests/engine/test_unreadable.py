"""A turn whose log cannot be read, or that never begins: it fails, and is not claimed again."""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection, update

from caesura.core import events as ev
from caesura.core.turns import Turn
from caesura.store import life, schema
from tests.engine.world import PATIENCE, YES, Said, World
from tests.openai_server import Call, Say


def _spoil(connection: Connection, turn: Turn) -> None:
    rows = schema.events.c.turn == turn.num
    connection.execute(update(schema.events).where(rows).values(body=b"not what was stored"))


async def _assert_failed(world: World, said: Said) -> None:
    """The turn ends as failed, with the events that say so, and nobody owns it."""
    async with asyncio.timeout(PATIENCE):
        while (row := await world.row(said.turn)).status != "failed":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert row.owner is None
    told = await world.log.read(said.turn.num, len(said.events))
    assert [type(item.event) for item in told] == [ev.Failed, ev.SegmentEnded]


async def test_a_turn_whose_log_cannot_be_read_fails_at_once(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Say("done"))
    said = await world.say("go")
    await world.database.write(_spoil, said.turn)
    assert await world.answer(said.turn, {said.interrupts[0].id: YES})
    await _assert_failed(world, said)
    assert world.traces() == []


async def test_a_waiting_turn_with_an_unreadable_log_fails_when_it_is_adopted(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [Call("seal", {"text": "b"})]))
    said = await world.say("go")

    def spoil_and_stop(connection: Connection) -> None:
        _spoil(connection, said.turn)
        life.request_stop(connection, said.turn.num, "user")

    await world.database.write(spoil_and_stop)
    await _assert_failed(world, said)


async def test_a_turn_that_was_claimed_too_often_without_an_event_fails(world: World) -> None:
    world.agent("tools: []")
    await world.begin()

    def often(connection: Connection) -> Turn:
        turn = life.create(connection, life.New(world.conversation, "go"))
        row = schema.turns.c.num == turn.num
        connection.execute(update(schema.turns).where(row).values(epoch=1000))
        return turn

    said = await world.segment(await world.database.write(often))
    assert "given up" in said.failure.message
    assert (said.row.status, said.row.owner) == ("failed", None)
    assert not world.desk.requests
