"""Places for work: a limited amount is done at once, the rest waits, and people take turns for the next
place."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Busy(Exception):
    """No place became free in time."""


class Places:
    """`each` is how many places one person may have at once; None for all of them."""

    def __init__(self, count: int, each: int | None = None) -> None:
        self._free, self._each = count, each or count
        self._taken: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def one(self, person: str, seconds: float) -> AsyncIterator[None]:
        """Hold a place, after waiting at most this many seconds; `Busy` when none became free."""
        await self.take(person, seconds)
        try:
            yield
        finally:
            self.give_back(person)

    async def take(self, person: str, seconds: float) -> None:
        """Like `one`, for a place that the caller returns with `give_back`."""
        if self._may_have(person):
            self._grant(person)
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(person, deque()).append(place)
        try:
            async with asyncio.timeout(seconds):
                await place
        except BaseException as error:
            if place.done() and not place.cancelled():
                self.give_back(person)  # the place was given at the same moment
            else:
                self._forget(person, place)
            if isinstance(error, TimeoutError):
                raise Busy from error
            raise

    def give_back(self, person: str) -> None:
        self._free += 1
        self._taken[person] -= 1
        if not self._taken[person]:
            del self._taken[person]
        for following, queue in self._waiting.items():
            # A call that was cancelled a moment ago has not left the queue yet.
            place = next((place for place in queue if not place.done()), None)
            if place is not None and self._may_have(following):
                self._grant(following)
                place.set_result(None)
                self._forget(following, place)
                if queue:
                    self._waiting[following] = self._waiting.pop(following)  # after the other people
                return

    def _may_have(self, person: str) -> bool:
        return self._free > 0 and self._taken[person] < self._each

    def _grant(self, person: str) -> None:
        self._free -= 1
        self._taken[person] += 1

    def _forget(self, person: str, place: asyncio.Future[None]) -> None:
        queue = self._waiting[person]
        queue.remove(place)
        if not queue:
            del self._waiting[person]
