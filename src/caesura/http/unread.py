"""Large responses: sent in pieces, and limited for each person. ASGI middleware.

A client that reads slowly keeps its response in memory. If it were sent in one piece, it would be in memory
twice: in the application, and in the buffer of the connection.
"""

from __future__ import annotations

from collections import Counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from caesura.core.errors import TooMuchUnread
from caesura.http.errors import Errors
from caesura.http.headers import USER

#: A response of more bytes is large, and is sent in pieces of this size.
PIECE = 64 * 1024


class Unread:
    def __init__(self, app: ASGIApp, errors: Errors, each: int | None = None) -> None:
        """`each` is how many bytes of large responses one person may have in flight; None for no limit."""
        self._app, self._errors, self._each = app, errors, each
        self._people: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(self, scope, receive, send)
        try:
            await self._app(scope, receive, answer.send)
        finally:
            answer.release()

    def claim(self, person: str, size: int) -> bool:
        """Whether this many more bytes are within the limit. A single response always is, however large."""
        held = self._people[person]
        if held and self._each is not None and held + size > self._each:
            return False
        self._people[person] += size
        return True

    def release(self, person: str, size: int) -> None:
        self._people[person] -= size
        if not self._people[person]:
            del self._people[person]

    async def refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = TooMuchUnread()
        scope["app"].state.context.metrics.over_share(error)
        await self._errors.response(scope["path"], error)(scope, receive, send)


class _Answer:
    """One response. Its head is kept until its size is known, so that it can still be refused."""

    def __init__(self, unread: Unread, scope: Scope, receive: Receive, send: Send) -> None:
        self._unread, self._scope, self._receive, self._send = unread, scope, receive, send
        self._head: Message | None = None
        self._person: str | None = None
        self._claimed = 0
        self._refused = False

    async def send(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start" and not _is_stream(message):
            self._head = message
        elif message["type"] == "http.response.body":
            await self._body(message)
        else:
            await self._send(message)

    def release(self) -> None:
        if self._person is not None:
            self._unread.release(self._person, self._claimed)
            self._person = None

    async def _body(self, message: Message) -> None:
        body = message.get("body", b"")
        head, self._head = self._head, None
        if head is not None:
            if len(body) > PIECE and not self._claim(len(body)):
                self._refused = True
                await self._unread.refuse(self._scope, self._receive, self._send)
                return
            await self._send(head)
        at = 0
        while len(body) - at > PIECE:
            await self._send({**message, "body": body[at : at + PIECE], "more_body": True})
            at += PIECE
        await self._send({**message, "body": body[at:]} if at else message)
        if not message.get("more_body"):
            self.release()  # before the client can send its next request

    def _claim(self, size: int) -> bool:
        """A response without a person is the same for everybody, and small: it is not counted."""
        person = self._scope.get(USER)
        if person is None:
            return True
        if not self._unread.claim(person, size):
            return False
        self._person, self._claimed = person, size
        return True


def _is_stream(head: Message) -> bool:
    """An event stream may be silent for long after its head, and monitors its reader itself."""
    return Headers(raw=list(head.get("headers", ()))).get("content-type", "").startswith("text/event-stream")
