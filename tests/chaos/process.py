"""A program that forks children on demand, and waiting for a process that is not a child of this one."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from select import POLLIN, poll
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]


class Program:
    """A module run as a program: it answers each line of JSON with another. Thread-safe."""

    def __init__(self, module: str) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", module], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, what: dict[str, Any]) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with self._lock:
            stdin.write(json.dumps(what) + "\n")
            stdin.flush()
            return json.loads(stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def wait_for(pid: int) -> None:
    """Wait until the process has ended, so that its parent can report its status without waiting. On other
    systems the parent waits."""
    if sys.platform == "linux":
        process = os.pidfd_open(pid)
        waiting = poll()
        waiting.register(process, POLLIN)
        waiting.poll()
        os.close(process)
