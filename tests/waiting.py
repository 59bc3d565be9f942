"""Waiting in an event loop for something that nothing signals."""

import asyncio
from collections.abc import Callable

_PATIENCE = 60.0


async def until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(_PATIENCE):
        while not check():  # noqa: ASYNC110 - another thread makes it true
            await asyncio.sleep(0.005)
