"""Who is reading: a run that was started with `on_disconnect: stop` is stopped some time after its last
reader has left.

A request that will read counts as a reader as soon as the server knows its target, because storage may take
longer to answer than a run waits for readers.

Each process knows its own readers. Only the process that runs a turn stops it. The other processes report
their readers to it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from caesura.core.turns import Turn

#: A person, and the id of a conversation or a turn.
_Key = tuple[str, str]


class Presence:
    def __init__(self, grace: float, leave: Callable[[int], None]) -> None:
        """`leave` is called with the number of a turn that nobody has read for `grace` seconds."""
        self._grace = grace
        self._leave = leave
        self._readers: dict[int, int] = {}
        #: Turns that are read in this process and must not run without readers.
        self.needed: set[int] = set()
        self._came = asyncio.Event()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        #: Requests in progress whose clients will read.
        self._coming: Counter[_Key] = Counter()
        #: Turns whose grace period ended while such a request was in progress.
        self._held: dict[_Key, dict[int, Turn]] = {}
        self._closed = False

    def readers(self, num: int) -> int:
        return self._readers.get(num, 0)

    def anybody(self, turn: Turn) -> bool:
        """Whether somebody reads the turn, or a request that will read it is in progress. Safe in any
        thread."""
        return self.readers(turn.num) > 0 or self._awaited(turn) is not None

    def started(self, turn: Turn) -> None:
        """A run begins, perhaps after a restart. Its readers have the full grace period to connect."""
        if turn.on_disconnect == "stop" and not self.readers(turn.num):
            self._wait(turn)

    def expect(self, turn: Turn) -> None:
        """A client is about to learn of the turn. It has the full grace period to begin reading."""
        if turn.num in self._timers:
            self._wait(turn)

    @contextmanager
    def coming(self, user_id: str, *places: str) -> Iterator[Callable[[str], None]]:
        """Register a request whose client will read these conversations or turns. The yielded function adds
        more of them. No run of theirs is stopped for lack of readers until the request has its response."""
        keys: list[_Key] = []
        answered = False

        def name(place: str) -> None:
            if not answered:  # a cancelled request may learn of its turn later
                keys.append((user_id, place))
                self._coming[user_id, place] += 1

        for place in places:
            name(place)
        try:
            yield name
        finally:
            answered = True
            for key in keys:
                self._answered(key)

    @contextmanager
    def reading(self, turn: Turn) -> Iterator[None]:
        num = turn.num
        self._readers[num] = self.readers(num) + 1
        self._cancel(num)
        if turn.on_disconnect == "stop" and num not in self.needed:
            self.needed.add(num)
            self._came.set()
        try:
            yield
        finally:
            self._readers[num] -= 1
            if not self._readers[num]:
                del self._readers[num]
                self.needed.discard(num)
                if turn.on_disconnect == "stop":
                    self._wait(turn)

    async def wait_for_needed(self, within: float) -> None:
        """Wait until a turn is added to `needed`, at most this many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._came.wait()
        self._came.clear()

    def close(self) -> None:
        """The process is shutting down. Readers that leave now were disconnected by it, and will reconnect to
        the next process, so no run is stopped for them."""
        self._closed = True
        for num in list(self._timers):
            self._cancel(num)

    def _awaited(self, turn: Turn) -> _Key | None:
        keys = ((turn.user_id, turn.id), (turn.user_id, turn.conversation_id))
        return next((key for key in keys if key in self._coming), None)

    def _answered(self, key: _Key) -> None:
        self._coming[key] -= 1
        if not self._coming[key]:
            del self._coming[key]
            for turn in self._held.pop(key, {}).values():
                self.started(turn)

    def _wait(self, turn: Turn) -> None:
        self._cancel(turn.num)
        if self._closed:
            return
        self._timers[turn.num] = asyncio.get_running_loop().call_later(self._grace, self._left, turn)

    def _left(self, turn: Turn) -> None:
        self._timers.pop(turn.num, None)
        if (key := self._awaited(turn)) is not None:
            self._held.setdefault(key, {})[turn.num] = turn
        else:
            self._leave(turn.num)

    def _cancel(self, num: int) -> None:
        if timer := self._timers.pop(num, None):
            timer.cancel()
