"""A server for the tests of a module, and clients of it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from caesura.client import Client
from tests.api.server import Served
from tests.client.process import Process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
async def alice(server: Served) -> AsyncIterator[Client]:
    async with Client(server.url, server.token("alice"), patience=10) as client:
        yield client


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    with Process(tmp_path) as server:
        yield server
