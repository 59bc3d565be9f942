"""A proxy on the loopback: it forwards requests, and opens tunnels."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Sock:
    """A proxy that speaks SOCKS 5. `login` is what it wants; `asked` are the places that it was asked for."""

    address: str = ""
    login: tuple[bytes, bytes] | None = None
    answer: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        method = 2 if self.login else 0
        if method not in await reader.readexactly(count):
            writer.write(b"\x05\xff")
            return writer.close()
        writer.write(b"\x05%c" % method)
        if self.login:
            await reader.readexactly(1)
            given = [await reader.readexactly((await reader.readexactly(1))[0]) for _ in range(2)]
            writer.write(b"\x01%c" % (tuple(given) != self.login))
        _, _, _, kind = await reader.readexactly(4)
        host = (
            ".".join(map(str, await reader.readexactly(4)))
            if kind == 1
            else (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        )
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append((host, port))
        writer.write(b"\x05%c\x00\x01\x00\x00\x00\x00\x00\x00" % self.answer)
        if self.answer:
            return writer.close()
        there = await asyncio.open_connection(host, port)
        for task in (_pour(reader, there[1]), _pour(there[0], writer)):
            running = asyncio.ensure_future(task)
            self._tasks.add(running)
            running.add_done_callback(self._tasks.discard)
        return None


@asynccontextmanager
async def sock() -> AsyncIterator[Sock]:
    found = Sock()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield found
    finally:
        server.close()


@dataclass
class Middleman:
    """`heads` are the heads of what it was asked for. `credentials` are what it wants in the header
    Proxy-Authorization; `status` is its answer to requests for a tunnel."""

    address: str = ""
    heads: list[str] = field(default_factory=list)
    credentials: str | None = None
    status: int = 200
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        method, target, _ = head.split(" ", 2)
        wanted = f"Proxy-Authorization: {self.credentials}"
        if self.credentials is not None and wanted not in head:
            writer.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            return writer.close()
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            if self.status != 200:
                writer.write(f"HTTP/1.1 {self.status} No\r\n\r\n".encode())
                return writer.close()
            there = await asyncio.open_connection(host, int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            parts = urlsplit(target)
            there = await asyncio.open_connection(parts.hostname, parts.port)
            there[1].write(head.replace(target, parts.path, 1).encode())
        for task in (_pour(reader, there[1]), _pour(there[0], writer)):
            running = asyncio.ensure_future(task)
            self._tasks.add(running)
            running.add_done_callback(self._tasks.discard)
        return None


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def middleman(secure: ssl.SSLContext | None = None) -> AsyncIterator[Middleman]:
    found = Middleman()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0, ssl=secure)
    found.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield found
    finally:
        server.close()
