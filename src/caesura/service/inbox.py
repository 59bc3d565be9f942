"""The inbox: the questions that wait for a person, in all conversations."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from caesura.core.stored_interrupts import StoredInterrupt
from caesura.service.long_reads import LongReads
from caesura.store import interrupts
from caesura.store.database import Database


class Inbox:
    def __init__(self, database: Database, long_reads: LongReads) -> None:
        self._database, self._long_reads = database, long_reads

    async def waiting(
        self,
        user_id: str,
        limit: int,
        after: tuple[int, str] | None,
        write: Callable[[list[StoredInterrupt], bool], bytes],
    ) -> bytes:
        """Waiting questions after the given creation time and id, oldest first; and whether there are more.
        `write` serializes them in a thread: they may be megabytes. One page per person is in memory at a
        time."""
        async with self._long_reads.of(user_id):
            found, more = await self._database.read(_waiting, user_id, limit, after or (-1, ""))
            return await self._long_reads.run(write, found, more)

    async def get(self, user_id: str, interrupt_id: str) -> StoredInterrupt:
        return await self._database.read(interrupts.get, interrupt_id, user_id)

    async def pending(self, turn: int) -> list[StoredInterrupt]:
        """The questions of this turn that wait."""
        return await self._database.read(interrupts.pending, turn)

    async def decided(self, turn: int) -> StoredInterrupt | None:
        """The question of this turn that was answered last."""
        found = await self._database.read(interrupts.of, turn)
        return next((item for item in reversed(found) if item.answer is not None), None)

    async def just_decided(self, turn: int) -> bool:
        """Whether a question of this turn was answered so recently that another decision may be the second
        click of a double click."""
        return await self._database.read(interrupts.just_answered, turn)


def _waiting(
    connection: Connection, user_id: str, limit: int, after: tuple[int, str]
) -> tuple[list[StoredInterrupt], bool]:
    found = interrupts.inbox(connection, user_id, limit, after)
    return found, bool(found) and interrupts.more_pending(connection, user_id, found[-1])
