"""Terminals in which the command line runs. Its processes are forked from one that has imported everything,
so that each starts at once.

As a program it is given a socket. It forks a child with a terminal for each line of JSON, and sends the
terminal and the child's number; asked about a child, it answers with how the child ended.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import sys
import termios
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from pexpect.fdpexpect import fdspawn

ROOT = Path(__file__).parents[2]
ROWS, COLUMNS = 40, 400
#: More than any request or answer has.
_LARGE = 1 << 20


class Terminals:
    """The tests' side."""

    def __init__(self) -> None:
        self._socket, other = socket.socketpair()
        with other:
            command = [sys.executable, "-m", "tests.cli.terminals", str(other.fileno())]
            self._program = subprocess.Popen(command, cwd=ROOT, pass_fds=[other.fileno()])

    def open(self, arguments: list[str], environment: dict[str, str], folder: Path) -> Child:
        """Run a command in a new terminal."""
        orders = {"arguments": arguments, "environment": environment, "folder": str(folder)}
        self._socket.sendall(json.dumps(orders).encode() + b"\n")
        answer, (terminal,), _, _ = socket.recv_fds(self._socket, _LARGE, 1)
        return Child(terminal, int(answer), self._status)

    def _status(self, pid: int) -> int:
        self._socket.sendall(json.dumps({"pid": pid}).encode() + b"\n")
        return int(self._socket.recv(_LARGE))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._program.wait()


class Child:
    """A command in its terminal. Everything else is as pexpect has it."""

    def __init__(self, terminal: int, pid: int, status: Callable[[int], int]) -> None:
        self._pexpect = fdspawn(terminal, timeout=30, encoding="utf-8")
        self._pid, self._status = pid, status
        self.exitstatus: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pexpect, name)

    def sendintr(self) -> None:
        self._pexpect.send("\x03")

    def sendeof(self) -> None:
        self._pexpect.send("\x04")

    def close(self, force: bool = False) -> None:
        """Wait until the command has ended, or end it."""
        if self.exitstatus is None:
            if force:
                os.kill(self._pid, signal.SIGKILL)
            self.exitstatus = self._status(self._pid)
            self._pexpect.close()


def _fork(orders: dict[str, Any]) -> tuple[int, int]:
    pid, terminal = pty.fork()
    if pid == 0:
        _live(orders)
    return pid, terminal


def _live(orders: dict[str, Any]) -> NoReturn:
    code: object = 1
    try:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        # Where the tests run as a background job the signal is ignored, and children inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(orders["environment"])
        os.chdir(orders["folder"])
        sys.argv = ["caesura", *orders["arguments"]]
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
        cli.main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # noqa: BLE001 - shown in the terminal
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def _serve(tests: socket.socket) -> None:
    for line in tests.makefile():
        orders = json.loads(line)
        if "pid" in orders:
            _, status = os.waitpid(orders["pid"], 0)
            tests.sendall(str(os.waitstatus_to_exitcode(status)).encode())
            continue
        pid, terminal = _fork(orders)
        socket.send_fds(tests, [str(pid).encode()], [terminal])
        os.close(terminal)


if __name__ == "__main__":
    import caesura.cli.chat
    import caesura.cli.commands  # noqa: F401
    from caesura import cli

    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
