"""Diffs: what changed between two texts, line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Literal

from caesura.core.deltas import common
from caesura.core.errors import TooLarge

#: A backslash marks the note after a last line that has no line break.
Op = Literal[" ", "-", "+", "\\"]

#: How many pairs of equal lines may be looked at: a fraction of a second.
_PATIENCE = 2_000_000
_CONTEXT = 3
#: How many lines both texts may have together between the first change and the last. However short it is,
#: each takes some 300 bytes of memory.
MOST_LINES = 200_000
_UNBROKEN = "No newline at end of file"


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


def diff(old: str, new: str, old_name: str = "old", new_name: str = "new") -> Diff:
    """The changed lines with three lines of context, as unified text and as hunks. If it would take too long
    to find the unchanged lines between the first change and the last, that whole region counts as changed.
    `TooLarge` if it has too many lines."""
    above, old, new = _changed(old, new)
    if old.count("\n") + new.count("\n") > MOST_LINES:
        raise TooLarge(f"the versions differ in a part that has more than {MOST_LINES:,} lines in both")
    hunks = tuple(_hunks(_lines(old), _lines(new), above))
    head = [f"--- {old_name}", f"+++ {new_name}"] if hunks else []
    return Diff("\n".join([*head, *(line for hunk in hunks for line in _unified(hunk))]), hunks)


def _changed(old: str, new: str) -> tuple[int, str, str]:
    """The number of lines above the first change but for its context, and both texts from there to the
    context of the last change."""
    start = old.rfind("\n", 0, common(old, new)) + 1
    for _ in range(_CONTEXT):
        start = old.rfind("\n", 0, max(start - 1, 0)) + 1
    end = len(old) - common(old[start:][::-1], new[start:][::-1])
    for _ in range(_CONTEXT + 1):
        end = old.find("\n", end) + 1 or len(old)
    return old.count("\n", 0, start), old[start:end], new[start : len(new) - (len(old) - end)]


def _lines(text: str) -> list[str]:
    """The lines with their line breaks. Only the last may lack one."""
    *lines, last = text.split("\n")
    return [*(line + "\n" for line in lines), *([last] if last else [])]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common prefix of two texts, in lines."""
    if one == other:
        return len(one)
    unequal = (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(unequal, min(len(one), len(other)))


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


def _hunks(before: list[str], after: list[str], above: int) -> Iterator[Hunk]:
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
        old_start, new_start = _start(above + first[1], old_count), _start(above + first[3], new_count)
        yield Hunk(old_start, old_count, new_start, new_count, tuple(lines))


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
