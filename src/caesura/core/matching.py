"""Finding the text that an update replaces: exact, or with other white space. Each step is linear in the
content."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from caesura.core.errors import BadInput

#: How many of the nearest lines an error shows, how much of a long one on each side of the place, and the
#: least similarity, as `difflib` counts it.
_SHOWN, _AROUND, _NEAR = 3, 30, 0.3
#: A missing text is looked for in pieces: how much of its longest line, which part of that a piece is, and
#: at how many places each.
_WANTED, _PIECES, _PLACES = 160, 6, 3


class Match(NamedTuple):
    start: int
    end: int
    exact: bool = False


def find(content: str, old: str) -> Match:
    """The one place of `old` in the content: the exact one, else one that differs in white space. Several, or
    none, are an error: nothing is guessed."""
    if not old:
        raise BadInput("old text is empty")
    if (start := _only(content, old)) is not None:
        return Match(start, start + len(old), exact=True)
    text, wanted = " ".join(content.split()), " ".join(old.split())
    if not wanted or (start := _only(text, wanted)) is None:
        raise BadInput(f"old text was not found: {_advice(content, old)}")
    first, last = (_original(content, text, place) for place in (start, start + len(wanted) - 1))
    return Match(*_widened(content, first, last + 1, old))


def _only(text: str, wanted: str) -> int | None:
    """The one place of the wanted text. None if there is none."""
    start = text.find(wanted)
    if start >= 0 and text.find(wanted, start + 1) >= 0:
        raise BadInput("old text stands in several places: give more of its surroundings")
    return start if start >= 0 else None


def _original(content: str, text: str, place: int) -> int:
    """Where the character at this place of `text` stands in the content, whose words `text` has."""
    rest = content.split(None, text.count(" ", 0, place))[-1]
    return len(content) - len(rest) + place - (text.rfind(" ", 0, place) + 1)


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


def _advice(content: str, old: str) -> str:
    advice = "read the artifact and quote the text as it stands there"
    wanted = max(old.splitlines(), key=len, default="").strip()[:_WANTED]
    near = difflib.get_close_matches(wanted, set(_candidates(content, wanted)), _SHOWN, _NEAR)
    return "\n".join([f"{advice}. The nearest lines are:", *near]) if near else advice


def _candidates(content: str, wanted: str) -> Iterator[str]:
    """Lines, or parts of long ones, that have a piece of the wanted line."""
    size = max(len(wanted) // _PIECES, 3)
    for offset in range(0, len(wanted) - size + 1, size // 2):
        place = -1
        for _ in range(_PLACES):
            if (place := content.find(wanted[offset : offset + size], place + 1)) < 0:
                break
            low = max(place - offset - _AROUND, 0)
            high = place - offset + len(wanted) + _AROUND
            yield (content[low:place].rpartition("\n")[2] + content[place:high].partition("\n")[0]).strip()
