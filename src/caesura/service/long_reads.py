"""Long reads: pages of conversations, finding the place in a log where a reader continues, and work on
artifacts.

A page may be megabytes and a log a hundred thousand events. So that one person's reads do not delay others,
only a few run at once, at most one for each person, and people take turns. Each kind of work has places and
threads of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from caesura.agents.aside import Aside
from caesura.agents.tools.places import Busy, Places
from caesura.core.errors import TooManyRequests

P = ParamSpec("P")
T = TypeVar("T")

#: All kinds together have fewer than the threads and connections for reading, so that short reads find one
#: free.
_AT_ONCE = 2
#: Seconds that a request waits for its turn, and the seconds after which a refused client may retry.
_PATIENCE, _RETRY = 30.0, 5


class LongReads:
    def __init__(self, name: str = "caesura-pages", at_once: int = _AT_ONCE) -> None:
        self._places = Places(at_once, each=1)
        self._aside = Aside(name, at_once)

    @asynccontextmanager
    async def of(self, user_id: str) -> AsyncIterator[None]:
        """Wait until it is this person's turn to read. Must not be nested."""
        try:
            await self._places.take(user_id, _PATIENCE)
        except Busy as error:
            raise TooManyRequests(_RETRY, "too many long reads at once") from error
        try:
            yield
        finally:
            self._places.give_back(user_id)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do work that is too long for the event loop, in a thread."""
        return await self._aside.run(work, *args, **kwargs)
