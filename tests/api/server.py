"""The application under a real uvicorn, in a thread, on a free loopback port: SQLite and the demo model."""

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import uvloop
from argon2 import PasswordHasher
from fastapi import FastAPI

from caesura.app import create_app, server_of
from caesura.http.context import Context
from caesura.http.server import Server, bind
from caesura.http.tokens import Tokens
from caesura.settings import Settings
from caesura.store import users
from caesura.store.database import Database
from tests import agent_files
from tests.tables import sqlite_file

T = TypeVar("T")
SECRET = "a secret for tests, long enough to sign with"
PASSWORD = "correct horse"
_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
_SPEC = """
model: {{primary: demo, options: {{delay: {delay}, think: false}}}}
interrupt: {{enabled: {asks}, timeout_seconds: 300}}
"""


class Served:
    """`settings` are those of the application; `delay` is the demo model's, in seconds between tokens."""

    def __init__(self, folder: Path, *, delay: float = 0.0005, **settings: Any) -> None:
        agents = folder / "agents"
        for name, asks in (("assistant", "false"), ("approval-agent", "true")):
            agent_files.put(agents, name, _SPEC.format(delay=delay, asks=asks))
        rates = dict.fromkeys(("rate_requests", "rate_runs", "rate_logins", "rate_registrations"), "off")
        chosen = {
            "data_dir": folder / "data",
            "agents_dir": agents,
            "secret": SECRET,
            "default_agent": "assistant",
            "drain": 1.0,
            "port": 0,
        }
        self.settings = Settings.load(**(rates | chosen | settings))
        self.tokens = Tokens(SECRET)
        self.app: FastAPI
        self._server: Server
        self._loop: asyncio.AbstractEventLoop
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._socket = bind(self.settings.host, self.settings.port)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{self.settings.host}:{self.port}"
        self._thread = threading.Thread(target=self._run, name="caesura-server")

    def start(self) -> Self:
        self._make_tables()
        self._thread.start()
        self._ready.wait(30)
        if self._failure is not None:
            raise self._failure
        return self

    def stop(self) -> None:
        """Stop the server as SIGTERM does."""
        if self._thread.is_alive():
            self._server.should_exit = True
            self._thread.join(30)

    def begin_to_stop(self) -> None:
        self._server.should_exit = True

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def context(self) -> Context:
        context: Context = self.app.state.context
        return context

    @property
    def database(self) -> Database:
        return self.context.service._database

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the server's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def token(self, user_id: str = "alice") -> str:
        """A person's token. If the person does not exist, they are created with `PASSWORD`."""
        found = self.call(self.database.read(users.get, user_id))
        if found is None:
            self.call(self.database.write(users.create, user_id, _HASH))
        return self.tokens.issue(user_id, found.stamp if found else users.stamp(_HASH))

    def headers(self, user_id: str = "alice") -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token(user_id)}"}

    def client(self, user_id: str | None = "alice", **options: Any) -> httpx.Client:
        """A client of this person, or of nobody."""
        headers = self.headers(user_id) if user_id is not None else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False, **options)

    def async_client(self, user_id: str | None = "alice", **options: Any) -> httpx.AsyncClient:
        headers = self.headers(user_id) if user_id is not None else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, trust_env=False, **options)

    def _make_tables(self) -> None:
        """Half of the time of a first start is spent on this."""
        path = self.settings.data_dir / "caesura.db"
        if not self.settings.database_url and not path.exists():
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            path.write_bytes(sqlite_file())

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - told to whoever starts it
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        with self._socket:
            self.app = create_app(self.settings)
            async with self.app.router.lifespan_context(self.app):
                self._server = server_of(self.app, self.settings)
                self._loop.call_soon(self._ready.set)
                await self._server.serve([self._socket])
