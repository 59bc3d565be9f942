"""Aligning a wanted text with the parts of another, by Myers' bit-parallel algorithm for the edit distance.

Python's long integers are the bits. All of it is plain Python on purpose: a long call of a C function would
stop all other threads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

#: How much one search does before it gives up, in characters that are aligned: about two seconds.
_PATIENCE = 1_500_000
#: With each such length of the wanted text, aligning one character costs that much again.
_WIDE = 8_000
#: The bits of a wanted text, its length times its different characters, that are held in memory at most.
_BITS = 1 << 28


class Enough(Exception):
    """There is too much to compare."""


class Search:
    """A search for one wanted text. Everything it does is paid from one bound."""

    def __init__(self, text: str, wanted: str) -> None:
        self.text, self.wanted, self.length = text, wanted, len(wanted)
        self._left = _PATIENCE
        signs = len(set(wanted))
        if signs * self.length > _BITS:
            raise Enough
        self._pay_aligning(2 * signs)
        self._masks, self._backwards = _masks(wanted), _masks(wanted[::-1])

    def pay(self, work: int) -> None:
        self._left -= work
        if self._left < 0:
            raise Enough

    def forwards(self, low: int, high: int) -> list[int]:
        """The edit distance from the best part that ends after each character of this part of the text."""
        self._pay_aligning(high - low)
        return list(_distances(self.text[low:high], self.length, self._masks, anywhere=True))

    def backwards(self, low: int, high: int) -> Iterator[int]:
        """The edit distance of each part that ends at `high`, the shortest first."""
        self._pay_aligning(high - low)
        return _distances(self.text[low:high][::-1], self.length, self._backwards, anywhere=False)

    def _pay_aligning(self, characters: int) -> None:
        self.pay(int(characters * (1 + self.length / _WIDE)))


def _masks(wanted: str) -> dict[str, int]:
    """For each character, the bits of the places where the wanted text has it."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, character in enumerate(wanted):
        places[character].append(place)
    return {character: _bits(found, len(wanted)) for character, found in places.items()}


def _bits(places: list[int], length: int) -> int:
    data = bytearray(length // 8 + 1)
    for place in places:
        data[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(data, "little")


def _distances(text: str, length: int, masks: dict[str, int], *, anywhere: bool) -> Iterator[int]:
    """The edit distance of the wanted text, after each character of this text, from the best part that ends
    there; or, unless `anywhere`, from the whole text up to there."""
    full, top = (1 << length) - 1, 1 << (length - 1)
    first = 0 if anywhere else 1
    more, less, score = full, 0, length
    for character in text:
        same = masks.get(character, 0)
        across = same | less
        same = (((same & more) + more) ^ more) | same
        rise, fall = less | (full & ~(same | more)), more & same
        if rise & top:
            score += 1
        elif fall & top:
            score -= 1
        rise = (rise << 1) | first
        more, less = ((fall << 1) | ~(across | rise)) & full, rise & across & full
        yield score
