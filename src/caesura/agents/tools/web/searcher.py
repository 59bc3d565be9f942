"""Asking a search engine: bounded in time, size and number of attempts."""

from __future__ import annotations

import asyncio
import logging

import httpx
from langchain_core.tools import ToolException

import caesura
from caesura.agents.aside import Aside
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.web import body, engine
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


class Failed(ToolException):
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
        self._made: httpx.AsyncClient | None = None

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
        client = await self._client(endpoint)
        method, url, params, content, headers = engine.request(endpoint, query)
        try:
            async with client.stream(
                method, url, params=params, content=content, headers=headers
            ) as response:
                if (fault := _fault(response)) is not None:
                    raise fault
                packed = response.headers.get("content-encoding", "")
                return engine.hits(await body.read(response.aiter_raw(), packed, _LARGEST))
        except httpx.RequestError:  # its text may contain more than the model should see
            raise _Again("the search engine cannot be reached, or broke off") from None

    async def _client(self, endpoint: Endpoint) -> httpx.AsyncClient:
        async with self._making:
            if self._made is None:
                # The certificates of all authorities are read: too long for the event loop.
                self._made = await Aside("caesura-certificates").run(_client, endpoint.url)
            return self._made


def _client(url: str) -> httpx.AsyncClient:
    address = addresses.parse(httpx.URL(url).host)
    near = httpx.URL(url).host == "localhost" or (address is not None and address.is_loopback)
    return httpx.AsyncClient(
        timeout=SECONDS,
        limits=httpx.Limits(max_connections=_AT_ONCE, max_keepalive_connections=4),
        headers={"User-Agent": f"Caesura/{caesura.__version__}"},
        trust_env=not near,  # a proxy from the environment cannot reach this machine's own loopback
    )


def _fault(response: httpx.Response) -> Exception | None:
    status = response.status_code
    if status == 200:
        return None
    if status == 429 or status >= 500:
        return _Again(f"the search engine answered {status}", _retry_after(response))
    if status in (401, 403):
        logger.warning("the search engine answered %s: is CAESURA_SEARCH_KEY right?", status)
        return Failed(
            f"not searched: the search engine answered {status}: it refuses this server; the operator must"
            " correct its settings"
        )
    return Failed(f"not searched: the search engine answered {status}")


def _retry_after(response: httpx.Response) -> float | None:
    """The seconds that the engine asks to wait. A date is not understood."""
    text = response.headers.get("retry-after", "").strip()
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
