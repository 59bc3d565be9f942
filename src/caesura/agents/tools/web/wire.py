"""The bytes of a response as they come from the network: bounded, and in small pieces.

A server can send a response in a form that takes long to understand: bodies of tiny chunks, headers without
end, interim responses (103 Early Hints) without end. The work on one piece is small, and other tasks run
between two pieces.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import httpcore

from caesura.agents.tools.web.body import TooLarge, Unreadable

#: Bytes that are taken from the network at once.
_PIECE = 4096
#: Lines and bytes of all that comes before a body, interim responses included.
LINES = 100
_HEAD = 64 * 1024
#: Bytes in which no part of a body comes, such as the lines after its last chunk.
_BETWEEN = 8 * 1024
#: A body may have this many chunks of any size. Beyond them, a chunk has to have so many bytes on average.
_CHUNKS, _AVERAGE = 4096, 256
_END = re.compile(rb"\n\r?\n")
_INTERIM = re.compile(rb"HTTP/\d\.\d 1\d\d")


class Network(httpcore.AsyncNetworkBackend):
    """Connects to any address. `most` is the largest body that is wanted, in bytes."""

    def __init__(self, most: int) -> None:
        self._most, self._plain = most, httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol of httpcore
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._plain.connect_tcp(host, port, timeout, local_address, socket_options)
        return Wire(stream, self._most)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Wire(httpcore.AsyncNetworkStream):
    """A connection. A request begins a new exchange, which is counted from zero."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, most: int) -> None:
        self._stream, self._most = stream, most
        self._begin()

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol of httpcore
    ) -> bytes:
        await asyncio.sleep(0)  # what is buffered below is given without a wait
        data = await self._stream.read(min(max_bytes, _PIECE), timeout)
        self._received += len(data)
        if self._received > self._most + self._most // 4 + _HEAD:  # with room for what divides the chunks
            raise TooLarge
        if self._in_head:
            self._count_head(data)
        else:
            self._count_body(data)
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol of httpcore
    ) -> None:
        if buffer:
            self._begin()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol of httpcore
    ) -> httpcore.AsyncNetworkStream:
        return Wire(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._most)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def chunk_came(self) -> None:
        """A part of the body was understood."""
        self._between = 0

    def _begin(self) -> None:
        self._received = self._lines = self._between = 0
        self._in_head, self._head = True, bytearray()

    def _count_head(self, data: bytes) -> None:
        looked_at = max(len(self._head) - 2, 0)
        self._head += data
        while (end := _END.search(self._head, looked_at)) is not None:
            interim, looked_at = _INTERIM.match(self._head) is not None, 0
            self._count_lines(end.end())
            del self._head[: end.end()]
            if not interim:
                self._in_head, self._head = False, bytearray()
                return
        if self._lines + self._head.count(b"\n") > LINES or self._received > _HEAD:
            raise _long_head()

    def _count_lines(self, end: int) -> None:
        self._lines += self._head.count(b"\n", 0, end)
        if self._lines > LINES:
            raise _long_head()

    def _count_body(self, data: bytes) -> None:
        self._between += len(data)
        if self._between > _BETWEEN:
            raise Unreadable("the response is not divided into chunks as it should be")


async def chunks(parts: AsyncIterator[bytes], extensions: Mapping[str, Any]) -> AsyncIterator[bytes]:
    """The parts of a body. `extensions` are those of the response."""
    connection: Wire = extensions["network_stream"]
    count = received = 0
    async for part in parts:
        connection.chunk_came()
        count, received = count + 1, received + len(part)
        if count > _CHUNKS + received // _AVERAGE:
            raise Unreadable("the response consists of too many tiny chunks")
        yield part


def _long_head() -> Unreadable:
    return Unreadable(f"the headers of the response have more than {LINES} lines or {_HEAD:,} bytes")
