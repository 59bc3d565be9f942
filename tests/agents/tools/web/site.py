"""A web server for tests that can answer anything, byte for byte."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from caesura.agents.context import RunContext
from caesura.core.language import Language

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def response(
    body: bytes | str = b"", status: str = "200 OK", kind: str | None = "text/html", **headers: str
) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", "Connection: close"]
    lines += [f"Content-Type: {kind}"] if kind is not None else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def redirect(location: str, status: str = "302 Found") -> bytes:
    return response(status=status, Location=location)


def run_of(person: str = "alice", language: Language = "en") -> RunContext:
    return RunContext("conversation", "turn", person, "agent", language, Path("/nowhere"))


class Site:
    """Answers by path, or with 404. `heads` has the requests, with their bodies; `gone` is set when
    a client that was kept waiting has closed its connection."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.heads: list[str] = []
        self.opened = asyncio.Event()
        self.gone = asyncio.Event()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def paths(self) -> list[str]:
        return [head.split()[1] for head in self.heads]

    async def left(self) -> None:
        """Wait until the client of the exchange that is under way is gone. The next one may follow."""
        await self.gone.wait()
        self.gone.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                (int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")),
                0,
            )
            self.heads.append(head + (await reader.readexactly(length)).decode())
            self.opened.set()
            answer = self.answers.get(head.split()[1].partition("?")[0], response(status="404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
                await reader.read()
        self.gone.set()
        writer.close()


async def silence(writer: asyncio.StreamWriter) -> None:
    """Accept the request, and say nothing."""


def trickle(head: bytes, piece: bytes) -> Answer:
    """The head at once, then a piece every hundredth of a second, for ever."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.transport.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)

    return answer
