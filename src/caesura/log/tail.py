"""The tail of a live turn: its newest events, in memory, shared by all of its readers in this process.

A reader is only a cursor. It takes new events from the tail, and from the rows those that the tail no longer
holds. So a reader that never reads holds nothing, and a slow one delays nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile

from caesura.core import codec
from caesura.core.events import Envelope

_KEEP = 1024
#: While the writer is in this process, a reader queries the rows this many times less often: another process
#: writes only if this one has lost the turn and does not know it yet.
_SELDOM = 10
#: About this many bytes of events are kept: a tool's result can be a thousand times as long as a word.
_BYTES = 512 * 1024


class Tail:
    def __init__(self) -> None:
        self.readers = 0
        self.closed = False
        #: Counts changes, so that a reader that was querying the rows can tell whether it missed one.
        self.version = 0
        #: The number of the newest event, as far as this process knows.
        self._last: int | None = None
        self._writers = 0
        self._events: list[Envelope] = []
        #: The approximate bytes of each event, and of all events together.
        self._sizes: list[int] = []
        self._size = 0
        self._waiting: dict[asyncio.Future[bool], None] = {}

    def push(self, events: Sequence[Envelope]) -> None:
        """Add committed events and wake waiting readers."""
        held = self._events
        if held and events[0].seq != held[-1].seq + 1:
            self._clear()  # another process wrote in between: those events are in the rows
        sizes = [codec.size(item.event) for item in events]
        held.extend(events)
        self._sizes.extend(sizes)
        self._size += sum(sizes)
        self._last = held[-1].seq
        if len(held) > 2 * _KEEP or self._size > 2 * _BYTES:
            self._shorten()
        self.wake()

    def after(self, seq: int, limit: int, size: int) -> list[Envelope] | None:
        """The next events after `seq`: at most `limit` events and `size` bytes, but at least one event. None
        when the rows must be queried instead."""
        held = self._events
        if not held:
            return [] if self._last is not None and seq >= self._last else None
        if held[0].seq > seq + 1:
            return None
        start = seq + 1 - held[0].seq
        if self._size > size:
            limit = fitting(self._sizes[start : start + limit], size)
        return held[start : start + limit]

    def begin(self, last: int) -> None:
        """The turn's writer is in this process, and `last` is the newest event so far."""
        self._writers += 1
        if not self._events:
            self._last = last

    def end(self) -> None:
        """The turn's writer in this process has ended."""
        self._writers -= 1
        self.wake()

    def close(self) -> None:
        self.closed = True
        self.wake()

    def overtaken(self) -> None:
        """Another process wrote: from now on the rows must be queried."""
        self._clear()
        self._last = None
        self.wake()

    def _shorten(self) -> None:
        """Keep only the newest events, bounded in number and in bytes."""
        kept, size = 0, 0
        for more in reversed(self._sizes[-_KEEP:]):
            if size + more > _BYTES:
                break
            kept, size = kept + 1, size + more
        del self._events[: len(self._events) - kept]
        del self._sizes[: len(self._sizes) - kept]
        self._size = size

    def _clear(self) -> None:
        self._events.clear()
        self._sizes.clear()
        self._size = 0

    def wake(self) -> None:
        self.version += 1
        for future in self._waiting:
            if not future.done():
                future.set_result(True)
        self._waiting.clear()

    async def changed(self, within: float | None) -> bool:
        """Wait for the next change. False if there was none within this time, which is longer while the
        turn's writer is in this process."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bool] = loop.create_future()
        self._waiting[future] = None
        # A timer instead of `asyncio.wait`, which costs four times as much: each reader waits for each
        # commit.
        seconds = within and within * (_SELDOM if self._writers else 1)
        timer = None if seconds is None else loop.call_later(seconds, _tell, future, False)
        try:
            return await future
        finally:
            if timer is not None:
                timer.cancel()
            self._waiting.pop(future, None)


def _tell(future: asyncio.Future[bool], changed: bool) -> None:
    if not future.done():
        future.set_result(changed)


def fitting(sizes: Iterable[int], size: int) -> int:
    """How many of these fit into `size` bytes; at least one, so that the reader makes progress."""
    totals = accumulate(sizes)
    return max(sum(1 for _ in takewhile(lambda total: total <= size, totals)), 1)
