"""Threads for the work of tools: a limited number, and people take turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from caesura.agents import context
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.tool import ToolError

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
_PATIENCE = 60.0


class Threads:
    """Separate threads, so that slow work delays nothing else. A person uses at most one thread at a time, so
    that slow work, such as measuring a workspace with many folders, delays only that person."""

    def __init__(self, name: str, count: int, busy: str) -> None:
        """`busy` is what the model is told when no thread became free."""
        self._threads = ThreadPoolExecutor(count, name)
        self._places = Places(count, each=1)
        self._busy = busy

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the work in a thread, for the person of the current run."""
        return await self._run(await self._place(), lambda: work(*args, **kwargs))

    async def of(self, person: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `do`, for work that the person asks for without a run. `Busy` when no thread became free."""
        await self._places.take(person, _PATIENCE)
        return await self._run(person, lambda: work(*args, **kwargs))

    async def on(self, read: Callable[[], Awaitable[A]], work: Callable[[A], T]) -> T:
        """As `do`, on what is read first. It is read when it is this person's turn, so that no call waits
        with a large text in memory."""
        person = await self._place()
        try:
            found = await read()
        except BaseException:
            self._places.give_back(person)
            raise
        return await self._run(person, lambda: work(found))

    async def _place(self) -> str:
        """Wait for a place. Returns the person who has it."""
        person = context.current().user_id
        try:
            await self._places.take(person, _PATIENCE)
        except Busy:
            raise ToolError(self._busy) from None
        return person

    async def _run(self, person: str, work: Callable[[], T]) -> T:
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        future.add_done_callback(partial(self._done, person))
        # A thread cannot be stopped. It keeps its place until it ends, even if nobody waits for it.
        return await asyncio.shield(future)

    def _done(self, person: str, future: asyncio.Future[T]) -> None:
        self._places.give_back(person)
        if not future.cancelled():
            future.exception()  # otherwise the event loop logs an exception that nobody retrieves
