"""An engine, and MCP servers that it uses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from caesura.store.database import Database
from tests.engine.world import World, world_over
from tests.mcp_server.raw import tool
from tests.mcp_server.raw_http import RawHttp
from tests.openai_server import Desk, Server
from tests.servers.server import free_port
from tests.tables import sqlite_file

PACKAGE = Path(__file__).parent.parent / "mcp_server" / "server.py"
RAW = PACKAGE.with_name("raw.py")
DEMO = "model: {primary: demo, options: {delay: 0, think: false}}"
KEY = "sk-a-very-secret-key"


@pytest.fixture(scope="session")
def openai_server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def desk(openai_server: Server) -> Desk:
    return openai_server.desk()


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """SQLite alone: what servers do has nothing to do with the database."""
    (tmp_path / "caesura.db").write_bytes(sqlite_file())
    return f"sqlite:///{tmp_path}/caesura.db"


@pytest_asyncio.fixture
async def world(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    async with world_over(database, tmp_path, desk, lease=1.2) as world:
        yield world


class Outside:
    """The folder of a server, in which it leaves traces and finds what it should do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    @property
    def traces(self) -> list[str]:
        file = self.folder / "trace.txt"
        return file.read_text().splitlines() if file.exists() else []

    def tools(self, *tools: dict[str, Any]) -> None:
        (self.folder / "tools.json").write_text(json.dumps(tools))

    def mode(self, mode: str) -> None:
        (self.folder / "mode").write_text(mode)

    def go(self) -> None:
        (self.folder / "go").touch()

    def entry(self, *more: str, name: str = "shop", program: Path = RAW) -> str:
        """The entry of this server in an agent's file."""
        lines = [
            f"- name: {name}",
            f"command: {sys.executable}",
            f"args: ['{program}', '{self.folder}']",
            *more,
        ]
        return "mcp_servers:\n" + "\n".join(
            f"  {line}" if line[0] == "-" else f"    {line}" for line in lines
        )


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    found = Outside(tmp_path / "outside")
    found.tools(*(tool(name) for name in ("say", "wait", "die", "garbage", "endless", "values", "change")))
    return found


class HttpServer:
    """A server with streamable HTTP in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.outside = Outside(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        command = [sys.executable, str(PACKAGE), str(self.outside.folder), str(self.port)]
        with (self.outside.folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                httpx.get(self.url, timeout=5)
            except httpx.TransportError:
                time.sleep(0.02)
            else:
                return
        raise AssertionError("the server did not start")

    def freeze(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def entry(self, *more: str) -> str:
        lines = ["mcp_servers:", "  - name: shop", f"    url: {self.url}", *(f"    {line}" for line in more)]
        return "\n".join(lines)


@pytest.fixture
def raw_http() -> Iterator[RawHttp]:
    with RawHttp() as server:
        yield server


@pytest.fixture(scope="session")
def http_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    server = HttpServer(tmp_path_factory.mktemp("http") / "outside")
    server.start()
    yield server
    server.kill()
