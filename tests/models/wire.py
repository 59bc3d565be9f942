"""A provider's end of the wire, byte by byte: a test says what is sent, in which parts, and when it ends."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


@dataclass
class Request:
    line: str
    headers: dict[str, str]
    body: Any


Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Wire:
    """Every request gets the next answer. `gone` counts the connections that the other side has closed."""

    url: str
    requests: list[Request] = field(default_factory=list)
    answers: deque[Answer] = field(default_factory=deque)
    connections: int = 0
    gone: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    def answer(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                self.requests.append(await _request(reader))
                answer = asyncio.ensure_future(self.answers.popleft()(writer))
                closed = asyncio.ensure_future(_closed(reader))
                await asyncio.wait({answer, closed}, return_when=asyncio.FIRST_COMPLETED)
                if not answer.done():
                    answer.cancel()
                    return
                await answer
                closed.cancel()
                await asyncio.gather(closed, return_exceptions=True)
                if writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.gone.release()
            writer.close()


async def _closed(reader: asyncio.StreamReader) -> None:
    """Wait until the other side has closed the connection. A request that comes next stays unread."""
    while not reader.at_eof() and reader.exception() is None:  # noqa: ASYNC110 - nothing signals it
        await asyncio.sleep(0.002)


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *rest = head.rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value for name, value in (item.split(": ", 1) for item in rest)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(line, headers, json.loads(body) if body else None)


@asynccontextmanager
async def wire(secure: ssl.SSLContext | None = None) -> AsyncIterator[Wire]:
    found = Wire("")
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0, ssl=secure)
    found.url = f"{'https' if secure else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield found
    finally:
        server.close()


def events(*data: dict[str, Any] | str, end: bytes = b"\n") -> list[bytes]:
    """Each as an event."""
    texts = [item if isinstance(item, str) else json.dumps(item) for item in data]
    return [b"data: " + text.encode() + end + end for text in texts]


def chunked(parts: Iterable[bytes]) -> list[bytes]:
    return [b"%x\r\n%b\r\n" % (len(part), part) for part in parts]


def streams(parts: Sequence[bytes], *, pause: bool = False, ends: bool = True) -> Answer:
    """These parts of a body, each as a chunk; `pause` lets the other side read each alone."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        for part in chunked(parts):
            writer.write(part)
            if pause:
                await writer.drain()
                await asyncio.sleep(0)
        if ends:
            writer.write(END)
        else:
            writer.close()

    return answer


def hangs(*parts: bytes) -> Answer:
    """Nothing more after these parts, until the other side goes."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
        await asyncio.Event().wait()

    return answer


def says(status: int, body: dict[str, Any] | bytes, **headers: str) -> Answer:
    """A whole response."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(content)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)

    return answer


def sends(data: bytes, *, closes: bool = True) -> Answer:
    """Exactly these bytes."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        if closes:
            writer.close()

    return answer
