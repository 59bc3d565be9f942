"""The server process: uvicorn. At shutdown it first releases the runs, then cuts the streams, then ends."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from caesura.core.errors import StartupError
from caesura.http.addresses import Addresses
from caesura.http.connections import Connections, room
from caesura.http.protocol import Protocol
from caesura.http.sse import Outlet

logger = logging.getLogger(__name__)

#: Seconds for everything after the grace period of the runs.
_LATE = 5.0
#: Seconds until the process ends after a second signal.
_HURRY = 2.0
#: The maximum number of connections that wait to be accepted.
_BACKLOG = 2048

Drain = Callable[[float], Awaitable[None]]


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
        connections: Connections | None = None,
        addresses: Addresses = "full",
    ) -> None:
        """`drain` releases all runs within the given seconds; `abort` cuts all streams. `proxies` are trusted
        to name the client. `addresses` is how much of an address is logged."""
        most, reserve = room()
        self._connections = Connections(most, most, proxies) if connections is None else connections
        own = {
            "silence": silence,
            "patience": patience,
            "idle": min(Protocol.idle, patience),
            "limits": self._connections,
            "addresses": addresses,
        }
        protocol = type("Protocol", (Protocol,), own)
        super().__init__(
            uvicorn.Config(
                Outlet(app),
                http=protocol,
                ws="none",
                # At most this many connections may be accepted at once, before any of them can be refused.
                backlog=min(_BACKLOG, reserve // 2),
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
            self._captured_signals.clear()  # the signal was obeyed: this is a clean exit

    async def on_tick(self, counter: int) -> bool:
        """Called by uvicorn ten times a second."""
        if counter % 10 == 0:
            self._connections.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logger.info("shutting down")
        await self._release_runs()
        self._abort()
        await super().shutdown(sockets)

    async def _release_runs(self) -> None:
        """Release the runs. Storage that does not answer must not keep the process alive. Another process
        claims the remaining runs when their leases expire."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._grace + _LATE / 2
        draining = asyncio.ensure_future(self._drain(self._grace))
        while not draining.done() and not self.force_exit and loop.time() < deadline:
            await asyncio.wait([draining], timeout=0.1)
        if not draining.done():
            logger.warning("not all runs were released: others claim the rest when the leases expire")
            draining.cancel()
        elif error := draining.exception():
            logger.error("runs could not be released", exc_info=error)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._captured_signals.append(sig)
        if self.should_exit:
            self.force_exit = True
            end_in(_HURRY, 128 + sig)
        else:
            end_in(self._grace + _LATE, 0)
        self.should_exit = True


def end_in(seconds: float, status: int) -> None:
    """End the process after this time, even if something in it is still running: other code may never
    return."""

    def end() -> None:
        logger.warning("a task or thread did not end in time: the process exits without waiting for it")
        os._exit(status)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def bind(host: str, port: int) -> socket.socket:
    """Open a listening socket, or raise `StartupError`, before anything else is opened."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made: Any = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host.strip("[]"), port))
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise StartupError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    made.set_inheritable(False)
    return made  # type: ignore[no-any-return]
