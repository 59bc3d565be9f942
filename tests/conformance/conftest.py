"""The databases that the suite runs over.

Making the tables takes longer than most tests do: it is done once for each backend, and every test begins
with empty ones.
"""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import create_engine, text

from caesura.store import migrate, schema
from caesura.store.database import Database
from caesura.store.open import open_database
from tests.servers import Postgres

_END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture(scope="session")
def _sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conformance") / "empty.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def _postgres_url(postgres: Postgres) -> str:
    url = postgres.create_database("conformance")
    _migrate(url)
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a database with empty tables is, on each backend in turn."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("_sqlite_file"), tmp_path / "caesura.db")
        return f"sqlite:///{tmp_path}/caesura.db"
    server: Postgres = request.getfixturevalue("postgres")
    if not server.running:
        server.restart()
    url: str = request.getfixturevalue("_postgres_url")
    _empty(url)
    return url


@pytest_asyncio.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh database of this program's schema."""
    database = await open_database(database_url)
    yield database
    await database.close()


def _migrate(url: str) -> None:
    engine = create_engine(_driver(url))
    with engine.begin() as connection:
        migrate.upgrade(connection)
    engine.dispose()


def _empty(url: str) -> None:
    """Nobody of an earlier test is connected, and nothing of it is left."""
    engine = create_engine(_driver(url))
    with engine.begin() as connection:
        connection.execute(text(_END_OTHERS))
        for table in reversed(schema.metadata.sorted_tables):
            connection.execute(table.delete())
    engine.dispose()


def _driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")
