"""The service over the real engine, on each database."""

import pytest

from caesura.service.service import Service
from tests.engine.conftest import desk, openai_server, world
from tests.engine.world import World

__all__ = ["desk", "openai_server", "service", "world"]


@pytest.fixture
async def service(world: World) -> Service:
    """Alice has a conversation with an agent that has one tool, for which it needs an approval."""
    world.agent("tools: [seal]")
    await world.begin()
    return world.service()
