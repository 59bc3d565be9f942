"""A crash of the process that runs a world's engine."""

from __future__ import annotations

import asyncio

from tests.engine.world import World


async def lose(world: World) -> None:
    """Act as if the process had died: no lease is renewed, and nothing is written. Another engine starts."""
    supervisor = world.engine.supervisor
    supervisor._stopping.set()
    assert supervisor._adopting is not None
    supervisor._adopting.cancel()
    for job in list(supervisor._jobs.values()):
        supervisor._stopping.clear()
        job.task.cancel()
        await asyncio.wait([job.task])
        supervisor._stopping.set()
    world.engine = world.new_engine()
    world.engine.start()
