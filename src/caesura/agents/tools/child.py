"""A child process that inherits only the file descriptors that it is meant to have.

asyncio's subprocess support passes on every descriptor that is not marked close-on-exec, such as those that
the server itself inherited. `subprocess` closes all others in the new process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Self


class Child:
    """A process with an empty environment, an empty standard input, and its own session. Its standard output
    and errors are read from `output`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self.pid = process, process.pid
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._handle = os.pidfd_open(process.pid)
        self._loop.add_reader(self._handle, self._end)
        self._pipe: asyncio.ReadTransport | None = None
        self.output = asyncio.StreamReader()

    @classmethod
    async def start(cls, command: Sequence[str], descriptors: Sequence[int] = ()) -> Self:
        """Start a process. It inherits `descriptors` in addition to the standard ones."""
        child = cls(_started(command, descriptors))
        try:
            await child._connect()
        except BaseException:
            child.kill()
            raise
        return child

    @property
    def code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        """Kill the process and its whole process group."""
        if not self._ended.done():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Stop reading the output of the process."""
        if self._pipe is not None:
            self._pipe.close()

    async def _connect(self) -> None:
        def protocol() -> asyncio.StreamReaderProtocol:
            return asyncio.StreamReaderProtocol(self.output)

        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        with self._process.stdout as output:
            # uvloop closes the descriptor, and then the file object too. By then another thread may have
            # opened a file, such as the database, under the same number: only one of the two may close it.
            once = not isinstance(self._loop, asyncio.SelectorEventLoop)
            pipe = open(os.dup(output.fileno()), "rb", buffering=0, closefd=not once)  # noqa: SIM115, ASYNC230
        self._pipe, _ = await self._loop.connect_read_pipe(protocol, pipe)

    def _end(self) -> None:
        code = self._process.poll()
        if code is not None:
            self._loop.remove_reader(self._handle)
            os.close(self._handle)
            self._ended.set_result(code)


def _started(command: Sequence[str], descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - what it runs is our own: the sandbox, the reader of pages
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={},
        pass_fds=descriptors,
    )


def unnamed_file(data: bytes) -> int:
    """The descriptor of a file in memory with this content, for a child to read."""
    descriptor = os.memfd_create("caesura", os.MFD_CLOEXEC)
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def keep_descriptors() -> None:
    """Mark all current descriptors, except the standard ones, so that programs started by this process do not
    inherit them."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the descriptor of this listing is already closed
                os.set_inheritable(int(name), False)
