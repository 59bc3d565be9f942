"""Base URLs of providers, as people write them."""

from __future__ import annotations

from base64 import b64encode
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from caesura.core import urls

#: What people copy from a provider's documentation together with the base URL.
_PATHS = ("/chat/completions", "/v1/messages")


class NoAddress(Exception):
    """The message goes on where "the base URL" begins."""


class Address(NamedTuple):
    """`basic` is the value of a header Authorization, from a name and a password in the URL. `secrets` are
    the forms in which someone who was sent it may repeat it."""

    url: str
    basic: str | None
    secrets: tuple[str, ...] = ()


def read(written: str, provider: str) -> Address:
    """The address without a slash at its end. Raises `NoAddress`."""
    if not urls.is_clear(written if "://" in written else f"http://{written}"):
        raise NoAddress(urls.REMEDY)
    if provider == "ollama":
        written = _ollama(written)
    wrong = NoAddress("is no address of an HTTP server")
    try:
        parts = urlsplit(written if "://" in written else f"http://{written}")
        port, host = parts.port, parts.hostname
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host or not written.isprintable() or " " in written:
        raise wrong
    path = quote(parts.path.rstrip("/"), safe="/%~:@!$&'()*+,;=-._")
    for copied in _PATHS:
        path = path.removesuffix(copied)
    if provider == "anthropic":
        path = path.removesuffix("/v1")
    basic: str | None = None
    secrets: tuple[str, ...] = ()
    if parts.username:
        name, password = unquote(parts.username), unquote(parts.password or "")
        coded = b64encode(f"{name}:{password}".encode()).decode()
        basic, secrets = f"Basic {coded}", (coded, password or name)
    shown = f"[{host}]" if ":" in host else _ascii(host)
    url = urlunsplit((parts.scheme, f"{shown}:{port}" if port else shown, path, "", ""))
    return Address(url, basic, secrets)


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise NoAddress("has no valid host") from None


def _ollama(written: str) -> str:
    """A base URL from what OLLAMA_HOST may be: with or without a scheme, a port, a path."""
    scheme, separator, rest = written.rpartition("://")
    rest, slash, path = rest.partition("/")
    user, at, rest = rest.rpartition("@")
    if rest.count(":") > 1 and not rest.startswith("["):
        rest = f"[{rest}]"
    host, colon, port = rest.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = rest, "" if separator else "11434"
    # The same variable tells Ollama itself where to listen.
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104
    place = f"{user}{at}{host}" + (f":{port}" if port else "")
    url = f"{scheme or 'http'}://{place}{slash}{path}".rstrip("/")
    return url if url.endswith("/v1") else f"{url}/v1"
