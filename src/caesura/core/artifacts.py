"""Artifacts: documents with immutable versions; how an update is applied, and what changed between two."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from caesura.core.errors import BadInput

UpdateType = Literal["create", "update", "update_fuzzy", "rewrite"]
#: A backslash stands behind a last line that has no line break.
Op = Literal[" ", "-", "+", "\\"]

CONTENT_LIMIT = 1024 * 1024
_SIMILAR = 0.85
_CONTEXT = 3
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_UNBROKEN = "No newline at end of file"


@dataclass(frozen=True, slots=True)
class Edit:
    """A new content and how it came about; `changes` are the old and new texts as found."""

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
    """Replace `old` by `new`: where it stands exactly, else where it stands but for white space and small
    differences. Several places, or none, are an error: nothing is guessed."""
    if not old:
        raise BadInput("old text is empty")
    found = len(re.findall(f"(?={re.escape(old)})", content))
    if found > 1:
        raise BadInput(f"old text stands in {found} places: give more of its surroundings")
    if found == 1:
        return _edit(content.replace(old, new), "update", old, new)
    start, end = _fuzzy(content, old)
    return _edit(content[:start] + new + content[end:], "update_fuzzy", content[start:end], new)


def rewrite(old: str, new: str) -> Edit:
    return _edit(new, "rewrite", old, new)


def check_content(content: str) -> None:
    if len(content.encode("utf-8", "replace")) > CONTENT_LIMIT:
        raise BadInput(f"content is longer than {CONTENT_LIMIT} bytes")


def diff(old: str, new: str, old_name: str = "old", new_name: str = "new") -> Diff:
    """The lines that changed, with three lines around them, as unified text and as hunks."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    unified = difflib.unified_diff(before, after, old_name, new_name, n=_CONTEXT)
    marked = (line if line.endswith("\n") else f"{line}\n\\ {_UNBROKEN}\n" for line in unified)
    return Diff("".join(marked).removesuffix("\n"), tuple(_hunks(before, after)))


def _edit(content: str, kind: UpdateType, old: str, new: str) -> Edit:
    check_content(content)
    return Edit(content, kind, ((old, new),))


def _fuzzy(content: str, old: str) -> tuple[int, int]:
    spaced = r"\s+".join(re.escape(word) for word in old.split())
    places = [match.span() for match in re.finditer(spaced, content)] if spaced else []
    if not places:
        places = _similar(content, old)
    if len(places) != 1:
        raise BadInput("old text was not found" if not places else "old text stands in several places")
    return places[0]


def _similar(content: str, old: str) -> list[tuple[int, int]]:
    """Runs of as many lines as `old` has that are nearly it: the best, and whatever is as good."""
    lines = content.splitlines(keepends=True)
    wanted = old.splitlines()
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2("\n".join(line.strip() for line in wanted))
    scored: list[tuple[float, tuple[int, int]]] = []
    for first in range(len(lines) - len(wanted) + 1):
        window = lines[first : first + len(wanted)]
        matcher.set_seq1("\n".join(line.strip() for line in window))
        if matcher.real_quick_ratio() >= _SIMILAR and matcher.quick_ratio() >= _SIMILAR:
            end = starts[first + len(wanted)] - (0 if old.endswith("\n") else _newline(window[-1]))
            scored.append((matcher.ratio(), (starts[first], end)))
    best = max((score for score, _ in scored), default=0.0)
    return [span for score, span in scored if score == best and score >= _SIMILAR]


def _newline(line: str) -> int:
    return len(line) - len(line.rstrip("\r\n"))


def _hunks(before: list[str], after: list[str]) -> Iterator[Hunk]:
    matcher = difflib.SequenceMatcher(None, before, after)
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


def _marked(op: Op, lines: list[str]) -> Iterator[tuple[Op, str]]:
    for line in lines:
        yield op, line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\", _UNBROKEN


def _start(index: int, count: int) -> int:
    """Unified diffs count lines from 1, and an empty range by the line before it."""
    return index + 1 if count else index
