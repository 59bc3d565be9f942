"""What every throw-away server has in common: a folder, a port, and a keeper."""

import json
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Any, Self

KEEPER = Path(__file__).with_name("keeper.py")
# Below the kernel's outgoing ports: a client that knocks on a stopped server's port in that range may
# be given the very same port to knock from, and so reach itself.
PORTS = range(20_000, 32_000)
PATIENCE = 60.0
# Files that are in memory are synced in no time; no test here pulls the plug of the machine.
MEMORY = Path("/dev/shm")
ROOM = 1 << 30


class DidNotStart(Exception):
    """The server's process ended, or never answered."""


class Server(ABC):
    """A server the tests start, break, bring back and stop as they please."""

    name: str
    graceful: signal.Signals = signal.SIGTERM
    brutal: signal.Signals = signal.SIGKILL

    def __init__(self) -> None:
        self.host = "127.0.0.1"
        self.port = 0
        self._owner = _owner()
        self._lock = threading.RLock()
        self.folder = self._make_folder()
        self._keeper = subprocess.Popen(
            [
                sys.executable,
                "-S",
                str(KEEPER),
                str(self.folder),
                str(self._owner or ""),
                str(int(self.brutal)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # A Ctrl-C in the terminal is for the tests; they stop the servers in their own order.
            start_new_session=True,
        )

    @classmethod
    def start(cls, *args: Any) -> Self:
        """A running server."""
        server = cls(*args)
        try:
            server.prepare()
            server._open()
        except BaseException:
            server.stop()
            raise
        return server

    @property
    @abstractmethod
    def url(self) -> str:
        """Where to connect."""

    @abstractmethod
    def command(self) -> list[str]:
        """How to run the server in the foreground."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether a client gets through."""

    def prepare(self) -> None:  # noqa: B027 - most have nothing to do
        """Do what is done once, before the first start."""

    @property
    def running(self) -> bool:
        """Whether the process is alive and answers."""
        return self._tell("poll")["code"] is None and self.answers()

    def kill(self) -> None:
        """End it without ceremony; it stays away until `restart`."""
        self._tell("stop", number=int(self.brutal))

    def pause(self) -> None:
        """End it in good order; it stays away until `restart`."""
        self._tell("stop", number=int(self.graceful))

    def restart(self) -> None:
        """Stop it if it runs, and start it at the same address with the same folder."""
        with self._lock:
            self.pause()
            self._launch()

    def stop(self) -> None:
        """End it for good and remove its folder."""
        with self._lock:
            if self._keeper.stdin is None or self._keeper.stdin.closed:
                return
            if self._keeper.poll() is None:
                self.pause()
            self._keeper.communicate()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def run(self, argv: list[str]) -> None:
        """Run a program in the folder, as the server's user."""
        code = self._tell("run", argv=argv)["code"]
        if code:
            raise DidNotStart(f"{argv[0]} ended with {code}\n{self._log()}")

    def _open(self) -> None:
        # Another worker may take the port between the look and the start.
        for attempt in range(5):
            self.port = free_port()
            try:
                return self._launch()
            except DidNotStart:
                if attempt == 4:
                    raise
        return None

    def _launch(self) -> None:
        self._tell("start", argv=self.command())
        deadline = time.monotonic() + PATIENCE
        while self._tell("poll")["code"] is None:
            if self.answers():
                return
            if time.monotonic() > deadline:
                self.kill()
                break
            time.sleep(0.02)
        raise DidNotStart(f"{self.name} did not start\n{self._log()}")

    def _tell(self, do: str, **what: Any) -> dict[str, Any]:
        with self._lock:
            stdin, stdout = self._keeper.stdin, self._keeper.stdout
            if stdin is None or stdout is None or stdin.closed:
                raise DidNotStart(f"{self.name} was stopped")
            stdin.write(json.dumps({"do": do, **what}) + "\n")
            stdin.flush()
            answer: dict[str, Any] = json.loads(stdout.readline() or '{"code": -1}')
            return answer

    def _make_folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix=f"caesura-{self.name.lower()}-", dir=_place(self._owner)))
        if self._owner is not None:
            os.chown(folder, self._owner, -1)
        return folder

    def _log(self) -> str:
        log = self.folder / "log"
        return log.read_text(errors="replace")[-4000:] if log.exists() else "(it left no log)"


def free_port() -> int:
    """A loopback port nobody listens on now."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def _place(owner: int | None) -> Path | None:
    """Where the folders are made; None is where this system makes its temporary ones."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        return MEMORY
    # root's own temporary folder may be closed to the user the server runs as
    return None if owner is None else Path("/tmp")


def _owner() -> int | None:
    """The user to run as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    raise DidNotStart("there is no user `postgres` or `nobody` to run the servers as")
