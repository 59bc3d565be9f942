"""One connection to an MCP server, from its opening to its end. A task of its own enters and leaves it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from caesura import __version__
from caesura.agents.mcp import exchange, failures, http, requests
from caesura.agents.mcp.allowance import Allowance
from caesura.agents.mcp.exchange import Exchange
from caesura.agents.mcp.failures import Away, Forgotten, Unreadable
from caesura.agents.mcp.shares import Share
from caesura.agents.mcp.sieve import sifted
from caesura.agents.mcp.stdio import Child
from caesura.agents.spec import McpServer

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp.client.session import ClientSession

T = TypeVar("T")

#: Seconds in which a server must answer for the first time.
OPENING = 30.0
#: Seconds after which a session looks whether it is still wanted.
_LOOK = 15.0
#: Seconds for a call to end after its connection has.
_SETTLING = 1.0
#: Seconds for a connection to close by itself, and after it was told to.
_CLOSING, _ENDING = 4.0, 4.0
#: With these an HTTP server says that a key is missing or wrong.
_DENIED = (401, 403)
#: The version of the protocol before another one is agreed.
_VERSION = "2025-11-25"


class Session:
    """`ended` is why the connection is gone; None while it is being opened or open."""

    def __init__(
        self,
        entry: McpServer,
        environ: Mapping[str, str],
        share: Share,
        changed: Callable[[], None],
        wanted: Callable[[], bool],
    ) -> None:
        """`changed` is called when the server says that its tools have changed. A session that is no longer
        `wanted` closes."""
        self._entry, self._environ, self._share = entry, environ, share
        self._changed, self._wanted = changed, wanted
        self._ready: asyncio.Future[Client | Away] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._calls: set[asyncio.Task[Any]] = set()
        self._child: Child | None = None
        self._refused: str | None = None
        self._abandoned: str | None = None
        self._allowance = Allowance(self._cut_off)
        #: Those who wait for an answer.
        self._waiting = 0
        #: Why the server does not let us in, if its last answer says so.
        self.denied: str | None = None
        #: No call begins any more; the connection closes when the last one has ended.
        self._spent = False
        self.was_open = False
        #: The server was cut off, because it sent too much that nobody asked for.
        self.is_cut_off = False
        self.ended: str | None = None
        self.task = asyncio.create_task(self._keep(), name=f"mcp-{entry.name}")

    @property
    def usable(self) -> bool:
        return not self._spent and not self._over.is_set() and self.ended is None

    @property
    def reason(self) -> str:
        """Why nothing comes from the server any more."""
        died = self._child.ended if self._child is not None else None
        return self._abandoned or died or self.denied or self.ended or self._refused or "its connection ended"

    @property
    def complaint(self) -> str:
        """The last line that a process wrote on its standard error."""
        return self._child.complaint if self._child is not None else ""

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for an answer."""
        return self._waiting == 0

    async def request(self, make: Callable[[ClientSession], Coroutine[Any, Any, T]]) -> T:
        """Ask the server something, beside others. A caller that is cancelled does not wait: the server is
        told that nobody waits any more, and no more is read of its answer. Raises `Away` if the connection
        ends meanwhile, `Forgotten` if the server does not know the session, and `Unreadable`."""
        client = await asyncio.shield(self._ready)
        if isinstance(client, Away):
            raise client
        told, inside = exchange.begin()
        call = asyncio.create_task(make(client.session), context=inside)
        self._calls.add(call)
        call.add_done_callback(self._done)
        self._waiting += 1
        try:
            await asyncio.wait({call, self.task}, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                await asyncio.wait({call}, timeout=_SETTLING)
        finally:
            self._waiting -= 1
            if not call.done():
                call.cancel()
                told.end()
        if not call.done() or call.cancelled():
            raise Away(self.reason)
        try:
            return call.result()
        except Exception as error:
            await self._judge(error, told)
            raise

    async def _judge(self, error: Exception, told: Exchange) -> None:
        """Raise what this error of a request means, if it is no answer of the server."""
        if told.refused and requests.is_refused(error):
            raise Forgotten("it has forgotten the session") from error
        if requests.is_unreadable(error):
            raise Unreadable(told.fault or "its answer cannot be read") from error
        if requests.is_closed(error, told.cut):
            if not told.cut:
                await asyncio.wait({self.task}, timeout=_SETTLING)  # then it is known why
            raise Away(self.reason) from error

    def leave(self) -> None:
        """Begin no more calls on this connection, and close it when those that run have ended."""
        self._spent = True
        if not self._calls:
            self._over.set()

    def abandon(self, reason: str) -> None:
        """End the connection, and all calls on it."""
        self._abandoned = reason
        self._over.set()
        for call in self._calls:
            call.cancel()

    async def close(self) -> None:
        """Close the connection, or end the attempt to open it."""
        self._over.set()
        for call in self._calls:
            call.cancel()
        self._give_up()
        _, late = await asyncio.wait({self.task}, timeout=_CLOSING)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=_ENDING)

    def _cut_off(self, reason: str) -> None:
        self.is_cut_off = True
        self.abandon(reason)
        self._give_up()

    def _done(self, call: asyncio.Task[Any]) -> None:
        self._calls.discard(call)
        if not call.cancelled():
            call.exception()  # whoever waited for it has seen it
        if self._spent and not self._calls:
            self._over.set()

    async def _keep(self) -> None:
        clock = asyncio.get_running_loop().call_later(OPENING, self._give_up)
        try:
            # The package takes about a second to import.
            await self._share.run(_import)
            async with self._client() as client:
                clock.cancel()
                self.was_open = True
                self._ready.set_result(client)
                await self._last()
                # A server that does not answer must not keep its connection from closing.
                clock = asyncio.get_running_loop().call_later(_CLOSING, self.task.cancel)
        except asyncio.CancelledError:
            self.ended = None if self.was_open else "it did not answer in time"
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - of a foreign library
            self.ended = failures.reason(error)
        finally:
            clock.cancel()
            self.ended = self.reason
            if not self._ready.done():
                self._ready.set_result(Away(self.ended))

    async def _last(self) -> None:
        """Return when the connection is over, or nobody wants it any more."""
        while not self._over.is_set() and (self._calls or self._wanted()):
            try:
                async with asyncio.timeout(_LOOK):
                    await self._over.wait()
            except TimeoutError:
                continue

    def _refuse(self, reason: str) -> None:
        self._refused = reason

    def _answered(self, status: int) -> None:
        if status not in _DENIED:
            self.denied = None
            return
        variables = ", ".join(self._entry.headers_env.values())
        hint = "name a header with a key in headers_env"
        if variables:
            hint = f"check the value of {variables}, which headers_env names"
        self.denied = f"it refuses access with status {status} ({hint})"

    def _give_up(self) -> None:
        if not self._ready.done():
            self.task.cancel()

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        from mcp.client.client import Client
        from mcp_types import Implementation, ToolListChangedNotification

        about = Implementation(name="caesura", version=__version__)

        async def heard(message: object) -> None:
            if isinstance(message, ToolListChangedNotification):
                self._changed()

        async with (
            self._transport() as transport,
            Client(
                sifted(transport, self._version, self._share),
                cache=None,
                message_handler=heard,
                client_info=about,
            ) as client,
        ):
            yield client

    def _version(self) -> str:
        client = self._ready.result() if self._ready.done() else None
        known = client.session.protocol_version if client and not isinstance(client, Away) else None
        return known or _VERSION

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        from mcp.client.streamable_http import streamable_http_client

        entry = self._entry
        if entry.url is not None:
            headers = headers_of(entry, self._environ)
            async with http.client(
                headers, self._share, self._allowance, self._refuse, self._answered
            ) as client:
                yield streamable_http_client(entry.url, http_client=client, max_sse_event_size=None)
            return
        assert entry.command is not None  # noqa: S101 - the file was checked
        self._child = Child(
            [entry.command, *entry.args], dict(entry.env), self._share, self._allowance, self._over.set
        )
        yield self._child.streams()


def headers_of(entry: McpServer, environ: Mapping[str, str]) -> dict[str, str]:
    """The headers for a server. Raises `Away` if a variable is missing or cannot be a header."""
    found = {}
    for header, variable in entry.headers_env.items():
        value = environ.get(variable, "").strip()
        if not value:
            raise Away(f"the variable {variable} is not set")
        if not (value.isascii() and value.isprintable()):
            raise Away(f"the variable {variable} is no value of a header")
        found[header] = value
    return found


def _import() -> None:
    import mcp.client.client  # noqa: F401
