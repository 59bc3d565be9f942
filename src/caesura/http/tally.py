"""A tally: how often each of many keys occurred in a window of time, in memory of a fixed size.

It is a count-min sketch: a key has one counter in each of a few rows, and its count is the least of them. Two
keys that share all their counters are counted as one. So a count may be too high, which is rare, but is never
too low: nobody can lower the count of another key, however many keys they make up.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from array import array

_ROWS, _WIDTH = 4, 1 << 14
_BYTES = 4


class Tally:
    def __init__(self, amount: int, seconds: int) -> None:
        """Each key may occur `amount` times in a window. A window begins with the first key after the last
        window."""
        self.amount, self.seconds = amount, seconds
        # Random, so that nobody can search for keys that share the counters of another key.
        self._salt = secrets.token_bytes(16)
        self._ends = 0.0
        self._rows: list[array[int]] = []

    def hit(self, key: str) -> float:
        """Count the key and return 0, or return the seconds until it is allowed again if it came too
        often."""
        now = time.monotonic()
        if now >= self._ends:
            self._begin(now)
        places = self._places(key)
        count = min(row[place] for row, place in zip(self._rows, places, strict=True))
        if count >= self.amount:
            return self._ends - now
        for row, place in zip(self._rows, places, strict=True):
            row[place] = max(row[place], count + 1)
        return 0.0

    def _begin(self, now: float) -> None:
        self._ends = now + self.seconds
        self._rows = [array("I", bytes(_WIDTH * array("I").itemsize)) for _ in range(_ROWS)]

    def _places(self, key: str) -> list[int]:
        digest = hashlib.blake2b(
            key.encode(errors="replace"), key=self._salt, digest_size=_ROWS * _BYTES
        ).digest()
        parts = (digest[start : start + _BYTES] for start in range(0, len(digest), _BYTES))
        return [int.from_bytes(part, "big") % _WIDTH for part in parts]
