"""Threads of our own for work that is too long for the event loop.

Not asyncio's default executor: tools wait there for disks and commands, and all of its threads may be taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

#: Characters of a text that is not to be described on the event loop.
LARGE = 4096

P = ParamSpec("P")
T = TypeVar("T")


class Aside:
    """A thread begins with the first work and waits for more."""

    def __init__(self, name: str, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(*args, **kwargs))
