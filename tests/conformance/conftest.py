"""The databases that the suite runs over."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from caesura.store.database import Database
from caesura.store.open import open_database


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database is, on each backend in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/caesura.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest_asyncio.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh database of this program's schema."""
    database = await open_database(database_url)
    yield database
    await database.close()
