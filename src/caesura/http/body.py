"""The bound of a request's body, whether or not it says how long it is. ASGI middleware."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from caesura.core.errors import TooLarge
from caesura.http.errors import Errors

LARGEST = 1024 * 1024


class BodyLimit:
    def __init__(self, app: ASGIApp, errors: Errors, largest: int = LARGEST) -> None:
        self._app, self._errors, self._largest = app, errors, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif _length(scope) > self._largest:
            await self._refuse(scope, receive, send)
        else:
            await self._watch(scope, receive, send)

    async def _watch(self, scope: Scope, receive: Receive, send: Send) -> None:
        size, started = 0, False

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._largest:
                raise _Exceeded
            return message

        async def forward(message: Message) -> None:
            nonlocal started
            # Whoever read the body may have turned our error into one of its own.
            if size > self._largest and not started:
                raise _Exceeded
            started = True
            await send(message)

        try:
            await self._app(scope, counted, forward)
        except _Exceeded:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = self._errors.response(scope["path"], TooLarge())
        response.headers["connection"] = "close"  # what is still to come is not wanted
        await response(scope, receive, send)


class _Exceeded(Exception):
    pass


def _length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
