"""A server for the tests of a module, and people who use it."""

from collections.abc import Iterator

import httpx
import pytest

from tests.api.server import Served


def pytest_itemcollected(item: pytest.Item) -> None:
    """Schemathesis reads the name of a test where pytest kept it before 9.2."""
    item._nodeid = item.nodeid  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def alice(server: Served) -> Iterator[httpx.Client]:
    with server.client("alice") as client:
        yield client


@pytest.fixture
def bob(server: Served) -> Iterator[httpx.Client]:
    with server.client("bob") as client:
        yield client


@pytest.fixture
def nobody(server: Served) -> Iterator[httpx.Client]:
    with server.client(None) as client:
        yield client
