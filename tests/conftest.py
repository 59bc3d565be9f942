"""Fixtures every test may ask for."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

import pytest

from tests.servers import Missing, Postgres, Redis
from tests.servers.databases import Databases

S = TypeVar("S", Postgres, Redis)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No two tests have one name: of those, workers would run one."""
    names = Counter(item.nodeid for item in items)
    if twice := [name for name, count in names.items() if count > 1]:
        raise pytest.UsageError(f"several tests have one name: {', '.join(twice)}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of this worker's own."""
    with _served(Postgres) as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    """A Redis of this worker's own."""
    with _served(Redis) as server:
        yield server


@pytest.fixture(scope="session")
def _databases(postgres: Postgres) -> Iterator[Databases]:
    with Databases(postgres) as databases:
        yield databases


@pytest.fixture
def postgres_url(postgres: Postgres, _databases: Databases) -> Iterator[str]:
    """An empty database."""
    _revive(postgres)
    name = _databases.take()
    yield postgres.database_url(name)
    _databases.give_back(name)


@pytest.fixture
def redis_url(redis: Redis) -> str:
    """An empty Redis."""
    _revive(redis)
    redis.flush()
    return redis.url


def _served(kind: type[S]) -> S:
    try:
        return kind.start()
    except Missing as error:
        if _servers_are_required():
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


def _revive(server: Postgres | Redis) -> None:
    """A test may have left the server dead."""
    if not server.running:
        server.restart()


def _servers_are_required() -> bool:
    return os.environ.get("CI") == "true" or os.environ.get("CAESURA_TESTS_REQUIRE_SERVERS") == "1"
