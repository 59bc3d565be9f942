"""Artifacts: documents with immutable versions; how an update is applied, and what changed between two."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from caesura.core.errors import BadInput

UpdateType = Literal["create", "update", "update_fuzzy", "rewrite"]
#: A backslash marks the note after a last line that has no line break.
Op = Literal[" ", "-", "+", "\\"]

CONTENT_LIMIT = 1024 * 1024
_SIMILAR = 0.85
#: How many pairs of characters a search for similar text may compare: a fraction of a second.
_PATIENCE = 2_000_000
#: The fixed cost of comparing two lines, in pairs of characters.
_PAIR = 50
#: In longer texts only an exact match, or one that differs in white space, is searched for.
_FUZZY_LIMIT = 256 * 1024
_CONTEXT = 3
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_UNBROKEN = "No newline at end of file"


@dataclass(frozen=True, slots=True)
class Edit:
    """New content and how it was made. `changes` are pairs of the old text, as found, and the new text."""

    content: str
    update_type: UpdateType
    changes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[tuple[Op, str], ...]


@dataclass(frozen=True, slots=True)
class Diff:
    unified: str
    hunks: tuple[Hunk, ...]


def update(content: str, old: str, new: str) -> Edit:
    """Replace `old` by `new` at the exact match, else at a match that differs in white space, else at a
    similar one. Several matches, or none, are an error: nothing is guessed."""
    if not old:
        raise BadInput("old text is empty")
    start = content.find(old)
    if start >= 0 and content.find(old, start + 1) >= 0:
        raise _several()
    if start >= 0:
        return _edit(content[:start] + new + content[start + len(old) :], "update", old, new)
    start, end = _fuzzy(content, old)
    return _edit(content[:start] + new + content[end:], "update_fuzzy", content[start:end], new)


def rewrite(old: str, new: str) -> Edit:
    return _edit(new, "rewrite", old, new)


def check_content(content: str) -> None:
    if len(content.encode("utf-8", "replace")) > CONTENT_LIMIT:
        raise BadInput(f"content is longer than {CONTENT_LIMIT} bytes")


def diff(old: str, new: str, old_name: str = "old", new_name: str = "new") -> Diff:
    """The changed lines with three lines of context, as unified text and as hunks. If it would take too long
    to find the unchanged lines between the first change and the last, that whole region counts as changed."""
    hunks = tuple(_hunks(_LINE.findall(old), _LINE.findall(new)))
    head = [f"--- {old_name}", f"+++ {new_name}"] if hunks else []
    return Diff("\n".join([*head, *(line for hunk in hunks for line in _unified(hunk))]), hunks)


def _edit(content: str, kind: UpdateType, old: str, new: str) -> Edit:
    check_content(content)
    return Edit(content, kind, ((old, new),))


def _fuzzy(content: str, old: str) -> tuple[int, int]:
    places = _spaced(content, old)
    if not places and old.strip() and len(content) + len(old) <= _FUZZY_LIMIT:
        places = _similar(content, old)
    if not places:
        raise BadInput("old text was not found")
    if len(places) > 1:
        raise _several()
    return places[0]


def _spaced(content: str, old: str) -> list[tuple[int, int]]:
    """Up to two places where the content equals `old` except for white space."""
    wanted = " ".join(old.split())
    words, starts = content.split(), [match.start() for match in re.finditer(r"\S+", content)]
    joined, offsets = " ".join(words), list(accumulate((len(word) + 1 for word in words), initial=0))

    def original(place: int) -> int:
        word = bisect_right(offsets, place) - 1
        return starts[word] + place - offsets[word]

    places: list[tuple[int, int]] = []
    place = joined.find(wanted) if wanted else -1
    while place >= 0 and len(places) < 2:
        places.append((original(place), original(place + len(wanted) - 1) + 1))
        place = joined.find(wanted, place + 1)
    return places


def _several() -> BadInput:
    return BadInput("old text stands in several places: give more of its surroundings")


def _similar(content: str, old: str) -> list[tuple[int, int]]:
    """Runs of lines, as many as `old` has, that are nearly equal to it: the best match and every equally good
    one. Empty when there is too much to compare: nothing is guessed."""
    lines = content.splitlines(keepends=True)
    found, wanted = [line.strip() for line in lines], [line.strip() for line in old.splitlines()]
    best, left = _SIMILAR, _PATIENCE
    firsts: list[int] = []
    for bound, first in sorted(_bounds(found, wanted), key=lambda item: (-item[0], item[1])):
        if bound < best:
            break
        pairs = [_unlike(*pair) for pair in zip(found[first : first + len(wanted)], wanted, strict=True)]
        left -= sum(_PAIR + len(one) * len(other) for one, other, _ in pairs)
        if left < 0:
            return []
        score = _score(pairs)
        if score > best:
            best, firsts = score, []
        if score == best:
            firsts.append(first)
    return [_span(lines, first, len(wanted), old) for first in firsts]


def _bounds(found: list[str], wanted: list[str]) -> Iterator[tuple[float, int]]:
    """The highest score that each run of lines can reach, as if the order of its characters did not
    matter."""
    need = Counter("".join(wanted))
    have: Counter[str] = Counter()
    size, shared, length = need.total(), 0, 0
    for index, line in enumerate(found):
        for character in line:
            have[character] += 1
            shared += have[character] <= need[character]
        length += len(line)
        first = index - len(wanted) + 1
        if first < 0:
            continue
        bound = 2 * shared / (size + length) if size + length else 1.0
        if bound >= _SIMILAR:
            yield bound, first
        for character in found[first]:
            shared -= have[character] <= need[character]
            have[character] -= 1
        length -= len(found[first])


def _unlike(one: str, other: str) -> tuple[str, str, int]:
    """Where two lines differ, and the length of their common prefix and suffix."""
    start = _alike(one, other)
    one, other = one[start:], other[start:]
    end = _alike(one[::-1], other[::-1])
    return one[: len(one) - end], other[: len(other) - end], start + end


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common prefix of two texts, in characters or lines."""
    if one == other:
        return len(one)
    unequal = (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(unequal, min(len(one), len(other)))


def _score(pairs: list[tuple[str, str, int]]) -> float:
    same = total = 0
    for one, other, around in pairs:
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
        same += around + sum(block.size for block in matcher.get_matching_blocks())
        total += 2 * around + len(one) + len(other)
    return 2 * same / total if total else 1.0


def _span(lines: list[str], first: int, count: int, old: str) -> tuple[int, int]:
    start = sum(len(line) for line in lines[:first])
    run = lines[first : first + count]
    end = start + sum(len(line) for line in run)
    return start, end if old.endswith("\n") else end - _newline(run[-1])


def _newline(line: str) -> int:
    return len(line) - len(line.rstrip("\r\n"))


class _Tired(Exception):
    """Too many lines were compared."""


class _Matcher(difflib.SequenceMatcher[str]):
    """Gives up after comparing too many lines. Equal lines are otherwise compared each with each, again and
    again."""

    _left = _PATIENCE

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        lines: list[str] = self.a  # type: ignore[attr-defined]
        places: Mapping[str, Sized] = self.b2j  # type: ignore[attr-defined]
        self._left -= sum(1 + len(places.get(line, ())) for line in lines[alo:ahi])
        if self._left < 0:
            raise _Tired
        return super().find_longest_match(alo, ahi, blo, bhi)


def _blocks(before: list[str], after: list[str]) -> list[difflib.Match]:
    """The runs of unchanged lines."""
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    try:
        inner = _Matcher(None, old, new).get_matching_blocks()
    except _Tired:
        inner = []
    moved = [difflib.Match(block.a + start, block.b + start, block.size) for block in inner if block.size]
    tail = difflib.Match(len(before) - end, len(after) - end, end)
    found = [difflib.Match(0, 0, start), *moved, tail]
    return [*(block for block in found if block.size), difflib.Match(len(before), len(after), 0)]


def _hunks(before: list[str], after: list[str]) -> Iterator[Hunk]:
    matcher = difflib.SequenceMatcher[str](None, (), ())
    matcher.matching_blocks = _blocks(before, after)  # type: ignore[attr-defined]
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines: list[tuple[Op, str]] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += _marked(" ", before[i1:i2])
            else:
                lines += _marked("-", before[i1:i2])
                lines += _marked("+", after[j1:j2])
        first, last = group[0], group[-1]
        old_count, new_count = last[2] - first[1], last[4] - first[3]
        yield Hunk(
            _start(first[1], old_count), old_count, _start(first[3], new_count), new_count, tuple(lines)
        )


def _unified(hunk: Hunk) -> Iterator[str]:
    old, new = _range(hunk.old_start, hunk.old_lines), _range(hunk.new_start, hunk.new_lines)
    yield f"@@ -{old} +{new} @@"
    for op, line in hunk.lines:
        yield f"{op} {line}" if op == "\\" else f"{op}{line}"


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _marked(op: Op, lines: list[str]) -> Iterator[tuple[Op, str]]:
    for line in lines:
        yield op, line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\", _UNBROKEN


def _start(index: int, count: int) -> int:
    """Unified diffs count lines from 1, and an empty range by the line before it."""
    return index + 1 if count else index
