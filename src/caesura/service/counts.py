"""How many messages a conversation with a running turn shows. The log of such a turn is ahead of its row.

A list may name a hundred such conversations, and a log may be megabytes. So for a turn that runs in this
process the run is asked, and no log is read. For the others only the beginning of the log is read. Messages
that begin after that are not counted until the turn ends or asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from caesura.engine.engine import Engine
from caesura.service import pages
from caesura.service.long_reads import LongReads
from caesura.store import events
from caesura.store.database import Database
from caesura.store.turns import Underway

#: At most this many bytes of logs are read for one request, and at most this many of each log.
_BYTES, _EACH = 128 * 1024, 32 * 1024


class Counts:
    def __init__(self, database: Database, engine: Engine, long_reads: LongReads) -> None:
        self._database, self._engine, self._long_reads = database, engine, long_reads

    async def of(self, underway: Sequence[Underway]) -> dict[str, int]:
        """How many messages the branch of each turn shows, by turn id."""
        here = {turn: self._engine.shown(turn.num, turn.epoch) for turn in underway}
        counts = {turn.id: turn.above + count for turn, count in here.items() if count is not None}
        elsewhere = [turn for turn, count in here.items() if count is None]
        if elsewhere:
            logs = await self._database.read(_beginnings, elsewhere)
            counts |= await self._long_reads.run(_counted, elsewhere, logs)
        return counts


def _beginnings(connection: Connection, underway: Sequence[Underway]) -> list[list[events.Stored]]:
    each = min(_BYTES // len(underway), _EACH)
    return [events.stored(connection, turn.num, each) for turn in underway]


def _counted(underway: Sequence[Underway], logs: Sequence[list[events.Stored]]) -> dict[str, int]:
    found = zip(underway, logs, strict=True)
    return {turn.id: turn.above + pages.folded(log).shown() for turn, log in found}
