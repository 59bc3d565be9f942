"""Server-sent events: a response that sends frames of bytes and monitors its connection.

One coroutine sends. Another, the keeper, notices that the reader has left, pings when nothing else is sent,
and gives up on a reader that reads nothing. There is no work per event.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastapi import Response
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.types import ASGIApp, Receive, Scope, Send

from caesura.core.errors import CaesuraError, TooManyRequests
from caesura.http import backlog
from caesura.http.headers import USER
from caesura.http.late import LateText

if TYPE_CHECKING:
    from caesura.http.tokens import Access

logger = logging.getLogger(__name__)

#: The ASGI extension under which a server that can cut connections passes its transport on.
TRANSPORT = "caesura.transport"
#: Set beside `TRANSPORT` while an event stream is sent, which monitors its reader itself.
STREAMS = "caesura.streams"
#: The key of the scope for the `Access` of the request.
HOLDER = "caesura.holder"
_OUTLET = "caesura.outlet"
#: The member of a documented stream with the schemas of its data, which belong to the components.
SCHEMAS = "x-schemas"
_REFERENCE = "#/components/schemas/{model}"
#: Seconds after which a person with too many streams may retry.
_RETRY = 5
PING = b": ping\n\n"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
]


def frame(id: int | str, event: str, data: bytes) -> bytes:
    """One event. `data` is a single line."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (str(id).encode(), event.encode(), data)


def documented(
    description: str = "",
    names: Iterable[str] = (),
    models: Callable[[], Mapping[str, type[BaseModel]]] | None = None,
) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that streams these events, for the OpenAPI document. `models` gives those of
    the data of each event, by its name, in place of the names alone."""

    def write() -> dict[str, Any]:
        content = _content(models()) if models else {"schema": schema(names)}
        return {
            "description": f"Server-sent events. {description}".strip(),
            "content": {"text/event-stream": content},
        }

    return {200: LateText(write), 204: {"description": "Everything was sent, and nothing more will come"}}


def _content(models: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    found = [(model, "serialization") for model in models.values()]
    named, parts = models_json_schema(found, ref_template=_REFERENCE)  # type: ignore[arg-type]
    data = {name: named[model, "serialization"] for name, model in models.items()}
    return {"schema": {"oneOf": [_one(name, data[name]) for name in data]}, SCHEMAS: parts["$defs"]}


def schema(names: Iterable[str] = ()) -> dict[str, Any]:
    """One event of a stream."""
    event: dict[str, Any] = {"type": "string"}
    known = list(names)
    data = {"type": "string", "contentMediaType": "application/json"}
    fields = {"id": {"type": "string"}, "event": event | ({"enum": known} if known else {}), "data": data}
    return {"type": "object", "properties": fields}


def _one(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The event of this name, whose data is JSON of this form."""
    text = {"type": "string", "contentMediaType": "application/json", "contentSchema": dict(data)}
    event = {"type": "string", "const": name}
    return {"type": "object", "properties": {"id": {"type": "string"}, "event": event, "data": text}}


class EventStreams:
    """The open streams of this process."""

    def __init__(self, ping: float = 15.0, ttl: float = 30.0, each: int = 100) -> None:
        """`ping` is how many seconds a stream may be silent, `ttl` how many seconds a reader may read
        nothing, and `each` how many streams one person may have."""
        self.ping, self.ttl, self._each = ping, ttl, each
        self._open: set[EventStream] = set()
        #: How many streams each person has, including those that are about to open.
        self._people: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def response(
        self, frames: AsyncGenerator[bytes, None], headers: Mapping[str, str] | None = None
    ) -> EventStream:
        """A response that sends these frames, joining several if they are ready."""
        return EventStream(frames, self, headers or {})

    def held(self) -> list[tuple[EventStream, Access]]:
        """The streams of authenticated requests, with their access."""
        return [(stream, stream.holder) for stream in self._open if stream.holder is not None]

    def abort(self) -> None:
        """Cut every stream, so that its reader reconnects: a clean end would mean that everything was
        sent."""
        for stream in list(self._open):
            stream.abort()

    @contextmanager
    def room(self, user_id: str) -> Iterator[None]:
        """Reserve a stream for this person, or raise `TooManyRequests`."""
        if self._people[user_id] >= self._each:
            raise TooManyRequests(_RETRY, "too many open streams")
        self._people[user_id] += 1
        try:
            yield
        finally:
            self._left(user_id)

    def opened(self, stream: EventStream) -> None:
        self._open.add(stream)
        if stream.user_id is not None:
            self._people[stream.user_id] += 1

    def closed(self, stream: EventStream) -> None:
        self._open.discard(stream)
        if stream.user_id is not None:
            self._left(stream.user_id)

    def _left(self, user_id: str) -> None:
        self._people[user_id] -= 1
        if not self._people[user_id]:
            del self._people[user_id]


class EventStream(Response):
    """The generator is always closed, however the connection ends, so that it releases its resources."""

    media_type = "text/event-stream"

    def __init__(
        self, frames: AsyncGenerator[bytes, None], streams: EventStreams, headers: Mapping[str, str]
    ) -> None:
        self.status_code = 200
        self.background = None
        own = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self.raw_headers = [*HEADERS, *own]
        self._frames, self._streams = frames, streams
        self.holder: Access | None = None
        self._transport: asyncio.Transport | None = None
        self._main: asyncio.Task[Any] | None = None
        self._sending = False
        self._sent_at = 0.0
        self._sent = 0
        self._over = self._cut = False
        self.user_id: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        extensions = scope.setdefault("extensions", {})
        extensions[STREAMS] = True
        self._transport = extensions.get(TRANSPORT)
        self.holder = scope.get(HOLDER)
        self.user_id = scope.get(USER)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if (outlet := scope.get(_OUTLET)) is not None:
            outlet.append(self)
        else:
            await self.run(receive, send)

    async def run(self, receive: Receive, send: Send) -> None:
        """Send the body until it ends or the reader has left."""
        self._main = asyncio.current_task()
        self._streams.opened(self)
        keeper = asyncio.create_task(self._keep(receive, send))
        try:
            await self._send_all(send)
        except asyncio.CancelledError:
            if not self._over or self._main is None:
                raise  # cancelled by somebody else: not by the keeper, not by a shutdown
            self._main.uncancel()
        except CaesuraError as error:
            logger.warning("a stream was cut: %s", error)
            self.abort()
        finally:
            keeper.cancel()
            self._streams.closed(self)
            await self._frames.aclose()
        if self._cut and self._transport is not None:
            await left(receive)  # once the server has noticed it too, it logs no error

    def abort(self) -> None:
        """Cut the stream: the reader sees that it is incomplete, and reconnects."""
        if self._over:
            return
        self._over = self._cut = True
        if self._transport is not None:
            self._transport.abort()
        if self._main is not None and self._main is not asyncio.current_task():
            self._main.cancel()

    async def _send_all(self, send: Send) -> None:
        clock = asyncio.get_running_loop().time
        self._sent_at = clock()
        async for piece in self._frames:
            self._sending = True
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            self._sending, self._sent_at = False, clock()
            self._sent += len(piece)
            del piece  # a waiting reader holds no events
        self._over = True
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _keep(self, receive: Receive, send: Send) -> None:
        """Wait until the reader leaves, or reads nothing for too long."""
        step = min(self._streams.ping, self._streams.ttl)
        taken, since = -math.inf, asyncio.get_running_loop().time()  # responses before it may be unread
        while not await left(receive, step):
            now = asyncio.get_running_loop().time()
            held = self._transport.get_write_buffer_size() if self._transport is not None else 0
            if held and self._transport is not None:
                held += backlog.in_system(self._transport)
            if held == 0 and not self._sending:
                since, step = now, await self._ping(send, now)
            elif self._sent - held > taken:
                taken, since = self._sent - held, now
            elif now - since >= self._streams.ttl:
                logger.info("a reader that takes nothing was dropped")
                self.abort()
                return
        if not self._over and self._main is not None:
            self._over = True
            self._main.cancel()

    async def _ping(self, send: Send, now: float) -> float:
        """Ping if nothing was sent for a while. Returns how long to wait before the next check."""
        longest = min(self._streams.ping, self._streams.ttl)
        left = self._streams.ping - (now - self._sent_at)
        if left > 0.01:
            return min(left, longest)
        self._sent_at = now
        await send({"type": "http.response.body", "body": PING, "more_body": True})
        return longest


class Outlet:
    """Runs a stream after the application has returned, so that the layers that made the response are not
    kept in memory, or passed through, while the stream lasts. ASGI middleware, the outermost."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = {**scope}
        found: list[EventStream] = []
        scope[_OUTLET] = found
        await self._app(scope, receive, send)
        if found:
            scope.clear()
            scope.update(known)
            del known
            await found.pop().run(receive, send)


async def left(receive: Receive, within: float | None = None) -> bool:
    """Wait for the reader to leave. False if it has not left in this time."""
    try:
        async with asyncio.timeout(within):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True
