"""The engine over each database, with a provider on the loopback."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from caesura.store.database import Database
from tests.engine.world import World, world_over
from tests.openai_server import Desk, Server


@pytest.fixture(scope="session")
def openai_server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def desk(openai_server: Server) -> Desk:
    """A separate account of this test at the provider."""
    return openai_server.desk()


@pytest_asyncio.fixture
async def world(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    async with world_over(database, tmp_path, desk) as world:
        yield world
        assert not desk.refused


@pytest_asyncio.fixture
async def hasty(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    """A world in which another engine soon takes the turns of an engine that is gone."""
    async with world_over(database, tmp_path, desk, lease=1.2) as world:
        yield world
