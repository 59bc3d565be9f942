"""Servers that are killed. A program that has imported LangChain and LangGraph forks them, because that
takes seconds.

It reads a line of JSON with the settings and the environment of a server, and answers with its process id
when it is ready; or the process id of a server that is to be killed.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from tests.chaos.process import Program


class Nursery(Program):
    """The tests' side."""

    def __init__(self) -> None:
        super().__init__("tests.graphs.servers")


class Server:
    """A server for one person, on the data in this folder."""

    def __init__(self, nursery: Nursery, folder: Path, port: int, environ: dict[str, str]) -> None:
        self._nursery = nursery
        self._settings = {
            "data_dir": str(folder / "data"),
            "agents_dir": str(folder / "agents"),
            "auth": "none",
            "port": port,
            "rate_requests": "off",
            "rate_runs": "off",
            "log_level": "error",
        }
        self._environ = {**environ, "OUTBOX": str(folder / "outbox.txt")}
        self._outbox = folder / "outbox.txt"
        self._pid: int | None = None
        self.url = f"http://127.0.0.1:{port}"

    def start(self) -> None:
        self._pid = self._nursery.ask({"settings": self._settings, "environ": self._environ})
        assert self._pid is not None, "the server did not start"

    def kill(self) -> None:
        """Kill the process, as kill -9 does."""
        if self._pid is not None:
            self._nursery.ask({"kill": self._pid})
            self._pid = None

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def outbox(self) -> list[str]:
        """What the tools and the graph's nodes have done since this was asked last."""
        lines = self._outbox.read_text().splitlines() if self._outbox.exists() else []
        self._outbox.unlink(missing_ok=True)
        return lines

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.kill()


def _do(what: dict[str, Any]) -> int | None:
    if "kill" in what:
        os.kill(what["kill"], signal.SIGKILL)
        os.waitpid(what["kill"], 0)
        return None
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _serve(what, writing)
    os.close(writing)
    with os.fdopen(reading) as ready:
        return child if ready.readline() else None


def _serve(what: dict[str, Any], ready: int) -> None:
    try:
        os.dup2(2, 1)  # the answers of this program are on its standard output
        os.environ.update(what["environ"])
        started = os.fdopen(ready, "w")
        app.serve(Settings.load(**what["settings"]), lambda _: print("ready", file=started, flush=True))
    finally:
        os._exit(1)


if __name__ == "__main__":
    import certifi
    import langchain.agents.middleware  # noqa: F401 - once, for all children
    import langgraph.prebuilt  # noqa: F401
    from langchain_openai import ChatOpenAI

    from caesura import app
    from caesura.engine.graphs import drive  # noqa: F401
    from caesura.settings import Settings

    authorities = os.environ.get("SSL_CERT_FILE", certifi.where())
    certifi.where = lambda: authorities  # each client reads them
    ChatOpenAI(model="none", api_key="none")  # type: ignore[arg-type]  # loads more on its first use
    gc.freeze()  # so that no child copies pages just to look for garbage there
    for line in sys.stdin:
        print(json.dumps(_do(json.loads(line))), flush=True)
