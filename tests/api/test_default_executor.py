"""Models and tools may block all threads of asyncio's default executor: the server's own work continues."""

import ast
import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Connection

import caesura
from caesura.core import codec
from caesura.core import events as ev
from caesura.store import conversations, events, life
from caesura.store.database import Database
from tests.api.server import PASSWORD, Served

SOURCE = Path(caesura.__file__).parent
#: More than the executor has threads, on any machine.
MANY = 64


def test_no_module_of_caesura_uses_the_default_executor() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _is_default(node)
    ]
    assert found == []


def _is_default(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name.endswith("run_in_executor"):
        return ast.unparse(call.args[0]) == "None"
    return "to_thread" in name or "run_in_threadpool" in name


def test_requests_are_answered_while_the_default_executor_is_blocked(
    tmp_path: Path, database_url: str
) -> None:
    with Served(tmp_path, database_url=database_url) as server, server.client() as alice:
        server.call(server.database.write(_running, "live"))
        (tmp_path / "data/workspaces/live").mkdir(parents=True)
        with _taken(server):
            login = {"username": "alice", "password": PASSWORD}
            answers = [
                alice.post("/api/auth/login", json=login),
                alice.get("/api/v2/conversations"),
                alice.get("/api/v2/conversations/live"),
                alice.get("/api/v2/conversations/live/snapshot"),
                alice.get("/api/sessions"),
                alice.get("/api/status/live"),
                alice.get("/api/history/live"),
                alice.get("/docs/files/swagger-ui.css"),
                alice.get("/ready"),
                alice.delete("/api/v2/conversations/live"),
            ]
            assert [answer.status_code for answer in answers] == [200] * 9 + [204]
            assert not (tmp_path / "data/workspaces/live").exists()
            server.call(server.context.service.drain(0.1))


async def test_a_database_is_closed_while_the_default_executor_is_blocked(database: Database) -> None:
    release = threading.Event()
    loop = asyncio.get_running_loop()
    waiting = [loop.run_in_executor(None, release.wait, 60) for _ in range(MANY)]
    try:
        async with asyncio.timeout(30):
            await database.close()
    finally:
        release.set()
        await asyncio.gather(*waiting)


@contextmanager
def _taken(server: Served) -> Iterator[None]:
    release = threading.Event()

    async def take() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(MANY):
            loop.run_in_executor(None, release.wait, 120)

    server.call(take())
    try:
        yield
    except httpx.TimeoutException as error:
        pytest.fail(f"not answered: {error.request.method} {error.request.url}")
    finally:
        release.set()


def _running(connection: Connection, name: str) -> None:
    conversations.create(connection, name, "alice", "assistant")
    turn = life.create(connection, life.New(name, "count", owner="test", lease_ms=600_000))
    said: list[ev.Event] = [
        ev.RunStarted("assistant", 1),
        ev.ModelStarted(1, "assistant"),
        ev.TextDelta(1, "one"),
    ]
    row = events.Rows(turn.num, 1, 1, 3, 5, codec.encode(said))
    events.insert_fenced(connection, [row])
