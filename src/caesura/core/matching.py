"""Finding the text that an update replaces: exact, or different in white space, or similar.

A similar text is found in two steps. First the places are counted where short pieces of the wanted text stand
in about the right order. Then the text around the best places is aligned with the wanted text, by Myers'
bit-parallel algorithm for the edit distance, with Python's long integers as the bits. Both steps are plain
Python on purpose: a long call of a C function would stop all other threads.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from caesura.core.errors import BadInput

#: The part of a text that must be the same, by the edit distance.
SIMILAR = 0.85
#: A longer text is searched exactly, and with other white space, but not for a similar one.
FUZZY_LIMIT = 64 * 1024
#: How much is aligned, in characters of the content, before the search gives up: about two seconds.
_PATIENCE = 1_500_000
#: With each such length of the wanted text, aligning one character costs that much again.
_WIDE = 8_000
#: A piece that stands more often in the wanted text says little about the place.
_OFTEN = 3
#: How many faults an old text usually has at most, beside one in a hundred characters.
_FAULTS = 8
#: The sizes of pieces that are tried. A shorter text has shorter ones: at least this many of them.
_SIZES, _FEW = (2, 3, 4, 6, 9, 14), 4
#: How many characters of a cut word are added, and the first character of the scripts that do not mark words.
_REST, _UNMARKED = 3, "\u2e80"
#: How many equally good ends of one match are compared.
_ENDS = 8
#: Marks that people and models write in several ways: each counts as the first of its group.
_GROUPS = ("'‘’‚′`", '"“”„″「」『』', "-‐‑‒–—−", ",，、", ".。．", ":：", ";；", "!！", "?？", "(（", ")）")
_SAME = {mark: group[0] for group in _GROUPS for mark in group[1:]}


class Match(NamedTuple):
    start: int
    end: int
    exact: bool = False
    similarity: float = 1.0


class _Place(NamedTuple):
    """A span of the searched text, and its edit distance from the wanted text."""

    distance: int
    start: int
    end: int

    def overlaps(self, other: _Place) -> bool:
        return self.start < other.end and other.start < self.end


def find(content: str, old: str) -> Match:
    """The one place of `old` in the content: the exact one, else one that differs in white space, else the
    most similar one. Several, or none, are an error: nothing is guessed."""
    if not old:
        raise BadInput("old text is empty")
    start = content.find(old)
    if start >= 0:
        if content.find(old, start + 1) >= 0:
            raise _several()
        return Match(start, start + len(old), exact=True)
    words = _Words(content)
    wanted = " ".join(old.split())
    places = [_Place(0, *span) for span in _spans(words.text, wanted)]
    if not places:
        places = _similar(_plain(words.text), _plain(wanted))
    if not places:
        raise BadInput("old text was not found: read the artifact and quote the text as it stands there")
    if len(places) > 1:
        raise _several()
    (place,) = places
    start, end = _widened(content, *words.original(place.start, place.end), old)
    return Match(start, end, similarity=_similarity(place, len(wanted)))


def _several() -> BadInput:
    return BadInput("old text stands in several places: give more of its surroundings")


class _Words:
    """A text with each run of white space as one space, and where its characters stood."""

    def __init__(self, content: str) -> None:
        found = content.split()
        self.text = " ".join(found)
        self._starts = [match.start() for match in re.finditer(r"\S+", content)]
        self._offsets = list(accumulate((len(word) + 1 for word in found), initial=0))

    def original(self, start: int, end: int) -> tuple[int, int]:
        return self._place(start), self._place(end - 1) + 1

    def _place(self, place: int) -> int:
        word = bisect_right(self._offsets, place) - 1
        return self._starts[word] + place - self._offsets[word]


def _spans(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Up to two places of the wanted text."""
    place = text.find(wanted) if wanted else -1
    for _ in range(2):
        if place < 0:
            return
        yield place, place + len(wanted)
        place = text.find(wanted, place + 1)


def _widened(content: str, start: int, end: int, old: str) -> tuple[int, int]:
    """The span with the white space at its ends that the old text has there too."""
    before, after = old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :]
    if before:
        while start > 0 and content[start - 1] in " \t":
            start -= 1
        for _ in range(before.count("\n")):
            start -= content[:start].endswith("\n")
    if after:
        breaks = after.count("\n")
        while end < len(content) and (content[end] in " \t\r" or (content[end] == "\n" and breaks)):
            breaks -= content[end] == "\n"
            end += 1
            if after.count("\n") and not breaks:
                break
    return start, end


def _plain(text: str) -> str:
    for mark, same in _SAME.items():
        text = text.replace(mark, same)
    return text


def _similarity(place: _Place, wanted: int) -> float:
    return 1 - place.distance / max(wanted, place.end - place.start, 1)


def _similar(text: str, wanted: str) -> list[_Place]:
    """The most similar places: one, or several that are equally good. None when there is too much to
    compare."""
    most = int(len(wanted) * (1 - SIMILAR) / SIMILAR)
    if len(wanted) > FUZZY_LIMIT or not (most or wanted in text):
        return []
    # Most old texts have few faults. The fewer are looked for, the fewer places come into question.
    few = min(most, _FAULTS + len(wanted) // 100)
    return _nearest(text, wanted, few) or (_nearest(text, wanted, most) if few < most else [])


def _nearest(text: str, wanted: str, most: int) -> list[_Place]:
    """As `_similar`, for an edit distance of at most `most`."""
    left, best = _PATIENCE, most
    found: list[_Place] = []
    masks, backwards = _masks(wanted), _masks(wanted[::-1])
    for low, high, bound in _candidates(text, wanted, most):
        if bound > best:
            break
        left -= int((high - low) * (1 + len(wanted) / _WIDE))
        if left < 0:
            return []
        for place in _aligned(text, low, high, len(wanted), best, masks, backwards):
            if place.distance < best:
                best, found = place.distance, []
            if not any(place.overlaps(other) for other in found):
                found.append(place)
    whole = [_whole_words(text, place, wanted) for place in found]
    return [place for place in whole if _similarity(place, len(wanted)) >= SIMILAR]


def _whole_words(text: str, place: _Place, wanted: str) -> _Place:
    """The place with the rest of a word that it cuts, if that is short and there is a fault at this end:
    `blue` is similar to `bleu`, and `blu` is even more so."""
    distance, start, end = place
    before, after = start, end
    if text[start : start + _REST] != wanted[:_REST]:
        while start - before < _REST and _cuts(text, before):
            before -= 1
    if text[end - _REST : end] != wanted[-_REST:]:
        while after - end < _REST and _cuts(text, after):
            after += 1
    start = start if _cuts(text, before) else before
    end = end if _cuts(text, after) else after
    return _Place(distance + place.start - start + end - place.end, start, end)


def _cuts(text: str, edge: int) -> bool:
    """Whether a word goes on at this edge. Chinese does not mark its words."""
    return 0 < edge < len(text) and all(
        character.isalnum() and character < _UNMARKED for character in text[edge - 1 : edge + 1]
    )


def _candidates(text: str, wanted: str, most: int) -> Iterator[tuple[int, int, int]]:
    """Parts of the text that may hold a place with an edit distance of at most `most`, the best first: from,
    to, and a lower bound of the distance. A place with the distance d keeps all but q·d of the pieces of q
    characters, and none of them is displaced by more than d."""
    q, pieces = _pieces(wanted)
    width = max(2 * most + 1, 16)
    votes: Counter[int] = Counter()
    for place in range(len(text) - q + 1):
        for offset in pieces.get(text[place : place + q], ()):
            votes[(place - offset) // width] += 1
    kept = sum(map(len, pieces.values()))
    firsts = {first for base in votes for first in (base - 1, base)}
    queue = [(-votes[first] - votes[first + 1], first) for first in firsts]
    heapify(queue)
    while queue:
        said, first = heappop(queue)
        count = votes[first] + votes[first + 1]
        if count < -said:  # a part of it was in a better candidate
            if count:
                heappush(queue, (-count, first))
            continue
        votes[first] = votes[first + 1] = 0
        low, high = first * width - 2 * most, (first + 2) * width + len(wanted) + 3 * most
        yield max(low, 0), min(high, len(text)), -(-(kept - count) // q)


def _pieces(wanted: str) -> tuple[int, dict[str, list[int]]]:
    """A size of pieces, and the pieces that tell a place, with where they stand. In a text that repeats
    itself, only longer ones do."""
    telling: dict[str, list[int]] = {}
    for q in _SIZES:
        pieces: defaultdict[str, list[int]] = defaultdict(list)
        for place in range(len(wanted) - q + 1):
            pieces[wanted[place : place + q]].append(place)
        telling = {piece: places for piece, places in pieces.items() if len(places) <= _OFTEN}
        if 2 * sum(map(len, telling.values())) >= len(wanted) and q * _FEW >= min(len(wanted), 4 * _FEW):
            break
    return q, telling


def _aligned(
    text: str,
    low: int,
    high: int,
    length: int,
    most: int,
    masks: dict[str, int],
    backwards: dict[str, int],
) -> list[_Place]:
    """The best places in this part of the text, if their distance is at most `most`."""
    scores = list(_distances(text[low:high], length, masks, anywhere=True))
    best = min(scores, default=most + 1)
    if best > most:
        return []
    ends = [low + place + 1 for place, score in enumerate(scores) if score == best]
    if len(ends) > _ENDS:
        ends = ends[: _ENDS // 2] + ends[-_ENDS // 2 :]
    places = [
        _Place(best, start, end) for end in ends for start in _starts(text, end, length, best, backwards)
    ]
    found: list[_Place] = []
    for place in sorted(places, key=lambda place: _awkward(text, place, length)):
        if not any(place.overlaps(other) for other in found):
            found.append(place)
    return found


def _starts(text: str, end: int, length: int, distance: int, backwards: dict[str, int]) -> Iterator[int]:
    """Where a place with this end and this distance may begin."""
    before = text[max(end - length - distance, 0) : end][::-1]
    for count, score in enumerate(_distances(before, length, backwards, anywhere=False), 1):
        if score == distance:
            yield end - count


def _awkward(text: str, place: _Place, length: int) -> tuple[int, int, int]:
    """Of equally similar places, the one that cuts no word is taken, then the one that is as long as the
    wanted text."""
    cut = _cuts(text, place.start) + _cuts(text, place.end)
    return cut, abs(place.end - place.start - length), place.start


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
