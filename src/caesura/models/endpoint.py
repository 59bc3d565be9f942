"""Where a provider is, and how it is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson

from caesura.models import refusals
from caesura.models.connections import Connections
from caesura.models.failures import ModelError
from caesura.models.line import Exchange
from caesura.models.sse import Unfinished

#: The most bytes of a list of models, and the seconds it may take.
_LIST_BYTES, _LIST_SECONDS = 8 * 1024 * 1024, 60.0
#: How many seconds the body of a refusal may take.
_REFUSAL_SECONDS = 5.0


class Endpoint:
    """`headers` hold the key. What `secrets` names stays out of every message. `doubt` is what may be wrong
    with the address, if nothing that is asked for is there."""

    def __init__(
        self,
        connections: Connections,
        url: str,
        headers: Mapping[str, str],
        secrets: tuple[str, ...],
        idle_timeout: float,
        doubt: str = "",
    ) -> None:
        self._connections, self._url, self._idle_timeout = connections, url.rstrip("/"), idle_timeout
        self._headers = {"Accept-Encoding": "identity", "User-Agent": "caesura", **headers}
        self._secrets, self._doubt = secrets, doubt
        #: With its port, unless that is the usual one.
        self.host = urlsplit(url).netloc

    @property
    def unfinished(self) -> Unfinished:
        return self._connections.unfinished

    @property
    def secrets(self) -> tuple[str, ...]:
        return (*self._secrets, *self._connections.proxy_secrets(self._url))

    async def post(self, path: str, body: Mapping[str, Any]) -> Exchange:
        """The reply, if it is one. Raises a `ModelError`, also for a refusal."""
        headers = {**self._headers, "Content-Type": "application/json", "Accept": "text/event-stream"}
        return await self._ask("POST", path, headers, _encoded(body))

    async def get(self, path: str) -> Any:
        """What is at this path, as JSON."""
        exchange = await self._ask("GET", path, {**self._headers, "Accept": "application/json"})
        try:
            async with asyncio.timeout(_LIST_SECONDS):
                return orjson.loads(await exchange.whole(_LIST_BYTES))
        except TimeoutError:
            raise ModelError("silent", f"{self.host} did not come to the end of its answer") from None
        except ValueError:
            told = f"{self.host} answered with something that is not JSON"
            raise ModelError("broken", f"{told} ({self._doubt})" if self._doubt else told) from None
        finally:
            exchange.abort()

    async def _ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Exchange:
        exchange = await self._connections.request(
            method, self._url + path, headers, body, idle_timeout=self._idle_timeout
        )
        if exchange.status == 200:
            return exchange
        try:
            async with asyncio.timeout(_REFUSAL_SECONDS):
                said = await exchange.whole(refusals.BODY_BYTES)
        except (ModelError, TimeoutError):
            said = b""  # the status says enough
        finally:
            exchange.abort()
        raise refusals.from_status(
            exchange.status, exchange.headers, said, self.host, self.secrets, self._doubt
        )


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(body, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        pass
    try:  # half a surrogate pair in a text, or a very large number
        return json.dumps(body).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError("request", f"the request cannot be written as JSON: {error}") from None
