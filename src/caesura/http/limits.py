"""How often one person may do something: counted in memory, or in Redis where several processes serve."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage, Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError

from caesura.core.errors import TooManyRequests

if TYPE_CHECKING:
    from redis.asyncio import Redis

logger = logging.getLogger(__name__)

_PATIENCE = 1.0
#: From one address, as many people may log in as often as each may.
_NAMES = 10


class Limits:
    def __init__(
        self,
        redis_url: str | None = None,
        *,
        requests: str = "off",
        runs: str = "off",
        logins: str = "off",
        registrations: str = "off",
    ) -> None:
        """Each is such as `60/minute`, or `off`."""
        rates = {"requests": requests, "runs": runs, "logins": logins, "registrations": registrations}
        self._rates: dict[str, RateLimitItem] = {
            name: parse(rate) for name, rate in rates.items() if rate != "off"
        }
        if (one := self._rates.get("logins")) is not None:
            self._rates["addresses"] = type(one)(one.amount * _NAMES, one.multiples)
        self._redis = None if redis_url is None else _client(redis_url)
        self._limiter = FixedWindowRateLimiter(_storage(redis_url, self._redis))

    async def requests(self, user_id: str) -> None:
        await self._hit("requests", user_id)

    async def runs(self, user_id: str) -> None:
        await self._hit("runs", user_id)

    async def logins(self, username: str, address: str) -> None:
        """Counted for the name from this address, and for the address over all names."""
        await self._hit("logins", username, address)
        await self._hit("addresses", address)

    async def registrations(self, address: str) -> None:
        await self._hit("registrations", address)

    async def aclose(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()

    async def _hit(self, what: str, *who: str) -> None:
        rate = self._rates.get(what)
        if rate is None:
            return
        try:
            if await self._limiter.hit(rate, what, *who):
                return
            reset = (await self._limiter.get_window_stats(rate, what, *who)).reset_time
        except StorageError as error:
            # Better to let some through than to refuse everyone because a counter is away.
            logger.warning("cannot count %s: %s", what, error)
            return
        raise TooManyRequests(max(math.ceil(reset - time.time()), 1))


async def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


Address = Annotated[str, Depends(address_of)]


def _client(redis_url: str) -> Redis:
    from redis.asyncio import Redis  # takes a moment to load, and few need it

    return Redis.from_url(redis_url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE)


def _storage(redis_url: str | None, client: Redis | None) -> Storage:
    if redis_url is None or client is None:
        return MemoryStorage()
    return RedisStorage(
        f"async+{redis_url}",
        wrap_exceptions=True,
        implementation="redispy",
        key_prefix="caesura:limits",
        connection_pool=client.connection_pool,  # type: ignore[arg-type]
    )
