"""Places: how many connections of a shared database one person may keep busy at once in this process.

What begins or deletes a person's work locks the person's row, so such requests wait for one another. If each
waited with a connection in hand, fifty of them would leave none for anybody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Places:
    def __init__(self, wanted: bool) -> None:
        """Not `wanted` where writers wait in one queue anyway, and are committed together."""
        self._wanted = wanted
        #: For each person who has one: the place, and how many want it.
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
