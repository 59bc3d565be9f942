"""Places for commands: so many run at once, the others wait, and each person in turn gets the next one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Busy(Exception):
    """No place became free in time."""


class Places:
    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def one(self, person: str, seconds: float) -> AsyncIterator[None]:
        """A place, after waiting for these seconds at most; `Busy` when none became free."""
        await self._take(person, seconds)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, person: str, seconds: float) -> None:
        if self._free:
            self._free -= 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(person, deque()).append(place)
        try:
            async with asyncio.timeout(seconds):
                await place
        except BaseException as error:
            if place.done() and not place.cancelled():
                self._give_back()  # it came in the same moment
            else:
                self._forget(person, place)
            if isinstance(error, TimeoutError):
                raise Busy from error
            raise

    def _give_back(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        person = next(iter(self._waiting))
        queue = self._waiting.pop(person)
        queue.popleft().set_result(None)
        if queue:
            self._waiting[person] = queue  # behind the other people

    def _forget(self, person: str, place: asyncio.Future[None]) -> None:
        queue = self._waiting[person]
        queue.remove(place)
        if not queue:
            del self._waiting[person]
