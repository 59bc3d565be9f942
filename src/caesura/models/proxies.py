"""Which proxy the environment names for an address."""

from __future__ import annotations

import ipaddress
from base64 import b64encode
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from caesura.core import urls

_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class Unsupported(Exception):
    """The environment names a proxy that cannot be used. The message holds no password."""


class Proxy(NamedTuple):
    host: str
    port: int
    secure: bool
    #: A name and a password.
    login: tuple[bytes, bytes] | None = None
    socks: bool = False

    @property
    def credentials(self) -> str | None:
        """The value of the header Proxy-Authorization."""
        return "Basic " + b64encode(b":".join(self.login)).decode() if self.login else None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The forms in which the proxy may repeat the login."""
        if self.login is None:
            return ()
        name, password = self.login
        return b64encode(b":".join(self.login)).decode(), (password or name).decode()


def proxy_for(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> Proxy | None:
    if _excepted(host, port, _variable("no_proxy", environ)):
        return None
    url = _variable(f"{scheme}_proxy", environ) or _variable("all_proxy", environ)
    return _read(url) if url else None


def _variable(name: str, environ: Mapping[str, str]) -> str:
    found = environ.get(name, environ.get(name.upper(), "")).strip()
    # A web server hands the header `Proxy` of a request to CGI programs as HTTP_PROXY.
    return "" if name == "http_proxy" and "REQUEST_METHOD" in environ and name not in environ else found


def _read(url: str) -> Proxy:
    url = url if "://" in url else f"http://{url}"
    if not (urls.is_clear(url) and urls.has_host(url)):
        raise Unsupported(f"the address of the proxy needs a valid host and port, and {urls.REMEDY}")
    parts = urlsplit(url)
    if parts.scheme not in _PORTS:
        raise Unsupported(
            f"proxies of the kind {parts.scheme} are not supported: name an http or a socks5 proxy"
        )
    port = parts.port or _PORTS[parts.scheme]
    if not parts.hostname:
        raise Unsupported("the address of the proxy has no host")
    login = None
    if parts.username:
        login = (unquote(parts.username).encode(), unquote(parts.password or "").encode())
        if max(map(len, login)) > 255:
            raise Unsupported("the name or the password for the proxy is too long")
    return Proxy(parts.hostname, port, parts.scheme == "https", login, parts.scheme.startswith("socks"))


def _excepted(host: str, port: int, listed: str) -> bool:
    return any(_matches(host.lower(), port, entry.strip().lower()) for entry in listed.split(","))


def _matches(host: str, port: int, entry: str) -> bool:
    if entry in ("", "*"):
        return entry == "*"
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass
    name, colon, number = entry.rpartition(":")
    if colon and number.isdigit() and "]" not in number:
        if int(number) != port:
            return False
        entry = name.strip("[]")
    domain = entry.removeprefix("*").removeprefix(".")
    return host == domain or host.endswith(f".{domain}")
