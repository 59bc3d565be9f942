"""A proxy that cuts each connection after a number of bytes from the server."""

import asyncio
from itertools import cycle
from types import TracebackType
from typing import Self


class Proxy:
    """`cuts` are used in rotation: the number of bytes after which a connection is cut without a clean
    end."""

    def __init__(self, port: int, cuts: tuple[int, ...]) -> None:
        self._port, self._cuts = port, cycle(cuts)
        self._server: asyncio.Server
        self._open: set[asyncio.Task[None]] = set()
        self.count = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.count += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        above, below = await asyncio.open_connection("127.0.0.1", self._port)
        asking = asyncio.create_task(_pump(reader, below))
        try:
            await _pump(above, writer, next(self._cuts))
        finally:
            asking.cancel()
            await asyncio.wait([asking])
            for end in (writer, below):
                end.transport.abort()
                end.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter, most: int = 1 << 60) -> None:
    try:
        while most and (data := await source.read(min(most, 65_536))):
            most -= len(data)
            target.write(data)
            await target.drain()
    except ConnectionError:
        pass  # the other side has already cut it
