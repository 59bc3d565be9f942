"""The readers of a SQLite file, counted: so the writer can have the file to itself for a moment.

SQLite begins its write-ahead log anew only while nobody reads from it. Readers that overlap without a pause
would let it grow for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Readers:
    """For threads: whoever must wait blocks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._paused = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A reader begins when nobody has the file to itself."""
        with self._changed:
            self._changed.wait_for(lambda: not self._paused)
            self._count += 1
        try:
            yield
        finally:
            with self._changed:
                self._count -= 1
                if self._paused:
                    self._changed.notify_all()

    @contextmanager
    def paused(self, within: float) -> Iterator[bool]:
        """No reader begins while this lasts. Gives whether those under way have ended within so many
        seconds."""
        with self._changed:
            self._paused = True
        try:
            with self._changed:
                alone = self._changed.wait_for(lambda: self._count == 0, within)
            yield alone
        finally:
            with self._changed:
                self._paused = False
                self._changed.notify_all()
