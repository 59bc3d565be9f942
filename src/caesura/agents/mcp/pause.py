"""A pause after a failure, which grows with each further one."""

from __future__ import annotations

import time

#: Doublings beyond this would only make large numbers.
_MOST = 16


class Pause:
    def __init__(self, first: float, longest: float) -> None:
        """The first pause lasts `first` seconds, and each further one twice as long, at most `longest`."""
        self._first, self._longest = first, longest
        self._failures, self._until = 0, 0.0

    @property
    def lasts(self) -> bool:
        return time.monotonic() < self._until

    @property
    def has_failed(self) -> bool:
        return self._failures > 0

    def fail(self) -> None:
        self._until = time.monotonic() + min(self._first * 2**self._failures, self._longest)
        self._failures = min(self._failures + 1, _MOST)

    def end(self) -> None:
        self._failures, self._until = 0, 0.0
