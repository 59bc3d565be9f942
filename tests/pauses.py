"""How long an event loop was kept busy: its longest single step, by the CPU time of its thread.

CPU time, not the clock: on a busy machine the clock also counts what other processes did meanwhile.
"""

import asyncio
import time
from types import TracebackType
from typing import Self

_TICK = 0.001


class Pauses:
    """Watches the loop it is entered in. `longest` is in seconds."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        self.longest, self._last = 0.0, time.thread_time()
        self._schedule()

    def end(self) -> None:
        self._look()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_TICK, self._tick)

    def _tick(self) -> None:
        self._look()
        self._schedule()

    def _look(self) -> None:
        now = time.thread_time()
        self.longest = max(self.longest, now - self._last)
        self._last = now
