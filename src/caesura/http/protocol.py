"""One connection: how much of an incomplete request is kept, and how long each side may take.

uvicorn parses requests and writes responses. This class limits what a client can make it hold, and closes
idle connections. The server calls `check` about once a second: a deadline is only a number, so an ordinary
request needs no timer.
"""

from __future__ import annotations

import asyncio
import logging
import math
from http import HTTPStatus
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from caesura.core import json_data
from caesura.http import backlog
from caesura.http.addresses import Addresses, shown
from caesura.http.connections import Connections, Standing
from caesura.http.headers import BARE
from caesura.http.sse import STREAMS, TRANSPORT

logger = logging.getLogger(__name__)

#: The maximum bytes of a URL, of all headers together, and of all trailers together.
LARGEST = 64 * 1024
#: The maximum number of headers of a request.
MANY = 100
#: The maximum number of requests that may be queued on one connection.
QUEUE = 32
#: Large reads are parsed in pieces of this size, so that an exceeded limit is noticed before the data is
#: kept.
PIECE = 16 * 1024
#: A client must read at least this many bytes of a plain response within `silence`, and send at least this
#: many of an upload within `patience`, or it is cut.
PACE = 64 * 1024
#: A client's system tells in steps what was read: usually when 128 KiB are free, and larger buffers make
#: larger steps. So a client has the first of these times `silence` for a step, and up to the second after a
#: large one.
STEP, STEPS = 2, 8
#: Seconds that a refused client gets to read the reason, and that one gets whose body is refused: many read
#: nothing before they have sent it all. Meanwhile data is discarded, up to so many bytes.
LINGER, LINGER_BODY, DISCARDED = 2.0, 30.0, 256 * 1024 * 1024
#: Seconds that a connection above a limit gets for its request.
HURRY = 5.0
_ALWAYS = (b"/health", b"/ready")
#: The ASGI extension that a route sets while it takes a file: its client gets more time as long as it sends.
UPLOADS = "caesura.uploads"


class Refusal(Exception):
    """A request that gets its response here and does not reach the application."""

    def __init__(self, status: int, detail: str, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.retry_after = status, retry_after

    def answer(self) -> bytes:
        body = json_data.dumps({"detail": str(self)})
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *BARE,
        ]
        if self.retry_after is not None:
            headers.append((b"retry-after", str(self.retry_after).encode()))
        lines = b"".join(b"%b: %b\r\n" % header for header in headers)
        return STATUS_LINE[self.status] + lines + b"\r\n" + body


def _invalid() -> Refusal:
    return Refusal(HTTPStatus.BAD_REQUEST, "Invalid HTTP request received.")


def _headers_too_large() -> Refusal:
    what = f"the headers are more than {LARGEST} bytes or {MANY} lines"
    return Refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, what)


def _too_many_wait() -> Refusal:
    return Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too many requests wait on one connection", 1)


_NO_ROOM = {
    Standing.CROWDED: (HTTPStatus.SERVICE_UNAVAILABLE, "the server has too many connections"),
    Standing.GREEDY: (HTTPStatus.TOO_MANY_REQUESTS, "too many connections from this address"),
}


class Protocol(HttpToolsProtocol):
    #: Seconds within which a client must read something, and after which the system gives up on a dead peer.
    silence = 30.0
    #: Seconds within which a request must be complete, from its first byte to its last.
    patience = 60.0
    #: Seconds that an idle connection is kept for another request.
    idle = 5.0
    limits: Connections
    addresses: Addresses = "full"

    url = b""
    _standing = Standing.WELCOME
    #: When the connection is closed unless something happens.
    _due = math.inf
    #: Bytes parsed since the last complete item: a head, a piece of a body, a request.
    _fed = 0
    #: Whether a request has begun and is not complete, and whether its head is complete.
    _coming = _headed = False
    #: The request that waits for its response.
    _active: RequestResponseCycle | None = None
    #: Bytes that wait until earlier requests have their responses.
    _waiting = b""
    #: Whether incoming data is no longer parsed.
    _deaf = False
    _refusal: Refusal | None = None
    #: The unread bytes of a response at the last check, and when the client is cut if it takes no more.
    _held = 0
    _read_by = 0.0
    #: Bytes of an upload since its deadline was last moved, and bytes that were discarded.
    _uploaded = _discarded = 0

    # --- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._standing = self.limits.enter(self, self.client[0] if self.client else None)
        welcome = self._standing is Standing.WELCOME
        self._due = self.loop.time() + (self.patience if welcome else min(self.patience, HURRY))
        backlog.give_up_after(transport, self.silence)

    def connection_lost(self, exc: Exception | None) -> None:
        self.limits.leave(self)
        super().connection_lost(exc)
        self._deaf = True
        if self._active is not None:
            # uvicorn notifies only the newest request, and that one may still be queued.
            _disconnect(self._active)
        if not self._answering():
            self._let_go()

    def _let_go(self) -> None:
        """A request refers to its connection. Together they would stay until Python looks at everything for
        garbage, which it seldom does."""
        self.cycle = self._active = None  # type: ignore[assignment]
        self.scope = {}  # type: ignore[typeddict-item]

    def check(self, now: float) -> None:
        """Close the connection if its client was too slow."""
        held = 0 if self._streaming() else self._unread(now)
        if not held:
            self._watch(0)
            if now >= self._due:
                self.transport.close()
        elif not self._held:
            self._watch(held)
            self._read_by = now + self.silence * STEP
        else:
            self._move_deadline(now, max(self._held - held, 0) / PACE)
            self._held = held  # it may be more: something was written meanwhile
            if now >= self._read_by:
                backlog.discard(self.transport)
                self.transport.abort()

    def _move_deadline(self, now: float, taken: float) -> None:
        """`taken` is how many times `PACE` the client has taken since the last check."""
        ahead = min(max(taken, STEP), STEPS)
        moved = min(self._read_by + self.silence * taken, now + self.silence * ahead)
        self._read_by = max(self._read_by, moved)

    def _unread(self, now: float) -> int:
        """The bytes of a response that the client has not taken. The system is asked only if this process
        holds some too, or if the connection would be closed."""
        held = self.transport.get_write_buffer_size()
        if held or self._held or now >= self._due:
            held += backlog.in_system(self.transport)
        return held

    def _watch(self, held: int) -> None:
        """Begin to measure how fast the client reads, or end it with 0. Meanwhile the system has more
        patience: it takes a client that reads slowly for one that does not read."""
        if bool(held) != bool(self._held):
            backlog.give_up_after(self.transport, self.silence * (STEPS if held else 1))
        self._held = held

    def resume_writing(self) -> None:
        super().resume_writing()
        self._watch(0)

    def _streaming(self) -> bool:
        """Whether an event stream is being sent. It monitors its reader itself."""
        cycle = self._active
        return cycle is not None and not cycle.response_complete and STREAMS in cycle.scope["extensions"]

    # --- receiving

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            self._discarded += len(data)
            if self._discarded > DISCARDED:
                self.transport.abort()
        elif self._waiting:
            self._keep(data)
        elif len(data) <= PIECE:
            self._feed(data)
        else:
            self._feed_all(data)

    def _feed_all(self, data: bytes) -> None:
        """Parse in pieces until requests are queued. The rest then waits too."""
        whole = memoryview(data)
        for start in range(0, len(data), PIECE):
            if self.pipeline or self._deaf:
                self._waiting = b"" if self._deaf else data[start:]
                return
            self._feed(whole[start : start + PIECE])

    def _keep(self, data: bytes) -> None:
        """Reading a body resumes the transport, so data after that body may come in too."""
        self._waiting += data
        self.flow.pause_reading()
        if len(self._waiting) > LARGEST * QUEUE:
            self._refuse(_too_many_wait())

    def _feed(self, piece: bytes | memoryview) -> None:
        if self._deaf:
            return
        self._fed += len(piece)
        try:
            self.parser.feed_data(piece)
            if self._fed:
                self._bound()
        except httptools.HttpParserUpgrade:
            pass  # an ordinary response was sent, and the connection ends with it
        except httptools.HttpParserError:
            self._refuse(self._refusal or _invalid())
        except Refusal as refusal:
            self._refuse(refusal)

    def _bound(self) -> None:
        """Check the size of an incomplete item."""
        if self._fed - len(self.url) > LARGEST or (self._coming and len(self.headers) > MANY):
            raise _headers_too_large()

    def _fail(self, refusal: Refusal) -> None:
        """Stop the parser from within a callback. Its caller finds the refusal."""
        self._refusal = refusal
        raise refusal

    # --- callbacks of the parser

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {TRANSPORT: self.transport}  # type: ignore[dict-item]
        self._coming, self._headed = True, False
        if self._standing is Standing.WELCOME:
            self._due = self.loop.time() + self.patience
        if len(self.pipeline) >= QUEUE:
            self._fail(_too_many_wait())

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) >= LARGEST:  # httptools can parse at most one byte less
            self._fail(Refusal(HTTPStatus.REQUEST_URI_TOO_LONG, f"the URL is over {LARGEST - 1} bytes"))

    def on_headers_complete(self) -> None:
        if len(self.headers) > MANY or (self._fed > LARGEST - PIECE and self._size() > LARGEST):
            self._fail(_headers_too_large())
        if self._standing is not Standing.WELCOME and self.url.partition(b"?")[0] not in _ALWAYS:
            status, detail = _NO_ROOM[self._standing]
            self._fail(Refusal(status, detail, int(HURRY)))
        upgrade = self.parser.should_upgrade()
        if upgrade and any(name in _BODY for name, _ in self.headers):
            self._fail(Refusal(HTTPStatus.BAD_REQUEST, "a request to upgrade cannot have a body"))
        super().on_headers_complete()
        if upgrade or self._standing is not Standing.WELCOME:
            self.cycle.keep_alive = False
            self._deaf = self._deaf or upgrade
        self._headed, self._fed = True, 0
        self.url = b""
        self.headers = []  # from here on these are trailers

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._fed = 0
        if UPLOADS in self.scope["extensions"]:
            self._uploaded += len(body)
            if self._uploaded >= PACE:
                self._uploaded, self._due = 0, self.loop.time() + self.patience

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._coming, self._fed = False, 0
        self._due = math.inf if self._answering() else self.loop.time() + self.idle

    def _size(self) -> int:
        return sum(len(name) + len(value) + 4 for name, value in self.headers)

    # --- sending

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._active = cycle
        cycle.transport = self  # type: ignore[assignment]  # uvicorn closes it with unread bytes
        super()._start_asgi_task(cycle, app)

    def write(self, data: bytes) -> None:
        self.transport.write(data)

    def is_closing(self) -> bool:
        return self.transport.is_closing()

    def close(self) -> None:
        """The response is complete. A client that still sends its request gets time to read the response."""
        if self._coming and self._active is self.cycle and not self.is_closing():
            self._linger(LINGER_BODY)
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unset_keepalive_if_required()  # client data would cancel that timer: `check` replaces it
        if self.transport.is_closing():
            self._let_go()
            return
        if self._waiting and not self.pipeline:
            waiting, self._waiting = self._waiting, b""
            self._feed_all(waiting)
        if self._answering():
            return
        if self._refusal is not None:
            self._say()
        elif not self._coming and not self._deaf:
            self._due = self.loop.time() + self.idle

    def _answering(self) -> bool:
        return self._active is not None and not self._active.response_complete

    def _refuse(self, refusal: Refusal) -> None:
        """Respond after the responses to earlier requests, then close."""
        self._deaf, self._waiting, self._refusal = True, b"", refusal
        self._due = math.inf
        if self._headed and self._coming:
            self._drop()
        address = shown(self.client[0] if self.client else None, self.addresses)
        logger.info("refused: %s", refusal, extra={"status": refusal.status, "address": address})
        if not self._answering():
            self._say()

    def _drop(self) -> None:
        """A request with a refused body gets no other response."""
        if self.pipeline and self.pipeline[0][0] is self.cycle:
            self.pipeline.popleft()
        elif self.cycle.response_started:
            self.transport.close()
        else:
            _disconnect(self.cycle)
            self._active = None

    def _say(self) -> None:
        refusal, self._refusal = self._refusal, None
        if refusal is None or self.transport.is_closing():
            return
        self.transport.write(refusal.answer())
        self._linger(LINGER)

    def _linger(self, seconds: float) -> None:
        """Keep reading: closing with unread bytes would reset the connection, and the client might never see
        the response."""
        self._deaf = True
        self.transport.write_eof()
        self.flow.resume_reading()
        self._due = self.loop.time() + seconds


_BODY = (b"content-length", b"transfer-encoding")


def _disconnect(cycle: RequestResponseCycle) -> None:
    if not cycle.response_complete:
        cycle.disconnected = True
    cycle.message_event.set()
