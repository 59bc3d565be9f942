"""What is in the way of a connection, in words for the operator."""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from caesura.models import proxies

_NUMBER = re.compile(r"\[Errno (\d{1,4})\]")
_PORTS = {"http": 80, "https": 443}


def told(error: OSError | UnicodeError, host: str, to: str, looked_up: str | None = None) -> str:
    """Why there is no connection to this host. `to` is what was dialled, and `looked_up` the name of it, if
    that is another host: a proxy."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of {host} is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"no secure connection to {host}: {error.reason or 'TLS failed'}"
    if isinstance(error, socket.gaierror | UnicodeError):
        return f"{looked_up or host} is not known: no such host"
    return f"{to} cannot be reached: {_reason(error)}"


def _reason(error: OSError) -> str:
    """asyncio puts a text of its own in the place of the system's, and for several addresses into one."""
    found = _NUMBER.search(str(error))
    number = error.errno or (int(found[1]) if found else 0)
    return os.strerror(number).lower() if number > 0 else error.strerror or type(error).__name__


def behind(error: BaseException, url: str, environ: Mapping[str, str]) -> str | None:
    """The same for an error of another client at this address, which has put the system's error into errors
    of its own. `environ` names proxies that this client asks too. None if it has no such error."""
    cause = _cause(error)
    if cause is None:
        return None
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    try:
        proxy = proxies.proxy_for(parts.scheme, host, port, environ)
    except proxies.Unsupported:
        proxy = None
    if proxy is None:
        return told(cause, host, f"{host}:{port}")
    return told(cause, host, f"the proxy {proxy.host}:{proxy.port}", proxy.host)


def _cause(error: BaseException) -> OSError | UnicodeError | None:
    """The system's error behind those of the other client. Of several, one for each address of the host, the
    first."""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, UnicodeError) or (isinstance(current, OSError) and current.errno is not None):
            return current
        if isinstance(current, BaseExceptionGroup):
            current = current.exceptions[0]
        else:
            current = current.__cause__ or current.__context__
    return None
