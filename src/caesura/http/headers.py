"""Headers of every response, and one log line for every request. ASGI middleware."""

from __future__ import annotations

import logging
import re
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from caesura.core import ids
from caesura.http.addresses import Addresses, shown
from caesura.http.logs import request_id

Header = tuple[bytes, bytes]

logger = logging.getLogger("caesura.access")

_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_NOWHERE = (b"x-frame-options", b"DENY")
_SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
_API = b"default-src 'none'; frame-ancestors 'none'; sandbox"
_PAGE = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"connect-src 'self'; worker-src 'self'; frame-src 'self'; manifest-src 'self'; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
#: The frames in which the page shows what agents wrote. `sandbox` without `allow-same-origin` gives them an
#: origin of their own: no cookie, no storage, nothing of the page. No directive allows a network address.
_FRAME = (
    b"sandbox allow-scripts; default-src 'none'; %b; style-src 'unsafe-inline'; img-src data: blob:; "
    b"font-src data:; media-src data: blob:; base-uri 'none'; form-action 'none'; "
    b"frame-ancestors 'self'"
)
#: A document whose scripts the person wants to run has them in it. A diagram is drawn and a document is shown
#: by a script of ours, and no other runs. Trusted types make it harder to make a frame inside with WebRTC in
#: it, which no directive covers.
_DOCUMENT = (
    _FRAME % b"script-src 'unsafe-inline'" + b"; require-trusted-types-for 'script'; trusted-types default"
)
_OURS = _FRAME % b"script-src 'self'"
#: Browsers that know it open no connection for the document, nor for a frame inside it, not even by WebRTC.
_ALONE = (b"connection-allowlist", b"()")
_DOCS = (
    b"default-src 'none'; connect-src 'self'; img-src 'self' data:; "
    b"style-src 'self' 'unsafe-inline'; "
    b"script-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
)
DOCS = "/docs"
#: The files of the page that have a hash in their names, and the documents of its frames.
ASSETS = "/assets/"
FRAMES = "/frames/"
#: What the frames load. They have no origin, so everybody may load it: only files that are the same on every
#: server are there.
FRAME_FILES = f"{FRAMES}files/"
#: The frame for documents that have scripts of their own.
DOCUMENT_FRAME = f"{FRAMES}document.html"
#: The key of the scope for the person that sends the request, once known.
USER = "caesura.user"
_NO_STORE = (b"cache-control", b"no-store")
#: Headers of a response that is sent without the application.
BARE = [*_SECURITY, _NOWHERE, (b"content-security-policy", _API), _NO_STORE]


class Headers:
    def __init__(self, app: ASGIApp, addresses: Addresses = "full") -> None:
        """`addresses` is how much of an address is logged."""
        self._app, self._addresses = app, addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        own = _request_id(scope)
        request_id.set(own.decode())
        added = [*_SECURITY, *_placed(scope["path"]), (b"x-request-id", own)]

        async def decorate(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _decorated(list(message.get("headers", ())), added)
            await send(message)

        try:
            await self._app(scope, receive, decorate)
        finally:
            _log(scope, status, time.perf_counter() - started, self._addresses)


def _decorated(own: list[Header], added: list[Header]) -> list[Header]:
    """A response without a caching rule must not be cached. A file has an ETag: it may be."""
    kept = any(name in (b"cache-control", b"etag") for name, _ in own)
    return [*own, *added] if kept else [*own, *added, _NO_STORE]


def _request_id(scope: Scope) -> bytes:
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return given if _ID.fullmatch(given) else ids.token().encode()


def _placed(path: str) -> list[Header]:
    """What a document at this path may do, and where it may be framed."""
    if path.startswith(FRAMES):
        # A host name in a document must not be looked up before somebody follows the link.
        always = [(b"x-frame-options", b"SAMEORIGIN"), (b"x-dns-prefetch-control", b"off")]
        if path == DOCUMENT_FRAME:
            return [*always, (b"content-security-policy", _DOCUMENT), _ALONE]
        return [*always, (b"content-security-policy", _OURS)]
    return [_NOWHERE, (b"content-security-policy", _policy(path))]


def _policy(path: str) -> bytes:
    if path.startswith("/api/"):
        return _API
    return _DOCS if path == DOCS or path.startswith(f"{DOCS}/") else _PAGE


def _log(scope: Scope, status: int, seconds: float, addresses: Addresses) -> None:
    """Logs the path without its query, which may contain a ticket."""
    if not logger.isEnabledFor(logging.INFO):
        return
    fields = {
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round(seconds * 1000, 1),
        "user": scope.get(USER),
        "address": shown((scope.get("client") or (None,))[0], addresses),
    }
    logger.info("%s %s %d", scope["method"], scope["path"], status, extra=fields)
