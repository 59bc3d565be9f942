"""The inbox: what waits for a person, over all conversations."""

from __future__ import annotations

from sqlalchemy import Connection

from caesura.core.interrupts import Asked
from caesura.store import interrupts
from caesura.store.database import Database


class Inbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(
        self, user_id: str, limit: int, after: tuple[int, str] | None = None
    ) -> tuple[list[Asked], bool]:
        """Oldest first, those behind the one that was made then and has that id; and whether there are more
        behind them."""
        return await self._database.read(_waiting, user_id, limit, after or (-1, ""))

    async def get(self, user_id: str, interrupt_id: str) -> Asked:
        return await self._database.read(interrupts.get, interrupt_id, user_id)

    async def pending(self, turn: int) -> list[Asked]:
        """What of this turn waits."""
        return await self._database.read(interrupts.pending, turn)

    async def decided(self, turn: int) -> Asked | None:
        """What of this turn was answered last."""
        asked = await self._database.read(interrupts.of, turn)
        return next((item for item in reversed(asked) if item.answer is not None), None)

    async def just_decided(self, turn: int) -> bool:
        """Whether something of this turn was answered so shortly ago that another decision may be the second
        half of a double click."""
        return await self._database.read(interrupts.just_answered, turn)


def _waiting(
    connection: Connection, user_id: str, limit: int, after: tuple[int, str]
) -> tuple[list[Asked], bool]:
    found = interrupts.inbox(connection, user_id, limit, after)
    return found, bool(found) and interrupts.waits_behind(connection, user_id, found[-1])
