"""Stamps: a person's stamp changes with their password, so a token with an older stamp is invalid.

Stamps are read for every request, from the database that all processes share. A cache would still accept a
token after another process has changed the password.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from caesura.core.errors import Unavailable
from caesura.store import users
from caesura.store.database import Database

_MOST = 500


class Stamps:
    """At most one read at a time: requests that arrive during a read share the next one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = asyncio.Lock()
        self._next = _Batch()

    async def get(self, user_id: str) -> str | None:
        """The person's stamp, read after this was called; None for a person who does not exist."""
        batch = self._next
        batch.user_ids.add(user_id)
        async with self._reading:
            if batch is self._next:
                self._next = _Batch()
            if batch.found is None and batch.error is None:
                await self._read(batch)
        if batch.found is None:
            raise Unavailable from batch.error
        return batch.found.get(user_id)

    async def of(self, user_ids: Iterable[str]) -> dict[str, str]:
        """The stamps of those of these people who exist."""
        wanted = list(user_ids)
        found: dict[str, str] = {}
        for start in range(0, len(wanted), _MOST):
            found |= await self._database.read(users.stamps, wanted[start : start + _MOST])
        return found

    async def _read(self, batch: _Batch) -> None:
        try:
            batch.found = await self._database.read(users.stamps, batch.user_ids)
        except Unavailable as error:
            batch.error = error


class _Batch:
    def __init__(self) -> None:
        self.user_ids: set[str] = set()
        self.found: dict[str, str] | None = None
        self.error: Unavailable | None = None
