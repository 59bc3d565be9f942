"""A server in its own process, on a fixed port: it can be killed and restarted.

Forked from a process that has everything imported, so that it starts at once.
"""

import multiprocessing
import resource
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.servers.server import free_port

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.client.preload"])


class Process:
    """One person, no log-in, the demo model. `settings` are those of the application. `before` is called in
    the process before it serves."""

    def __init__(self, folder: Path, *, before: Callable[[], None] | None = None, **settings: Any) -> None:
        rates = dict.fromkeys(("rate_requests", "rate_runs"), "off")
        self._settings = rates | {
            "data_dir": str(folder),
            "port": free_port(),
            "auth": "none",
            "drain": 0.1,
            "log_level": "error",
            **settings,
        }
        self._before = before
        self.url = f"http://127.0.0.1:{self._settings['port']}"
        self._process: ForkServerProcess | None = None

    def start(self) -> None:
        here, there = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=serve, args=(self._settings, there, self._before))
        self._process.start()
        there.close()
        with closing(here):
            assert here.poll(60), "the server did not start"
            here.recv()

    def kill(self) -> None:
        """Kill the process, as kill -9 does."""
        self._end(lambda process: process.kill())

    def terminate(self) -> int | None:
        """Send SIGTERM: the server releases its runs, and ends. Returns its exit code."""
        return self._end(lambda process: process.terminate())

    @contextmanager
    def full(self) -> Iterator[None]:
        """No file of the server can be written meanwhile, as on a full disk."""
        assert self._process is not None
        assert self._process.pid is not None
        pid = self._process.pid
        usual = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, usual[1]))
        try:
            yield
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)

    def _end(self, signal: Callable[[ForkServerProcess], None]) -> int | None:
        if self._process is None:
            return None
        signal(self._process)
        self._process.join(60)
        code = self._process.exitcode
        assert code is not None, "the server did not end"
        self._process.close()
        self._process = None
        return code

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.kill()


def serve(settings: dict[str, Any], ready: Connection, before: Callable[[], None] | None) -> None:
    from caesura import app
    from caesura.settings import Settings

    if before is not None:
        before()
    app.serve(Settings.load(**settings), lambda address: ready.send(address))
