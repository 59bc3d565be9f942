"""One connection to a provider, over HTTP/1.1: a request goes out, its response is read as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import httptools

from caesura.models.failures import ModelError

#: The most bytes of a response's head.
HEAD_BYTES = 64 * 1024
#: The bytes of a body that may wait to be read, before the provider is made to wait. They are read together,
#: and nothing else runs meanwhile.
_UNREAD = 128 * 1024
#: The longest body that is copied behind its head.
_COPIED = 64 * 1024
#: How many seconds the rest of a response may take whose content nobody needs any more.
_LINGER = 2.0


class Line(asyncio.Protocol):
    """`free` is called when a response has been read to its end and the connection can serve another one,
    `gone` when the connection is closed."""

    def __init__(self, free: Callable[[Line], None], gone: Callable[[Line], None]) -> None:
        self.loop = asyncio.get_running_loop()
        self.used = False
        self._free, self._gone = free, gone
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def secured(self, transport: asyncio.Transport | None) -> None:
        """The connection goes on over TLS."""
        self._transport = transport

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None  # noqa: S101 - whoever has a line has waited for its connection
        return self._transport

    @property
    def is_open(self) -> bool:
        return not self._closed and not self.transport.is_closing()

    def data_received(self, data: bytes) -> None:
        if self._exchange is None:
            self.abort()  # a provider says nothing unless it was asked
            return
        self._exchange.feed(data)

    def eof_received(self) -> bool | None:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._closed = True
        if self._exchange is not None:
            self._exchange.lost()
            self._exchange = None
        self._gone(self)

    def send(self, head: bytes, body: bytes, idle_timeout: float) -> Exchange:
        exchange = Exchange(self, idle_timeout)
        self._exchange = exchange
        if len(body) <= _COPIED:
            self.transport.write(head + body)
        else:
            self.transport.writelines((head, body))
        return exchange

    def ended(self, reusable: bool) -> None:
        """The response has come to its end."""
        self._exchange = None
        self.used = True
        if reusable and self.is_open:
            self._free(self)
        else:
            self.abort()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class Exchange:
    """A response as it arrives; `answered` once a byte of it has come. The parser calls the methods whose
    names begin with `on_`."""

    def __init__(self, line: Line, idle_timeout: float) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self._line, self._idle_timeout = line, idle_timeout
        self._parser: Any = httptools.HttpResponseParser(self)
        self._in_head, self.answered = True, False
        #: How many bytes have come since the last one of the body.
        self._bare = 0
        self._unread: list[bytes] = []
        self._unread_bytes, self._paused = 0, False
        self._complete = self._reusable = self._left = False
        self._failure: ModelError | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._heard = line.loop.time()
        self._unsent = 0
        self._timer = line.loop.call_later(idle_timeout, self._check)

    # What the connection tells.

    def feed(self, data: bytes) -> None:
        self._heard = self._line.loop.time()
        self.answered = True
        self._bare += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, UnicodeError):
            self._reusable = False
            if not self._complete:
                self._fail(ModelError("broken", "the reply is not HTTP"))
        if self._complete:
            self._finish()
        elif self._bare > HEAD_BYTES:
            self._fail(ModelError("broken", "the head or the tail of the reply is too long"))
        elif self._unread_bytes > _UNREAD and not self._paused and self._failure is None:
            self._paused = True
            self._line.transport.pause_reading()
        self._wake()

    def lost(self) -> None:
        self._parser = None
        if self._complete:
            return
        if not self._in_head and self._until_close():
            self._complete = True
            self._timer.cancel()
        elif self._failure is None:
            self._failure = ModelError("broken", "the connection broke off")
        self._timer.cancel()
        self._wake()

    def on_message_begin(self) -> None:
        if self._complete:
            self._reusable = False  # nobody has asked for another response

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._complete:
            return
        self.status = self._parser.get_status_code()
        self._in_head = self.status < 200
        if self._in_head:
            self.headers.clear()  # 100 Continue and 103 Early Hints: the response itself follows

    def on_body(self, data: bytes) -> None:
        self._bare = 0
        if self._left or self._complete:
            return
        self._unread.append(data)
        self._unread_bytes += len(data)

    def on_message_complete(self) -> None:
        if not self._in_head and not self._complete:
            self._complete = True
            self._reusable = self._parser.should_keep_alive()

    # What the reader asks.

    async def head(self) -> None:
        """Wait until the status and the headers are here."""
        while self._in_head:
            await self._wait()

    async def read(self) -> bytes:
        """The bytes of the body that have arrived and were not read yet. Waits until there are some; nothing
        means that the response has come to its end. Raises a `ModelError` if it breaks off."""
        unread = self._unread
        while not unread:
            if self._complete:
                return b""
            if self._failure is not None:
                raise self._raised(self._failure)
            # As `_wait`: this is awaited for every chunk.
            self._waiter = waiter = self._line.loop.create_future()
            await waiter
        data = unread[0] if len(unread) == 1 else b"".join(unread)
        unread.clear()
        self._unread_bytes = 0
        if self._paused:
            self._paused = False
            self._heard = self._line.loop.time()
            self._line.transport.resume_reading()
        return data

    async def whole(self, most: int) -> bytes:
        """The rest of the body; only its first bytes, if there are more than `most`."""
        parts, size = [], 0
        while size <= most and (data := await self.read()):
            parts.append(data)
            size += len(data)
        return b"".join(parts)[:most]

    def leave(self) -> None:
        """Nothing more is needed of this response. The connection is kept if the rest comes soon."""
        if self._complete or self._failure is not None:
            return
        self._left = True
        self._unread.clear()
        if self._paused:
            self._line.transport.resume_reading()
        self._timer.cancel()
        self._timer = self._line.loop.call_later(_LINGER, self._line.abort)

    def abort(self) -> None:
        """Close the connection at once, unless the response was read to its end or left."""
        self._unread.clear()
        if not self._complete and not self._left:
            self._timer.cancel()
            self._line.abort()

    @staticmethod
    def _raised(failure: ModelError) -> ModelError:
        """The same failure anew. An error that is raised keeps all that its callers work with, and as long as
        this exchange kept the error, only the garbage collector could free them."""
        return ModelError(failure.kind, str(failure))

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _wait(self) -> None:
        if self._failure is not None:
            raise self._raised(self._failure)
        self._waiter = self._line.loop.create_future()
        await self._waiter

    def _check(self) -> None:
        """Nothing was heard for a while. What the reader has not taken, and what is still being sent, is not
        the provider's silence."""
        now, unsent = self._line.loop.time(), self._line.transport.get_write_buffer_size()
        if self._paused or self._unread or 0 < unsent < self._unsent:
            self._heard = now
        self._unsent = unsent
        left = self._heard + self._idle_timeout - now
        if left <= 0:
            self._fail(ModelError("silent", f"no byte came for {self._idle_timeout:g} s"))
            self._wake()
        else:
            self._timer = self._line.loop.call_later(left, self._check)

    def _fail(self, error: ModelError) -> None:
        self._failure = error
        self._timer.cancel()
        self._line.abort()

    def _finish(self) -> None:
        self._timer.cancel()
        self._parser = None  # it refers to this exchange
        self._line.ended(self._reusable)

    def _until_close(self) -> bool:
        """Whether the body ends where the connection does."""
        return "content-length" not in self.headers and "transfer-encoding" not in self.headers
