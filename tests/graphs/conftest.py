"""A server with graphs as people write them, and the provider of their model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests import agent_files
from tests.graphs.model import reply
from tests.graphs.servers import Nursery, Server
from tests.openai_server import Server as Provider
from tests.servers.server import free_port

OPERATORS = Path(__file__).parent / "operators"
#: The graphs by the names of their agents.
GRAPHS = {
    "weather": "weather:graph",
    "prebuilt": "prebuilt:graph",
    "mailroom": "mailroom:make_graph",
    "newsroom": "newsroom:graph",
}


def put(folder: Path) -> None:
    """The operator's folder. The Python files are taken as they are."""
    agents = folder / "agents"
    agents.mkdir()
    for name, target in GRAPHS.items():
        shutil.copy(OPERATORS / f"{name}.py", agents)
        agent_files.put(agents, name, f"type: langgraph\ngraph: '{target}'\n")


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server in this folder, until the end of the block."""
    put(folder)
    with Provider() as provider, Nursery() as nursery:
        desk = provider.desk()
        desk.otherwise = reply
        environ = {"OPENAI_BASE_URL": desk.base_url, "OPENAI_API_KEY": "a-key", "NO_PROXY": "127.0.0.1"}
        with Server(nursery, folder, free_port(), environ) as server:
            yield server
        assert not desk.refused


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("operator")) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    server.outbox()
    with server.client() as client:
        yield client
