"""Waiting in an event loop for something that nothing signals."""

import asyncio
import time
from collections.abc import Callable, Iterator

_PATIENCE = 60.0


async def until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(_PATIENCE):
        while not check():  # noqa: ASYNC110 - another thread makes it true
            await asyncio.sleep(0.005)


def milliseconds(count: int) -> Iterator[int]:
    """Numbers, each in a millisecond of its own: what is made in the same one has no order in time."""
    for number in range(count):
        began = time.time_ns() // 1_000_000
        while time.time_ns() // 1_000_000 == began:
            pass
        yield number
