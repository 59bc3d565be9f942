"""Asking a search engine: bounded in time, size and number of attempts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

import caesura
from caesura.agents import aside
from caesura.agents.aside import Aside
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.tool import ToolError
from caesura.agents.tools.web import body, engine, wire
from caesura.agents.tools.web.engine import Endpoint, Hit
from caesura.core import addresses

logger = logging.getLogger(__name__)

SECONDS = 20.0
_LARGEST = 1024 * 1024
_ATTEMPTS = 3
_PAUSE = 0.5
#: An engine may ask for a longer wait than this: then the model is told.
_LONGEST_WAIT = 5.0
_PATIENCE = 30.0
_AT_ONCE, _EACH = 16, 4
_BROKEN = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, httpcore.ProxyError)


class Failed(ToolError):
    """A search without an answer. The text tells the model why."""


class _Again(Exception):
    """The engine may answer if it is asked again, after `seconds`."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.seconds = reason, seconds


class Searcher:
    def __init__(self, endpoint: Endpoint | None = None, seconds: float = SECONDS) -> None:
        self._endpoint, self._seconds = endpoint, seconds
        self._places = Places(_AT_ONCE, each=_EACH)
        self._making = asyncio.Lock()
        self._made: httpcore.AsyncConnectionPool | None = None
        self._reading = Aside("caesura-results")

    async def search(self, query: str, person: str) -> list[Hit]:
        """What the engine found, or `Failed`."""
        if self._endpoint is None:
            raise Failed(
                "The web cannot be searched: the operator of this server has set no search engine"
                " (CAESURA_SEARCH_URL)."
            )
        try:
            async with self._places.one(person, _PATIENCE), asyncio.timeout(self._seconds):
                return await self._persist(self._endpoint, query)
        except Busy:
            raise Failed("not searched: too many other searches run now, try again later") from None
        except TimeoutError:
            raise Failed(
                f"not searched: the search engine did not answer within {self._seconds:g} seconds"
            ) from None
        except body.TooLarge:
            raise Failed(f"not searched: the answer is larger than {_LARGEST:,} bytes") from None
        except (engine.Malformed, body.Unreadable):
            logger.warning("the answer of the search engine is malformed (CAESURA_SEARCH_URL)")
            raise Failed("not searched: the answer of the search engine is malformed") from None

    async def aclose(self) -> None:
        if self._made is not None:
            await self._made.aclose()

    async def _persist(self, endpoint: Endpoint, query: str) -> list[Hit]:
        for attempt in range(_ATTEMPTS):
            try:
                return await self._ask(endpoint, query)
            except _Again as error:
                wait = _PAUSE * 2**attempt if error.seconds is None else error.seconds
                if attempt + 1 == _ATTEMPTS or wait > _LONGEST_WAIT:
                    logger.warning("the search engine failed: %s", error.reason)
                    later = f"; it asks to wait {wait:.0f} seconds" if error.seconds else ""
                    raise Failed(f"not searched: {error.reason}{later}") from None
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def _ask(self, endpoint: Endpoint, query: str) -> list[Hit]:
        pool = await self._pool(endpoint)
        method, url, params, content, headers = engine.request(endpoint, query)
        target = httpx.URL(url, params=params)
        try:
            async with pool.stream(
                method, str(target), headers=_headers(target, headers, content), content=content
            ) as response:
                said = httpx.Headers(response.headers)
                if (fault := _fault(response.status, said)) is not None:
                    raise fault
                chunks = wire.chunks(response.aiter_stream(), response.extensions)
                answer = await body.read(chunks, said.get("content-encoding", ""), _LARGEST)
        except _BROKEN:  # its text may contain more than the model should see
            raise _Again("the search engine cannot be reached, or broke off") from None
        if len(answer) <= aside.LARGE:
            return engine.hits(answer)
        return await self._reading.run(engine.hits, answer)

    async def _pool(self, endpoint: Endpoint) -> httpcore.AsyncConnectionPool:
        async with self._making:
            if self._made is None:
                # The certificates of all authorities are read: too long for the event loop.
                try:
                    self._made = await Aside("caesura-certificates").run(_pool, httpx.URL(endpoint.url))
                except (httpx.InvalidURL, ValueError):  # its text may have a part of a password
                    logger.warning("web_search: the proxy that the environment names cannot be used")
                    raise Failed("not searched: the proxy of this server cannot be used") from None
            return self._made


def _pool(url: httpx.URL) -> httpcore.AsyncConnectionPool:
    return httpcore.AsyncConnectionPool(
        ssl_context=httpx.create_ssl_context(),
        proxy=_proxy(url),
        max_connections=_AT_ONCE,
        max_keepalive_connections=4,
        keepalive_expiry=5.0,
        network_backend=wire.Network(_LARGEST),
    )


def _proxy(url: httpx.URL) -> httpcore.Proxy | None:
    """The proxy that the environment names. It cannot reach this machine's own loopback."""
    address = addresses.parse(url.host)
    near = url.host == "localhost" or (address is not None and address.is_loopback)
    known = getproxies()
    named = known.get(url.scheme) or known.get("all")
    if near or not named or proxy_bypass(url.host):
        return None
    proxy = httpx.Proxy(named if "://" in named else f"http://{named}")
    if proxy.url.scheme not in ("http", "https"):
        raise ValueError("a SOCKS proxy needs another package")
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth)


def _headers(url: httpx.URL, wanted: Mapping[str, str], content: bytes | None) -> list[tuple[str, str]]:
    headers = [("Host", url.netloc.decode("ascii")), ("User-Agent", f"Caesura/{caesura.__version__}")]
    length = [] if content is None else [("Content-Length", str(len(content)))]
    return [*headers, *wanted.items(), *length]


def _fault(status: int, headers: httpx.Headers) -> Exception | None:
    if status == 200:
        return None
    if status == 429 or status >= 500:
        return _Again(f"the search engine answered {status}", _retry_after(headers))
    if status in (401, 403):
        logger.warning("the search engine answered %s: is CAESURA_SEARCH_KEY right?", status)
        return Failed(
            f"not searched: the search engine answered {status}: it refuses this server; the operator must"
            " correct its settings"
        )
    return Failed(f"not searched: the search engine answered {status}")


def _retry_after(headers: httpx.Headers) -> float | None:
    """The seconds that the engine asks to wait. A date is not understood."""
    text = headers.get("retry-after", "").strip()
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
