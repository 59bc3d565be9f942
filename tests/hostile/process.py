"""The server: `caesura serve` in a separate process, and what can be observed from outside."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

ROOT = Path(__file__).parents[2]
SECRET = "a secret for tests, long enough to sign with"
_PATIENCE = 90.0
_GREETING = re.compile(r"is at (http://127\.0\.0\.1:(\d+))")
_ASKED = "the demo model failed, as it was asked to"
T = TypeVar("T")


@dataclass(frozen=True)
class Figures:
    """`pause` is the longest pause since the last figures, in seconds of CPU time; `memory` is in bytes;
    `objects` is the number of live Python objects."""

    pause: float
    stack: str
    tasks: dict[str, int]
    memory: int
    objects: int
    descriptors: int


class Process:
    """A server with SQLite, the demo model and no rate limits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log, self._told = folder / "log", folder / "figures"
        rates = {f"RATE_{name}": "off" for name in ("REQUESTS", "RUNS", "LOGINS", "REGISTRATIONS")}
        chosen = {"DATA_DIR": str(folder / "data"), "PORT": "0", "SECRET": SECRET, "MODEL": "demo"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
        # Runs without readers end soon, so that the server becomes idle soon.
        settings = rates | chosen | {"DISCONNECT_GRACE": "1"}
        self._environ = kept | {f"CAESURA_{name}": value for name, value in settings.items()}

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.hostile.launcher", str(self._told), "serve"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, env=self._environ, stderr=log)
        found = self._wait_for(lambda: _GREETING.search(self._log.read_text()), "the server did not start")
        self.url, self.port = found[1], int(found[2])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Stop the server with SIGTERM; returns the exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(_PATIENCE)

    def client(self, token: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=_PATIENCE, trust_env=False)

    def figures(self) -> Figures:
        self._told.unlink(missing_ok=True)
        self._process.send_signal(signal.SIGUSR1)
        self._wait_for(self._told.exists, "the server does not tell its figures")
        descriptors = len(os.listdir(f"/proc/{self._process.pid}/fd"))
        return Figures(**json.loads(self._told.read_text()), descriptors=descriptors)

    def complaints(self) -> list[str]:
        """Log lines with unexpected errors, and lines of the output that are not log lines."""
        lines = self._log.read_text().split("\n")
        logged = [line for line in lines if line.startswith("{")]
        first = lines.index(logged[0]) if logged else len(lines)
        strange = [line for line in lines[first:] if line and not line.startswith("{")]
        return strange + [
            line for line in logged if _level(line) in ("error", "critical") and _ASKED not in line
        ]

    def _wait_for(self, look: Callable[[], T | None], otherwise: str) -> T:
        deadline = time.monotonic() + _PATIENCE
        while not (found := look()):
            assert self._process.poll() is None, f"the server ended:\n{self._log.read_text()[-5000:]}"
            assert time.monotonic() < deadline, otherwise
            time.sleep(0.02)
        return found


def _level(line: str) -> str:
    fields: dict[str, Any] = json.loads(line)
    return str(fields["level"])
