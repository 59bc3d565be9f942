"""Patience: how long to retry, and how long to wait in between."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

from caesura.client.errors import ClientError

#: Called with the error, and the seconds until the next attempt.
Waiting = Callable[[ClientError, float], None]

_FIRST, _LONGEST = 0.1, 5.0


class Patience:
    """Waits longer each time, with random variation. A success resets it."""

    def __init__(self, seconds: float, waiting: Waiting | None = None) -> None:
        self._seconds, self._waiting = seconds, waiting
        #: Whether a new token was requested since the last success.
        self.let_in_again = False
        #: How often it has waited.
        self.waits = 0
        self._pause, self._until = _FIRST, 0.0

    def renew(self) -> None:
        self._pause, self._until = _FIRST, 0.0
        self.let_in_again = False

    async def wait(self, error: ClientError) -> None:
        """Wait before another attempt. Raises `error` if the attempt would come too late."""
        now = time.monotonic()
        self._until = self._until or now + self._seconds
        pause = max(self._pause * random.uniform(0.5, 1.0), error.retry_after)  # noqa: S311 - no secret
        if now + pause > self._until:
            raise error
        if self._waiting is not None:
            self._waiting(error, pause)
        self.waits += 1
        self._pause = min(self._pause * 2, _LONGEST)
        await asyncio.sleep(pause)
