"""Sends requests over raw sockets, in the manner that each request specifies."""

import asyncio
import socket
import struct
from contextlib import suppress

from tests.hostile import answer
from tests.hostile.answer import Answer
from tests.hostile.bodies import MEBIBYTE
from tests.hostile.request import Request

PATIENCE = 90.0
_MOMENT = 0.15
_GONE = (ConnectionError, asyncio.IncompleteReadError)


class NoAnswer(Exception):
    """The server should have responded and has not."""


class Closed(NoAnswer):
    """The server closed the connection instead of responding."""


class Connection:
    """Keeps its socket for the next request as long as the last request left it usable."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, request: Request) -> list[Answer]:
        """The responses: one for each request, or fewer if the server closed the connection."""
        if request.manner != "whole" or request.raw is not None:
            self.close()
        kept = self._writer is not None
        try:
            return await self._exchange(request)
        except Closed:
            if not kept:
                raise
            # The server may close an idle connection at the moment in which it is used again.
            return await self._exchange(request)

    def close(self, hard: bool = False) -> None:
        if self._writer is not None:
            if hard:
                found: socket.socket = self._writer.get_extra_info("socket")
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.close()
        self._reader = self._writer = None

    async def _exchange(self, request: Request) -> list[Answer]:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=2**20)
        found: list[Answer] = []
        within = _MOMENT if request.manner == "short" else PATIENCE
        try:
            async with asyncio.timeout(within):
                await self._write(request)
                if request.manner != "cut":
                    await self._read(request, found)
        except TimeoutError:
            self.close()
            if request.manner != "short":
                raise NoAnswer(f"no answer within {within} s") from None
        except _GONE as gone:
            self.close()
            if _owed(request, found):
                raise Closed(f"the connection ended after {len(found)} answers: {gone!r}") from None
        if request.manner in ("cut", "short"):
            self.close(hard=request.part < 0.5)
        return found

    async def _write(self, request: Request) -> None:
        assert self._writer is not None
        data = b"".join(item.message for item in (request, *request.then))
        if request.manner == "cut":
            data = data[: int(len(data) * request.part)]
        if request.manner == "slow":
            for start in range(0, len(data), step := max(len(data) // 5, 1)):
                self._writer.write(data[start : start + step])
                await asyncio.sleep(0.1)
        else:
            self._writer.write(data)
        if not request.large:
            await self._writer.drain()

    async def _read(self, request: Request, found: list[Answer]) -> None:
        assert self._reader is not None
        for item in (request, *request.then):
            got = await answer.read(self._reader, item.method)
            if got.streams:
                found.append(Answer(got.status, got.headers, await self._begin(item)))
                self.close(hard=len(found[-1].body) % 2 == 0)
                return
            found.append(got)
            if got.closes or got.status == 101 or request.raw is not None:
                self.close()
                return

    async def _begin(self, request: Request) -> bytes:
        """The beginning of a stream: the reader leaves in the middle, unless the stream ends soon."""
        assert self._reader is not None
        body = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(request.part * 0.2):
                while piece := await self._reader.read(2**16):
                    body += piece
        return body


def _owed(request: Request, found: list[Answer]) -> bool:
    """Whether there should have been another response. The refusal of a request that is too large may be
    lost: the connection ends while the rest of the request is still being sent."""
    if request.manner not in ("whole", "slow") or len(request.message) > MEBIBYTE:
        return False
    return not (found and found[-1].closes)
