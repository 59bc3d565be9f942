"""How long an event loop was kept busy: its longest single step, by the CPU time of its thread.

CPU time, not the clock: on a busy machine the clock also counts what other processes did meanwhile. Garbage
collections do not count: the heap of the tests is many times that of a server.
"""

import asyncio
import gc
import threading
import time
from types import TracebackType
from typing import Self

#: Seconds of CPU that one step may take. What must not happen takes many times as long. On a busy machine a
#: step takes up to three times its usual time, because others use the caches.
LONGEST_STEP = 0.25
_TICK = 0.001


class Pauses:
    """Watches the loop it is entered in. `longest` is in seconds."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._collecting, self._thread = 0.0, 0

    async def __aenter__(self) -> Self:
        self.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        self.longest, self._last = 0.0, time.thread_time()
        self._thread = threading.get_ident()
        gc.callbacks.append(self._collected)
        self._schedule()

    def end(self) -> None:
        self._look()
        gc.callbacks.remove(self._collected)
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

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self._last += time.thread_time() - self._collecting
