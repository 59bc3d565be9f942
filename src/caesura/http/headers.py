"""What every response carries, and one line in the log for every request. ASGI middleware."""

from __future__ import annotations

import logging
import re
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from caesura.core import ids
from caesura.http.logs import request_id

logger = logging.getLogger("caesura.access")

_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]
_API = b"default-src 'none'; frame-ancestors 'none'"
_PAGE = (
    b"default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_DOCS = (
    b"default-src 'none'; connect-src 'self'; img-src 'self' data:; "
    b"style-src 'self' 'unsafe-inline'; "
    b"script-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
)
DOCS = "/docs"


class Headers:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        own = _request_id(scope)
        request_id.set(own.decode())
        added = [*_SECURITY, (b"content-security-policy", _policy(scope["path"])), (b"x-request-id", own)]

        async def decorate(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        try:
            await self._app(scope, receive, decorate)
        finally:
            _log(scope, status, time.perf_counter() - started)


def _request_id(scope: Scope) -> bytes:
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return given if _ID.fullmatch(given) else ids.token().encode()


def _policy(path: str) -> bytes:
    if path.startswith("/api/"):
        return _API
    return _DOCS if path == DOCS or path.startswith(f"{DOCS}/") else _PAGE


def _log(scope: Scope, status: int, seconds: float) -> None:
    """The path without its query: a ticket may be in that."""
    if not logger.isEnabledFor(logging.INFO):
        return
    fields = {
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    logger.info("%s %s %d", scope["method"], scope["path"], status, extra=fields)
