"""Stamps: a person's stamp changes with their password, and when they log out everywhere. A token with an
older stamp is invalid. So is a session that was ended.

Both are read for every request, from the database that all processes share. A cache would still accept a
token after another process has changed the password.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import NamedTuple

from sqlalchemy import Connection

from caesura.core.errors import Unavailable
from caesura.store import sessions, users
from caesura.store.database import Database, brief

_MOST = 500


class _Found(NamedTuple):
    stamps: dict[str, str]
    ended: set[str]


class Stamps:
    """At most one read at a time: requests that arrive during a read share the next one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = asyncio.Lock()
        self._next = _Batch()

    async def get(self, user_id: str, session: str = "") -> str | None:
        """The person's stamp, read after this was called. None for a person who does not exist, or if this
        session was ended."""
        batch = self._next
        batch.user_ids.add(user_id)
        if session:
            batch.sessions.add(session)
        async with self._reading:
            if batch is self._next:
                self._next = _Batch()
            if batch.found is None and batch.error is None:
                await self._read(batch)
        if batch.found is None:
            raise Unavailable from batch.error
        return None if session in batch.found.ended else batch.found.stamps.get(user_id)

    async def of(self, user_ids: Iterable[str]) -> dict[str, str]:
        """The stamps of those of these people who exist."""
        wanted = list(user_ids)
        found: dict[str, str] = {}
        for start in range(0, len(wanted), _MOST):
            found |= await self._database.read(users.stamps, wanted[start : start + _MOST])
        return found

    async def ended(self, names: Iterable[str]) -> set[str]:
        """Those of these sessions that were ended."""
        wanted = list(names)
        found: set[str] = set()
        for start in range(0, len(wanted), _MOST):
            found |= await self._database.read(sessions.ended, wanted[start : start + _MOST])
        return found

    async def end(self, user_id: str, session: str, until: int) -> None:
        """End one session, which would have been valid until this time."""
        await self._database.write(sessions.end, user_id, session, until)

    async def end_all(self, user_id: str) -> None:
        """End every token, ticket and session of this person."""
        await self._database.write(users.log_out, user_id)

    async def _read(self, batch: _Batch) -> None:
        try:
            batch.found = await self._database.read(_found, batch.user_ids, batch.sessions)
        except Unavailable as error:
            batch.error = error


class _Batch:
    def __init__(self) -> None:
        self.user_ids: set[str] = set()
        self.sessions: set[str] = set()
        self.found: _Found | None = None
        self.error: Unavailable | None = None


@brief
def _found(connection: Connection, user_ids: Collection[str], names: Collection[str]) -> _Found:
    return _Found(users.stamps(connection, user_ids), sessions.ended(connection, names))
