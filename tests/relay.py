"""A relay between a client and a server, which can fall silent: connections stay, nothing comes through.

It can do so at each message of the client, of which there is one for each thing that the server is asked."""

import asyncio
import ssl
import threading
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Relay:
    """Listens on a free loopback port and passes everything on to the server at `url`, until `silence` is
    called. `url` of the relay is that server's, through the relay. With `secure` the relay speaks TLS."""

    def __init__(self, url: str, secure: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        port = urlsplit(url).port
        assert port is not None
        self._port, self.url = port, url
        self._secure, self._host = secure, host
        self._passing = True
        self._writers: list[asyncio.StreamWriter] = []
        self._forgotten: list[asyncio.StreamWriter] = []
        #: What clients have sent since `watch`.
        self.asked: list[bytes] = []
        self._last = 0
        self._ready, self._over = threading.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="relay")

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(30)

    def silence(self) -> None:
        self._passing = False

    def watch(self, last: int = 0) -> None:
        """Note what clients send from now on. The message with the number `last` still arrives; then all
        connections of that time are silent for ever, as behind a router that has forgotten them."""
        self.asked, self._last = [], last

    def restore(self) -> None:
        """New connections pass again. Those from before stay silent, as behind a router that has forgotten
        them."""
        self._loop.call_soon_threadsafe(self._restore)

    def _restore(self) -> None:
        self._passing = True
        self._forgotten = list(self._writers)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with await asyncio.start_server(self._relay, self._host, 0, ssl=self._secure) as server:
            port = server.sockets[0].getsockname()[1]
            self.url = self.url.replace(f"127.0.0.1:{self._port}", f"{self._host}:{port}")
            self.url = self.url.replace("http:", "https:") if self._secure else self.url
            self._ready.set()
            await self._over.wait()
            for writer in self._writers:
                writer.transport.abort()
        await asyncio.sleep(0)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        if not self._passing:
            await self._over.wait()
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers.append(inner_writer)
        await asyncio.gather(
            self._pass(reader, inner_writer, True),
            self._pass(inner_reader, writer, False),
            return_exceptions=True,
        )

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asks: bool) -> None:
        while data := await reader.read(65_536):
            if not self._passing or writer in self._forgotten:
                continue
            writer.write(data)
            if asks:
                self.asked.append(data)
                if len(self.asked) == self._last:
                    self._restore()
        writer.close()
