"""The inbox: the questions that wait for a person, in all conversations."""

from __future__ import annotations

from sqlalchemy import Connection

from caesura.core.stored_interrupts import StoredInterrupt
from caesura.store import interrupts
from caesura.store.database import Database


class Inbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(
        self, user_id: str, limit: int, after: tuple[int, str] | None = None
    ) -> tuple[list[StoredInterrupt], bool]:
        """Waiting questions after the given creation time and id, oldest first; and whether there are
        more."""
        return await self._database.read(_waiting, user_id, limit, after or (-1, ""))

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
