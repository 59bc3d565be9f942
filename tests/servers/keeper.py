"""The process that owns one server and its folder, and outlives the tests just long enough to clean up.

It is told what to do in JSON lines on its standard input. When that ends, be it because the tests are done
or because they were killed, it stops the server, removes the folder and leaves.
"""

import ctypes
import json
import os
import pwd
import shutil
import subprocess
import sys
from typing import Any, TextIO

PR_SET_PDEATHSIG = 1
PATIENCE = 60.0


class Keeper:
    """One folder, and at most one server running in it."""

    def __init__(self, folder: str, owner: int | None, last_signal: int) -> None:
        self.folder = folder
        self.owner = owner
        self.last_signal = last_signal
        self.server: subprocess.Popen[bytes] | None = None

    def run(self, argv: list[str]) -> dict[str, Any]:
        """Run a program to its end."""
        done = self._spawn(argv).wait()
        return {"code": done}

    def start(self, argv: list[str]) -> dict[str, Any]:
        """Start the server."""
        self.server = self._spawn(argv)
        return {"pid": self.server.pid}

    def poll(self) -> dict[str, Any]:
        """Say whether the server is running."""
        return {"code": self.server.poll() if self.server else 0}

    def stop(self, number: int) -> dict[str, Any]:
        """Signal the server, and see it gone."""
        if self.server is None:
            return {"code": 0}
        if self.server.poll() is None:
            self.server.send_signal(number)
        try:
            code = self.server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.server.kill()
            code = self.server.wait()
        self.server = None
        return {"code": code}

    def close(self) -> None:
        """Leave nothing behind."""
        self.stop(self.last_signal)
        # A server's children may still be writing their last when its first process is gone.
        for _ in range(5):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not os.path.exists(self.folder):
                return

    def _spawn(self, argv: list[str]) -> subprocess.Popen[bytes]:
        with open(os.path.join(self.folder, "log"), "ab") as log:
            return subprocess.Popen(
                argv,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self.owner,
                group=_group(self.owner),
                extra_groups=None if self.owner is None else [],
                preexec_fn=self._die_with_keeper,
            )

    def _die_with_keeper(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, self.last_signal)


def _group(owner: int | None) -> int | None:
    return None if owner is None else pwd.getpwuid(owner).pw_gid


def serve(keeper: Keeper, orders: TextIO, answers: TextIO) -> None:
    """Obey until the orders end."""
    try:
        for line in orders:
            order = json.loads(line)
            answer = getattr(keeper, order.pop("do"))(**order)
            print(json.dumps(answer), file=answers, flush=True)
    finally:
        keeper.close()


if __name__ == "__main__":
    folder, owner, last_signal = sys.argv[1:]
    serve(Keeper(folder, int(owner) if owner else None, int(last_signal)), sys.stdin, sys.stdout)
