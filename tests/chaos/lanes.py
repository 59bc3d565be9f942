"""Killing at every possible place. Several places are tried concurrently, because each attempt mostly
waits."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import TypeVar

LANES = 3

P = TypeVar("P")


async def at_every_place(lanes: Sequence[P], killed: Callable[[P, int], Awaitable[bool]]) -> int:
    """Try the places 1, 2, 3 … until no process is killed. Returns the first place that does not exist."""
    numbers, ends = count(1), list[int]()

    async def walk(lane: P) -> None:
        while not ends:
            number = next(numbers)
            if not await killed(lane, number):
                ends.append(number)

    async with asyncio.TaskGroup() as group:
        for lane in lanes:
            group.create_task(walk(lane))
    return min(ends)
