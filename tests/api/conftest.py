"""A server for the tests of a module, and people who use it."""

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from schemathesis.pytest.plugin import SchemathesisFunction

from tests.api.server import Served


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give the tests that Schemathesis generates distinct names: since 9.2, pytest names them all after the
    function."""
    if isinstance(item, SchemathesisFunction):
        item._id = replace(item._id, params=item.operation_label)


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
