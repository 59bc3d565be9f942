"""Killing at many places. Several places are tried concurrently, because each attempt mostly waits."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

LANES = 3

L = TypeVar("L")
P = TypeVar("P")


async def at_places(
    lanes: Sequence[L], places: Iterable[P], attempt: Callable[[L, P], Awaitable[None]]
) -> None:
    left = iter(places)

    async def walk(lane: L) -> None:
        for place in left:
            await attempt(lane, place)

    async with asyncio.TaskGroup() as group:
        for lane in lanes:
            group.create_task(walk(lane))
