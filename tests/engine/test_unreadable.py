"""A turn whose log cannot be read: it ends, is taken up no more, and harms nobody else."""

from __future__ import annotations

from sqlalchemy import Connection, update

from caesura.core import events as ev
from caesura.store import schema
from tests.engine.world import YES, World
from tests.openai_server import Call, Say


async def test_a_turn_whose_log_cannot_be_read_fails_at_once(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Say("done"))
    said = await world.say("go")

    def spoil(connection: Connection) -> None:
        rows = schema.events.c.turn == said.turn.num
        connection.execute(update(schema.events).where(rows).values(body=b"not what was stored"))

    last = said.interrupts[0]
    await world.database.write(spoil)
    assert await world.answer(said.turn, {last.id: YES})
    segment = await world.segment(said.turn)
    assert segment.failure.code in ("internal", "codec")
    row = await world.row(said.turn)
    assert (row.status, row.owner) == ("failed", None)
    assert world.traces() == []
    assert isinstance(segment.events[-1], ev.SegmentEnded)
