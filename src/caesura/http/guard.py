"""Rejects requests that no route must see: control characters in a path, and, in one-person mode, requests
from other web pages. ASGI middleware."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from caesura.core.errors import CaesuraError, Forbidden, NotFound
from caesura.http.errors import Errors
from caesura.http.headers import FRAME_FILES

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
#: The origin that a browser gives for a sandboxed frame.
_NOBODY = "null"
#: Reveals nothing, and is requested by monitoring.
_OPEN = "/health"


class Guard:
    def __init__(self, app: ASGIApp, errors: Errors, local: bool, origins: tuple[str, ...] = ()) -> None:
        """`local` means that no token is required: then only this machine and pages from `origins` are
        allowed."""
        self._app, self._errors = app, errors
        self._local, self._origins = local, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (error := self._fault(scope)) is not None:
            await self._errors.response(scope["path"], error)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _fault(self, scope: Scope) -> CaesuraError | None:
        path = scope["path"]
        if _CONTROL.search(path):
            return NotFound("nothing has a control character in its path")
        if self._local and path != _OPEN:
            return _foreign(Headers(scope=scope), self._origins, path.startswith(FRAME_FILES))
        return None


def _foreign(headers: Headers, origins: tuple[str, ...], of_frames: bool) -> Forbidden | None:
    """No token is required, so other web pages in the same browser must be refused, including pages whose
    host name was made to resolve to this machine. The sandboxed frames of our own page have no origin: they
    may load the files that are made for them."""
    host = headers.get("host", "")
    named = _split(f"//{host}")
    if named is None or named.hostname not in _LOOPBACK:
        return Forbidden("this server answers to its loopback name only")
    origin = headers.get("origin")
    if of_frames and origin == _NOBODY:
        return None
    if origin is not None and origin not in origins:
        page = _split(origin)
        if page is None or page.netloc != host:
            return Forbidden("another web page may not use this server")
    return None


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None
