"""Separate threads for work that is too long for the event loop.

asyncio's default executor is not used: tools wait there for disks and commands, and may occupy all of its
threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

#: A text with more characters than this is not described on the event loop.
LARGE = 4096

P = ParamSpec("P")
T = TypeVar("T")


class Aside:
    """The threads start with the first work, and are then reused."""

    def __init__(self, name: str, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: work(*args, **kwargs))
