"""The server process: uvicorn, which first lets go of the runs, then cuts the streams, then ends."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from caesura.core.errors import StartupError
from caesura.http.sse import TRANSPORT, Outlet

logger = logging.getLogger(__name__)

Drain = Callable[[float], Awaitable[None]]


class Protocol(HttpToolsProtocol):
    """Hands the transport on to streams, which must be able to cut a connection, and waits for a request no
    longer than it may take."""

    #: Seconds after which the system gives up on a peer that confirms nothing.
    silence = 30.0
    #: Seconds in which a request must have come, to its last byte.
    patience = 60.0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late = self.loop.call_later(self.patience, transport.close)
        found = transport.get_extra_info("socket")
        if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
            option = getattr(socket, "TCP_USER_TIMEOUT", None)
            if option is not None:
                found.setsockopt(socket.IPPROTO_TCP, option, int(self.silence * 1000))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {TRANSPORT: self.transport}  # type: ignore[dict-item]
        if self._late is None:
            self._late = self.loop.call_later(self.patience, self.transport.close)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._came()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._came()

    def _came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Server(uvicorn.Server):
    def __init__(
        self,
        app: ASGIApp,
        *,
        drain: Drain,
        abort: Callable[[], None],
        grace: float,
        silence: float = Protocol.silence,
        patience: float = Protocol.patience,
        proxies: Sequence[str] = (),
    ) -> None:
        """`drain` lets go of all runs within the seconds it is given; `abort` cuts all streams. `proxies` are
        believed when they say whom they speak for."""
        protocol = type("Protocol", (Protocol,), {"silence": silence, "patience": patience})
        super().__init__(
            uvicorn.Config(
                Outlet(app),
                http=protocol,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=bool(proxies),
                forwarded_allow_ips=list(proxies),
                timeout_graceful_shutdown=5,
            )
        )
        self._drain, self._abort, self._grace = drain, abort, grace

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        with self.capture_signals():
            await self._serve(sockets)
            self._captured_signals.clear()  # it was obeyed: this is an end in good order

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logger.info("shutting down")
        await self._let_go()
        self._abort()
        await super().shutdown(sockets)

    async def _let_go(self) -> None:
        draining = asyncio.ensure_future(self._drain(self._grace))
        while not draining.done() and not self.force_exit:
            await asyncio.wait([draining], timeout=0.1)
        if not draining.done():
            draining.cancel()
            await asyncio.wait([draining])
            await self._drain(0)
        elif error := draining.exception():
            logger.error("runs could not be let go", exc_info=error)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._captured_signals.append(sig)
        self.force_exit = self.should_exit
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, or `StartupError`: before anything else is opened."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made: Any = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host.strip("[]"), port))
        made.listen(2048)
    except OSError as error:
        made.close()
        raise StartupError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    made.set_inheritable(False)
    return made  # type: ignore[no-any-return]
