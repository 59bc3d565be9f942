"""The engine over each database, with a provider on the loopback."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from caesura.store.database import Database
from caesura.store.open import open_database
from tests.conformance.conftest import _empty, _migrate
from tests.engine.world import World, world_over
from tests.openai_server import Desk, Server
from tests.servers import Postgres


@pytest.fixture(scope="session")
def openai_server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def desk(openai_server: Server) -> Desk:
    """A place of this test's own at the provider's."""
    return openai_server.desk()


@pytest.fixture(scope="session")
def _empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("engine") / "empty.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def _engine_url(postgres: Postgres) -> str:
    url = postgres.create_database("engine")
    _migrate(url)
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a database with empty tables is, on each backend in turn."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("_empty_file"), tmp_path / "caesura.db")
        return f"sqlite:///{tmp_path}/caesura.db"
    server: Postgres = request.getfixturevalue("postgres")
    if not server.running:
        server.restart()
    url: str = request.getfixturevalue("_engine_url")
    _empty(url)
    return url


@pytest_asyncio.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = await open_database(database_url)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def world(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    async with world_over(database, tmp_path, desk) as world:
        yield world
        assert not desk.refused
