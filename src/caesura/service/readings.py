"""Long reads: pages of conversations, and the place in a log where a reader goes on.

A page may be megabytes and a log a hundred thousand events. However many of them one person asks for, others
are served in between: only a few are read at once, one of each person, and each person in turn.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from caesura.agents.aside import Aside
from caesura.agents.tools.places import Busy, Places
from caesura.core.errors import TooManyRequests

#: Fewer than the threads and connections that read, so that short reads find one free.
_AT_ONCE = 2
#: Seconds that a request waits for its turn, and after which it may come again.
_PATIENCE, _RETRY = 30.0, 5


class Readings:
    def __init__(self) -> None:
        self._places = Places(_AT_ONCE, each=1)
        #: For what is too long for the event loop.
        self.aside = Aside("caesura-pages", _AT_ONCE)

    @asynccontextmanager
    async def of(self, user_id: str) -> AsyncIterator[None]:
        """Wait until it is this person's turn to read. Not to be nested."""
        try:
            await self._places.take(user_id, _PATIENCE)
        except Busy as error:
            raise TooManyRequests(_RETRY, "too many long reads at once") from error
        try:
            yield
        finally:
            self._places.give_back(user_id)
