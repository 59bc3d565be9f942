"""Limits for the body of a request: its length, whether or not a header declares it, and the number of its
values. A file that is uploaded has a limit of its own, and is not kept in memory. ASGI middleware."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from caesura.core import json_data
from caesura.core.errors import BadInput, CaesuraError, TooLarge
from caesura.http.errors import Errors

LARGEST = 1024 * 1024
#: Each value of the wrong type becomes a reported fault, and each report takes time.
MOST_VALUES = 10_000


class BodyLimit:
    def __init__(
        self,
        app: ASGIApp,
        errors: Errors,
        largest: int = LARGEST,
        uploads: Sequence[re.Pattern[str]] = (),
        largest_upload: int = LARGEST,
    ) -> None:
        """A PUT to a path like one of `uploads` is passed on, unless it declares too many bytes."""
        self._app, self._errors, self._largest = app, errors, largest
        self._uploads, self._largest_upload = uploads, largest_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._is_upload(scope):
            if _length(scope) > self._largest_upload:
                too_large = TooLarge(f"a file may have {self._largest_upload} bytes")
                await self._refuse(too_large, scope, receive, send)
            else:
                await self._app(scope, receive, send)
        elif _length(scope) > self._largest:
            await self._refuse(TooLarge(), scope, receive, send)
        else:
            await self._watch(scope, receive, send)

    def _is_upload(self, scope: Scope) -> bool:
        put = scope["method"] == "PUT"
        return put and any(pattern.fullmatch(scope["path"]) for pattern in self._uploads)

    async def _watch(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, started = bytearray(), False
        refusal: CaesuraError | None = None

        async def counted() -> Message:
            nonlocal refusal
            message = await receive()
            body.extend(message.get("body", b""))
            whole = not message.get("more_body")
            refusal = refusal or self._fault(body, whole)
            if whole or refusal is not None:
                body.clear()  # not kept in memory while the response is made
            if refusal is not None:
                raise _Refused
            return message

        async def forward(message: Message) -> None:
            nonlocal started
            # The application may have turned our error into one of its own.
            if refusal is not None and not started:
                raise _Refused
            started = True
            await send(message)

        try:
            await self._app(scope, counted, forward)
        except _Refused:
            await self._refuse(refusal or TooLarge(), scope, receive, send)

    def _fault(self, body: bytearray, whole: bool) -> CaesuraError | None:
        if len(body) > self._largest:
            return TooLarge()
        if whole and len(body) > 2 * MOST_VALUES:  # a value and its separator take at least two bytes
            try:
                _check(bytes(body))
            except json_data.Unwieldy as error:
                return BadInput(f"the body was not taken: {error}")
        return None

    async def _refuse(self, error: CaesuraError, scope: Scope, receive: Receive, send: Send) -> None:
        response = self._errors.response(scope["path"], error)
        response.headers["connection"] = "close"  # the rest of the body is not wanted
        await response(scope, receive, send)


class _Refused(Exception):
    pass


def _check(body: bytes) -> None:
    try:
        json_data.bounded(body, MOST_VALUES)
    except json_data.Unwieldy:
        raise
    except ValueError:  # reported by whoever parses it, unless Python's own parser accepts it
        json_data.check_parts(body, MOST_VALUES)


def _length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
