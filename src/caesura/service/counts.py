"""How many messages conversations show whose turns run: their rows are behind their logs.

A list may name a hundred of them, and a log may be megabytes. So no log is read of a turn that runs here: its
run knows. Of the others only the beginning is read, and what begins to be said behind that is not counted
until the turn ends or asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from caesura.agents.aside import Aside
from caesura.engine.engine import Engine
from caesura.service import pages
from caesura.store import events
from caesura.store.database import Database
from caesura.store.turns import Underway

#: Bytes of logs that are read for one request, at the most, and of each log if there are few.
_BYTES, _EACH = 128 * 1024, 32 * 1024


class Counts:
    def __init__(self, database: Database, engine: Engine, aside: Aside) -> None:
        self._database, self._engine, self._aside = database, engine, aside

    async def of(self, underway: Sequence[Underway]) -> dict[str, int]:
        """By the id of the turn: how many messages its branch shows."""
        here = {turn: self._engine.shown(turn.num, turn.epoch) for turn in underway}
        counts = {turn.id: turn.above + count for turn, count in here.items() if count is not None}
        elsewhere = [turn for turn, count in here.items() if count is None]
        if elsewhere:
            logs = await self._database.read(_beginnings, elsewhere)
            counts |= await self._aside.run(_counted, elsewhere, logs)
        return counts


def _beginnings(connection: Connection, underway: Sequence[Underway]) -> list[list[events.Stored]]:
    each = min(_BYTES // len(underway), _EACH)
    return [events.stored(connection, turn.num, each) for turn in underway]


def _counted(underway: Sequence[Underway], logs: Sequence[list[events.Stored]]) -> dict[str, int]:
    found = zip(underway, logs, strict=True)
    return {turn.id: turn.above + pages.folded(log).shown() for turn, log in found}
