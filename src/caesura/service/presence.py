"""Who is reading: a run whose readers have all left is stopped after a while, if it was begun that way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from caesura.store.turns import Turn


class Presence:
    def __init__(self, grace: float, leave: Callable[[int], None]) -> None:
        """`leave` is called with the number of a turn that nobody has read for `grace` seconds."""
        self._grace = grace
        self._leave = leave
        self._readers: dict[int, int] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._closed = False

    def readers(self, num: int) -> int:
        return self._readers.get(num, 0)

    def started(self, turn: Turn) -> None:
        """A run begins, maybe after a restart: its readers have the whole time to come (back)."""
        if turn.on_disconnect == "stop" and not self.readers(turn.num):
            self._wait(turn.num)

    @contextmanager
    def reading(self, turn: Turn) -> Iterator[None]:
        num = turn.num
        self._readers[num] = self.readers(num) + 1
        self._cancel(num)
        try:
            yield
        finally:
            self._readers[num] -= 1
            if not self._readers[num]:
                del self._readers[num]
                if turn.on_disconnect == "stop":
                    self._wait(num)

    def close(self) -> None:
        """The process ends: readers who leave now are sent away, and come back to the next one."""
        self._closed = True
        for num in list(self._timers):
            self._cancel(num)

    def _wait(self, num: int) -> None:
        self._cancel(num)
        if self._closed:
            return
        self._timers[num] = asyncio.get_running_loop().call_later(self._grace, self._left, num)

    def _left(self, num: int) -> None:
        self._timers.pop(num, None)
        self._leave(num)

    def _cancel(self, num: int) -> None:
        if timer := self._timers.pop(num, None):
            timer.cancel()
