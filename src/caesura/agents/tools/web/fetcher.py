"""Fetching a page: redirects one by one, and bounds on size, time and kinds of content."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import httpcore
import httpx

import caesura
from caesura.agents.aside import Aside
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.web import address, body, wire
from caesura.agents.tools.web.address import Refused
from caesura.agents.tools.web.network import PublicNetwork, Resolve
from caesura.core.addresses import Allowed

LARGEST = 5 * 1000 * 1000
SECONDS = 20.0
REDIRECTS = 5
_PATIENCE = 30.0
_MOVED = frozenset({301, 302, 303, 307, 308})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = frozenset(
    {
        *("text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/xml"),
        *("application/json", "application/xml", "application/rss+xml", "application/atom+xml"),
    }
)
_HEADERS = {
    "User-Agent": f"Caesura/{caesura.__version__}",
    "Accept": "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip",
}


@dataclass(frozen=True, slots=True)
class Page:
    """`charset` is what the header says, empty when it says nothing."""

    url: str
    kind: Literal["html", "text"]
    charset: str
    body: bytes


class Fetcher:
    """One pool of connections for all people. It is made with the first page. Proxies that the environment
    names are not used: a proxy would resolve names itself."""

    def __init__(
        self,
        allowed: Allowed | None = None,
        resolve: Resolve | None = None,
        *,
        seconds: float = SECONDS,
        at_once: int = 32,
        each: int = 4,
    ) -> None:
        self._network = PublicNetwork(allowed or Allowed(), resolve, LARGEST)
        self._seconds, self._at_once = seconds, at_once
        self._places = Places(at_once, each=each)
        self._making = asyncio.Lock()
        self._made: httpcore.AsyncConnectionPool | None = None

    def check(self, text: str) -> None:
        """Raise `Refused` for an address that can only be refused. Nothing is looked up or connected."""
        url = address.parse(text)
        self._network.check(url.raw_host.decode("ascii", "replace"), address.port_of(url))

    async def fetch(self, text: str, person: str) -> Page:
        """The page at this address, or `Refused`."""
        url = address.parse(text)
        try:
            async with self._places.one(person, _PATIENCE), asyncio.timeout(self._seconds):
                return await self._follow(url)
        except Busy:
            raise Refused("not fetched: too many other pages are being fetched, try again later") from None
        except TimeoutError:
            raise Refused(f"not fetched: it took longer than {self._seconds:g} seconds") from None
        except body.TooLarge:
            raise Refused(f"not fetched: the page is larger than {LARGEST:,} bytes") from None
        except body.Unreadable as error:
            raise Refused(f"not fetched: {error}") from None
        except (httpcore.NetworkError, httpcore.TimeoutException) as error:
            if _is_about_a_certificate(error):
                raise Refused("not fetched: the certificate of the server is not valid") from None
            raise Refused("not fetched: the server cannot be reached, or broke off") from None
        except httpcore.ProtocolError:
            raise Refused("not fetched: the server does not speak HTTP as it should") from None

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()

    async def _follow(self, url: httpx.URL) -> Page:
        for _ in range(REDIRECTS + 1):
            async with self._response(url) as response:
                headers = httpx.Headers(response.headers)
                if response.status not in _MOVED:
                    return await _page(url, response, headers)
                if "location" not in headers:
                    raise Refused("not fetched: the page redirects to nowhere")
                url = address.follow(url, headers["location"])
        raise Refused(f"not fetched: more than {REDIRECTS} redirects")

    @asynccontextmanager
    async def _response(self, url: httpx.URL) -> AsyncIterator[httpcore.Response]:
        pool = await self._pool()
        headers = [("Host", url.netloc.decode("ascii")), *_HEADERS.items()]
        target = httpcore.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=address.port_of(url), target=url.raw_path
        )
        async with pool.stream("GET", target, headers=headers) as response:
            yield response

    async def _pool(self) -> httpcore.AsyncConnectionPool:
        async with self._making:
            if self._made is None:
                # The certificates of all authorities are read: too long for the event loop.
                certificates = await Aside("caesura-certificates").run(httpx.create_ssl_context)
                self._made = httpcore.AsyncConnectionPool(
                    ssl_context=certificates,
                    max_connections=self._at_once,
                    max_keepalive_connections=8,
                    keepalive_expiry=5.0,
                    network_backend=self._network,
                )
            return self._made


async def _page(url: httpx.URL, response: httpcore.Response, headers: httpx.Headers) -> Page:
    if not 200 <= response.status < 300:
        reason = httpx.codes.get_reason_phrase(response.status)
        raise Refused(f"not fetched: the server answered {f'{response.status} {reason}'.strip()}")
    kind, charset = _content(headers.get("content-type", ""))
    if _is_too_large(headers.get("content-length", "")):
        raise body.TooLarge
    chunks = wire.chunks(response.aiter_stream(), response.extensions)
    content = await body.read(chunks, headers.get("content-encoding", ""), LARGEST)
    return Page(str(url), kind, charset, content)


def _is_about_a_certificate(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_too_large(length: str) -> bool:
    if not (length.isascii() and length.isdecimal()):
        return False
    return len(length) > 12 or int(length) > LARGEST


def _content(header: str) -> tuple[Literal["html", "text"], str]:
    """The kind of content and its character set. A page without a type is read as HTML, which a plain text
    is too."""
    kind, _, parameters = header.partition(";")
    kind = kind.strip().lower()
    name, _, value = parameters.strip().partition("=")
    charset = value.partition(";")[0].strip(" \"'") if name.strip().lower() == "charset" else ""
    charset = charset if charset.isascii() and charset.isprintable() and len(charset) <= 40 else ""
    if kind in _HTML or not kind:
        return "html", charset
    if kind in _TEXTS or (kind.startswith("application/") and kind.endswith(("+json", "+xml"))):
        return "text", charset
    raise Refused(
        f"not fetched: the content is of the type {address.brief(kind)}; only HTML, plain text, Markdown,"
        " JSON, XML and CSV are read"
    )
