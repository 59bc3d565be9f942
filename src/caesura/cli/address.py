"""The address of a server: whether a server can listen there, and what already listens."""

from __future__ import annotations

import errno
from urllib.parse import urlsplit

from caesura.core.errors import StartupError
from caesura.http.server import bind

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the address to connect to instead
_SECONDS = 3.0


def reachable(url: str) -> str:
    """The address for a client on this machine. A server on all addresses is reached over loopback."""
    parts = urlsplit(url)
    host = _ANY.get(parts.hostname or "", parts.hostname or "")
    port = f":{parts.port}" if parts.port not in (None, 80) else ""
    return f"{parts.scheme}://{_bracketed(host)}{port}{parts.path}"


def occupant(host: str, port: int) -> str | None:
    """What already listens there; None if nothing does. Raises `StartupError` if no server could listen
    there."""
    try:
        bind(host, port).close()
    except StartupError as error:
        if getattr(error.__cause__, "errno", None) != errno.EADDRINUSE:
            raise
        return (
            "a server that answers /health, perhaps Caesura itself," if _answers(host, port) else "something"
        )
    except (UnicodeError, OverflowError) as error:
        raise StartupError(f"cannot listen on {host}:{port}: this is no name of a host") from error
    return None


def _answers(host: str, port: int) -> bool:
    import httpx  # slow to import, and a server that starts does without it

    bare = host.strip("[]")
    url = f"http://{_bracketed(_ANY.get(bare, bare))}:{port}/health"
    try:
        return httpx.get(url, timeout=_SECONDS, trust_env=False).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
