"""The cookie of a browser's session, and the check that a request by cookie comes from the server's own page.

A browser sends the cookie by itself, whoever made the page. So a request that changes something must show
that its page could read a response of this server: it repeats a value that only such a response has.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import Request, Response

from caesura.core.errors import Forbidden

if TYPE_CHECKING:
    from caesura.http.context import Context

NAME = "caesura_session"
#: Under https no other host and no page without TLS can set a cookie of the first name. It is sent to every
#: path of a host, also to other servers behind the same proxy: a server below a root path uses the second.
_SECURE_NAME, _SECURE_NAME_BELOW = f"__Host-{NAME}", f"__Secure-{NAME}"
HEADER = "X-CSRF-Token"
_SAFE = ("GET", "HEAD")


def session_of(request: Request) -> str | None:
    return request.cookies.get(_name(request)) or None


def keep(response: Response, request: Request, session: str, seconds: int) -> None:
    """Let the browser keep the session. No script can read it, and no other site can make it be sent."""
    name = _name(request)
    response.set_cookie(
        name,
        session,
        max_age=seconds,
        path=_root(request) or "/",
        secure=name != NAME,
        httponly=True,
        samesite="strict",
    )


def _name(request: Request) -> str:
    """The name for the scheme of the request. The other one is not read: somebody else may have set it."""
    if request.url.scheme != "https":
        return NAME
    return _SECURE_NAME_BELOW if _root(request) else _SECURE_NAME


def _root(request: Request) -> str:
    context: Context = request.app.state.context
    return context.root


def drop(response: Response, request: Request) -> None:
    keep(response, request, "", 0)


def check(request: Request, csrf: str) -> None:
    """Refuse a request by cookie that changes something and may come from another web page."""
    if request.method in _SAFE:
        return
    check_origin(request)
    if not hmac.compare_digest(request.headers.get(HEADER, "").encode(), csrf.encode()):
        raise Forbidden(f"{HEADER} is missing or wrong: it must be the csrf of this session")


def check_origin(request: Request, allowed: tuple[str, ...] = ()) -> None:
    """Refuse a request that a browser says comes from another origin, which is not one of those allowed."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if origin in allowed:
        return
    # A page cannot set either header. The first is the browser's own verdict, which no proxy disturbs.
    if site is not None:
        same = site in ("same-origin", "none")
    else:
        same = origin is None or _place(origin) == request.headers.get("host")
    if not same:
        raise Forbidden("another web page may not do this")


def _place(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None
