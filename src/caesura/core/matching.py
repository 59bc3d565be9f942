"""Finding the text that an update replaces: exact, or different in white space, or similar.

A similar text is found in two steps. First the places are counted where short pieces of the wanted text stand
in about the right order. Then the text around the best places is aligned with the wanted text. Both steps
are plain Python on purpose: a long call of a C function would stop all other threads.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from caesura.core.alignment import Enough, Search
from caesura.core.errors import BadInput

#: The part of a text that must be the same, by the edit distance.
SIMILAR = 0.85
#: A longer text is searched exactly, and with other white space, but not for a similar one.
FUZZY_LIMIT = 64 * 1024
#: To count the pieces at so many characters costs as much as to align one.
_COUNTED = 8
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
    return exact(content, old) or near(content, old)


def exact(content: str, old: str) -> Match | None:
    """The one place where `old` stands exactly. None if there is none. Takes a moment only."""
    if not old:
        raise BadInput("old text is empty")
    start = content.find(old)
    if start < 0:
        return None
    if content.find(old, start + 1) >= 0:
        raise _several()
    return Match(start, start + len(old), exact=True)


def near(content: str, old: str) -> Match:
    """As `find`, for an `old` that stands nowhere exactly. Takes up to seconds for a long content."""
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
        first = max(start - before.count("\n"), 0)
        while start > first and content[start - 1] == "\n":
            start -= 1
    if after:
        wanted = breaks = after.count("\n")
        while end < len(content) and (content[end] in " \t\r" or (content[end] == "\n" and breaks)):
            breaks -= content[end] == "\n"
            end += 1
            if wanted and not breaks:
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
    try:
        search = Search(text, wanted)
        return _nearest(search, few) or (_nearest(search, most) if few < most else [])
    except Enough:
        return []


def _nearest(search: Search, most: int) -> list[_Place]:
    """As `_similar`, for an edit distance of at most `most`."""
    best, found = most, _Apart()
    for low, high, bound in _candidates(search, most):
        if bound > best:
            break
        for place in _aligned(search, low, high, best):
            if place.distance < best:
                best, found = place.distance, _Apart()
            found.add(place)
    whole = [_whole_words(search.text, place, search.wanted) for place in found.places]
    return [place for place in whole if _similarity(place, search.length) >= SIMILAR]


class _Apart:
    """Places that do not overlap, in the order of the text."""

    def __init__(self) -> None:
        self.places: list[_Place] = []

    def add(self, place: _Place) -> None:
        """Add the place, unless it overlaps another."""
        at = bisect_right(self.places, place.start, key=lambda other: other.start)
        if not any(place.overlaps(other) for other in self.places[max(at - 1, 0) : at + 1]):
            self.places.insert(at, place)


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


def _candidates(search: Search, most: int) -> Iterator[tuple[int, int, int]]:
    """Parts of the text that may hold a place with an edit distance of at most `most`, the best first: from,
    to, and a lower bound of the distance. A place with the distance d keeps all but q·d of the pieces of q
    characters, and none of them is displaced by more than d."""
    text, wanted = search.text, search.wanted
    search.pay((len(text) + len(_SIZES) * len(wanted)) // _COUNTED)
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


def _aligned(search: Search, low: int, high: int, most: int) -> list[_Place]:
    """The best places in this part of the text, if their distance is at most `most`."""
    scores = search.forwards(low, high)
    best = min(scores, default=most + 1)
    if best > most:
        return []
    ends = [low + place + 1 for place, score in enumerate(scores) if score == best]
    if len(ends) > _ENDS:
        ends = ends[: _ENDS // 2] + ends[-_ENDS // 2 :]
    places = [_Place(best, start, end) for end in ends for start in _starts(search, end, best)]
    search.pay(len(places))
    found = _Apart()
    for place in sorted(places, key=lambda place: _awkward(search.text, place, search.length)):
        found.add(place)
    return found.places


def _starts(search: Search, end: int, distance: int) -> Iterator[int]:
    """Where a place with this end and this distance may begin."""
    first = max(end - search.length - distance, 0)
    for count, score in enumerate(search.backwards(first, end), 1):
        if score == distance:
            yield end - count


def _awkward(text: str, place: _Place, length: int) -> tuple[int, int, int]:
    """Of equally similar places, the one that cuts no word is taken, then the one that is as long as the
    wanted text."""
    cut = _cuts(text, place.start) + _cuts(text, place.end)
    return cut, abs(place.end - place.start - length), place.start
