"""A process that gets no descriptors but those it is meant to have.

The event loop's own way to start one hands on every descriptor that is not marked to be closed, such as those
that the server got from whoever started it. `subprocess` closes all the others in the new process.
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
    """It has an empty environment, an empty standard input, and a session of its own. What it writes, errors
    too, is read from `output`."""

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
        """`descriptors` are handed on, besides the standard ones."""
        child = cls(_started(command, descriptors))
        try:
            await child._connect()
        except BaseException:
            child.kill()
            raise
        return child

    @property
    def code(self) -> int | None:
        """None while it runs."""
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        """The process and all of its group."""
        if not self._ended.done():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """No longer read what it writes."""
        if self._pipe is not None:
            self._pipe.close()

    async def _connect(self) -> None:
        def protocol() -> asyncio.StreamReaderProtocol:
            return asyncio.StreamReaderProtocol(self.output)

        self._pipe, _ = await self._loop.connect_read_pipe(protocol, self._process.stdout)

    def _end(self) -> None:
        code = self._process.poll()
        if code is not None:
            self._loop.remove_reader(self._handle)
            os.close(self._handle)
            self._ended.set_result(code)


def _started(command: Sequence[str], descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - what it runs is the sandbox
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={},
        pass_fds=descriptors,
    )


def keep_descriptors() -> None:
    """Programs that this process starts get none of the descriptors that it has now, except the standard
    ones."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the one of this list is closed already
                os.set_inheritable(int(name), False)
