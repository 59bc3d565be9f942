"""Who is reading: a run whose readers have all left is stopped after a while, if it was begun that way.

A request that will read counts from when the server knows what it asks for: the storage may take longer to
answer it than a run waits for its readers.

Each process knows its own readers. Only the one that runs a turn stops it, and the others tell it who reads
there.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from caesura.core.turns import Turn

#: A person, and the id of a conversation or a turn.
_Key = tuple[str, str]


class Presence:
    def __init__(self, grace: float, leave: Callable[[int], None]) -> None:
        """`leave` is called with the number of a turn that nobody has read for `grace` seconds."""
        self._grace = grace
        self._leave = leave
        self._readers: dict[int, int] = {}
        #: Turns that are read here and must not run without readers, and whether one came to them.
        self.needed: set[int] = set()
        self.came = asyncio.Event()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        #: Requests under way whose clients will read.
        self._coming: Counter[_Key] = Counter()
        #: Turns whose time has passed while such a request was under way.
        self._held: dict[_Key, dict[int, Turn]] = {}
        self._closed = False

    def readers(self, num: int) -> int:
        return self._readers.get(num, 0)

    def anybody(self, turn: Turn) -> bool:
        """Whether somebody reads the turn, or a request is under way that will. Safe in any thread."""
        return self.readers(turn.num) > 0 or self._awaited(turn) is not None

    def started(self, turn: Turn) -> None:
        """A run begins, maybe after a restart: its readers have the whole time to come (back)."""
        if turn.on_disconnect == "stop" and not self.readers(turn.num):
            self._wait(turn)

    def expect(self, turn: Turn) -> None:
        """A client learns of the turn just now, and has the whole time to begin to read."""
        if turn.num in self._timers:
            self._wait(turn)

    @contextmanager
    def coming(self, user_id: str, *places: str) -> Iterator[Callable[[str], None]]:
        """A request is under way whose client will read these conversations or turns, and those that are
        named meanwhile. No run is stopped for want of readers before it is answered."""
        keys: list[_Key] = []
        answered = False

        def name(place: str) -> None:
            if not answered:  # a request that was broken off may learn of its turn after that
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
            self.came.set()
        try:
            yield
        finally:
            self._readers[num] -= 1
            if not self._readers[num]:
                del self._readers[num]
                self.needed.discard(num)
                if turn.on_disconnect == "stop":
                    self._wait(turn)

    def close(self) -> None:
        """The process ends: readers who leave now are sent away, and come back to the next one."""
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
