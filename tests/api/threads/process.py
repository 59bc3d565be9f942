"""The server in a separate process, to be killed. The processes are forked from one that has imported
everything."""

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from caesura.app import serve
from caesura.settings import Settings

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.client.preload"])


class Process:
    """A server for one person, on the data in this folder."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        chosen = {"data_dir": folder, "auth": "none", "port": 0, "lease": 1.0, "log_level": "error"}
        self._settings = chosen | settings

    def start(self) -> Self:
        reading, writing = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_serve, args=(self._settings, writing), daemon=True)
        self._process.start()
        writing.close()
        with reading:
            assert reading.poll(60), "the server did not start"
            self.url: str = reading.recv()
        return self

    @property
    def pid(self) -> int:
        found = self._process.pid
        assert found is not None
        return found

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self._process.kill()
        self._process.join()

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.kill()


def _serve(settings: dict[str, Any], ready: Connection) -> None:
    serve(Settings.load(**settings), ready.send)
