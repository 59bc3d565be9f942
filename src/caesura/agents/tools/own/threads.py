"""Threads for an operator's own functions."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from caesura.agents.aside import Aside
from caesura.agents.tools.own.steps import Steps
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.tool import ToolError

T = TypeVar("T")
logger = logging.getLogger(__name__)

#: How many functions run at once, and how many of one person.
COUNT, EACH = 32, 8
_PATIENCE = 60.0


class OwnThreads:
    """A limited number of threads, and people take turns. Nobody can stop a thread: one that nobody waits for
    any more keeps its place until it ends. They are daemon threads, so that a function that never ends does
    not keep the server from ending."""

    def __init__(self, count: int = COUNT, each: int = EACH) -> None:
        self._places = Places(count, each)
        #: For the checks of arguments: each tool has its share.
        self._checks = Places(count, each)
        self._writers = Aside("caesura-own-results")
        #: Of functions that are not run in threads.
        self.steps = Steps()

    async def do(self, person: str, work: Callable[[], T]) -> T:
        """Run the work in a thread of its own."""
        return await self._run(self._places, person, work)

    async def check(self, tool: str, work: Callable[[], T]) -> T:
        """Check arguments. This waits for no function that runs, and for no other tool's checks."""
        return await self._run(self._checks, tool, work)

    async def _run(self, places: Places, whose: str, work: Callable[[], T]) -> T:
        try:
            await places.take(whose, _PATIENCE)
        except Busy:
            raise ToolError("Not done: too many tools run at the moment. Try again later.") from None
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

        def ended(value: Any, error: BaseException | None) -> None:
            places.give_back(whose)
            if not outcome.done():
                outcome.set_result((value, error))
            elif error is not None:
                logger.warning("a tool failed after nobody waited for it any more", exc_info=error)

        def body() -> None:
            value, error = _outcome(work)
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(ended, value, error)

        try:
            threading.Thread(target=body, name="caesura-own-tool", daemon=True).start()
        except RuntimeError:
            places.give_back(whose)
            raise
        value, error = await outcome
        if error is not None:
            raise error
        found: T = value
        return found

    async def write(self, work: Callable[[], T]) -> T:
        """Make the text of a result, which may be large. It waits for no place: the function has ended."""
        return await self._writers.run(work)


def _outcome(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except BaseException as error:  # noqa: BLE001 - raised again where the call waits for it
        return None, error
