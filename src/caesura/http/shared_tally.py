"""The shared tally: keys are counted in Redis, by all processes together, while Redis answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from redis.exceptions import RedisError

from caesura.service import redis_client

logger = logging.getLogger(__name__)

_PATIENCE = 1.0
_PAUSE = 5.0
_PREFIX = "caesura:limits:"
#: Counts a key and returns 0, or returns the milliseconds until the key is allowed again.
_HIT = """
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
if count >= tonumber(ARGV[1]) then return math.max(redis.call('PTTL', KEYS[1]), 1) end
if count == 0 then redis.call('SET', KEYS[1], 1, 'PX', ARGV[2]) else redis.call('INCR', KEYS[1]) end
return 0
"""

Spawn = Callable[[Coroutine[Any, Any, None]], object]


class SharedTally:
    """Returns None while Redis does not answer. At most one request waits to find that out: for some seconds
    afterwards Redis is not asked, and then a task tries it, which no request waits for."""

    def __init__(self, url: str, spawn: Spawn) -> None:
        self._redis = redis_client.connect(url, _PATIENCE)
        self._spawn = spawn
        self._lost = self._looking = False
        self._again = 0.0

    async def hit(self, key: str, amount: int, seconds: int) -> float | None:
        """Count the key and return 0, or return the seconds until it is allowed again if it came too
        often."""
        left = await self._ask("EVAL", _HIT, 1, f"{_PREFIX}{key}", amount, seconds * 1000)
        return None if left is None else left / 1000

    async def remember(self, key: str, seconds: int) -> None:
        await self._ask("SET", f"{_PREFIX}{key}", 1, "EX", seconds)

    async def remembers(self, key: str) -> bool:
        return bool(await self._ask("EXISTS", f"{_PREFIX}{key}"))

    async def aclose(self) -> None:
        await self._redis.aclose()

    async def _ask(self, *command: str | int) -> Any:
        if self._lost:
            self._look()
            return None
        try:
            return await self._execute(*command)
        except (RedisError, OSError) as error:  # a timeout is an OSError
            self._lose(error)
            return None

    async def _execute(self, *command: str | int) -> Any:
        async with asyncio.timeout(_PATIENCE):
            return await self._redis.execute_command(*command)  # type: ignore[no-untyped-call]

    def _lose(self, error: Exception) -> None:
        self._again = time.monotonic() + _PAUSE
        if not self._lost:
            self._lost = True
            why = f"{type(error).__name__}: {error}"
            logger.warning("Redis does not answer, rates are counted in this process: %s", why)

    def _look(self) -> None:
        if not self._looking and time.monotonic() >= self._again:
            self._looking = True
            self._spawn(self._try())

    async def _try(self) -> None:
        """Tries the command that requests use: a Redis that answers but cannot write is of no use."""
        try:
            # Old connections may be dead without an error yet: each would delay a request.
            await self._redis.connection_pool.disconnect(inuse_connections=False)
            await self._execute("EVAL", _HIT, 1, f"{_PREFIX}try", 1_000_000, 1000)
        except (RedisError, OSError) as error:
            self._lose(error)
        else:
            self._lost = False
            logger.warning("Redis answers again, rates are counted there")
        finally:
            self._looking = False
