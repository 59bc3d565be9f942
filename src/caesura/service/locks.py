"""Locks: a limit on the database connections that one person may keep busy at once in this process.

Requests that begin or delete a person's work lock the person's row, so they wait for one another. If each
held a connection while it waited, fifty of them would leave none for anybody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class PersonLocks:
    def __init__(self, wanted: bool) -> None:
        """`wanted` is false where writers wait in one queue anyway, and are committed together."""
        self._wanted = wanted
        #: For each person with requests: the lock, and how many requests hold it or wait for it.
        self._taken: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, user_id: str) -> AsyncIterator[None]:
        """One at a time for each person, in the order in which they came."""
        if not self._wanted:
            yield
            return
        lock, count = self._taken.get(user_id, (asyncio.Lock(), 0))
        self._taken[user_id] = lock, count + 1
        try:
            async with lock:
                yield
        finally:
            lock, count = self._taken.pop(user_id)
            if count > 1:
                self._taken[user_id] = lock, count - 1
