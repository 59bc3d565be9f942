r"""Showing a text that somebody else wrote to a person, so that it cannot mislead them.

A character is escaped if it is invisible, looks blank, moves the cursor or reorders the text around it: `\n`,
`\x1b`, `\u202e`, `\U000e0041`. More than three equal ones in a row are counted: `\x20{10000}`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal

from caesura.core import json_data

#: These scripts have nothing to escape. They are skipped for speed alone.
_USUAL = (
    " -~\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u3001-\u3029\u3041-\u3096\u30a0-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9ffc\uac00-\ud7a3\uff01-\uff5e"
)
#: Python calls these printable. They are invisible, look blank, or change the character before them.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
_UNUSUAL = re.compile(f"[^{_USUAL}]+")
#: Languages need up to four marks on a letter. More marks would cover the lines around it.
_PILE = 4
#: This many spaces in a row may stay. More would push the rest out of sight.
_GAP = 16
_LONG_GAP = re.compile(f" {{{_GAP + 1},}}")
_EDGE, _END = re.compile(r"\A +| +\Z"), re.compile(r" +\Z")
_ESCAPE = re.compile(r"\\[\\nrtxuU]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_REPEATED = 3
_LONG_RUN = 16
#: In running text a line break, a tab and joiners of letters or emoji may stay.
_UNFIT_FOR_PROSE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_Escape = Callable[[str, int], str]


def text(value: str, *, indented: bool = False, also: str = "") -> str:
    r"""The text on one line. No two texts have the same form: if anything is escaped, or the text itself
    contains something like an escape, its backslashes are doubled. A space at an edge is escaped too, except
    the indentation of a line that is `indented` and is shown on a line of its own. The characters of `also`
    are escaped too. None of them may be a letter or a sign of a usual script."""
    edge = _END if indented else _EDGE
    shown = edge.sub(_spaces, line(value, also))
    if "\\" not in value or (shown == value and _ESCAPE.search(value) is None):
        return shown
    return edge.sub(_spaces, line(value.replace("\\", "\\\\"), also))


def line(value: str, also: str = "") -> str:
    """As `text`, for a text that is already meant for people, such as a label: its backslashes stay. A text
    that already has this form, or that of `text`, is not changed."""
    return _LONG_GAP.sub(_spaces, _UNUSUAL.sub(lambda found: _visible(found, also), value))


def prose(value: str) -> str:
    """Running text, with its line breaks. Characters that move the cursor or reorder the text are escaped."""
    return _UNFIT_FOR_PROSE.sub(lambda found: _escaped(found[0], 1), value.replace("\r\n", "\n"))


def visible(value: str) -> str:
    """The text without what `line` would escape: a blank of another kind becomes a space, and the rest is
    left out. For a text that is kept, such as a title."""
    return _UNUSUAL.sub(lambda found: _runs(found, _left_out), value)


def data(value: Any) -> str:
    """Any value as JSON on one line. JSON has already doubled the backslashes."""
    return line(json_data.dumps(value).decode())


def json(written: str) -> str:
    """The same JSON, for programs: the characters that `line` escapes are escaped in JSON's own way."""
    return _UNUSUAL.sub(lambda found: _runs(found, _in_json), written)


def _visible(found: re.Match[str], also: str) -> str:
    return _counted(_runs(found, _escaped, also), found)


def _runs(found: re.Match[str], escape: _Escape, also: str = "") -> str:
    """A mark stays only on a letter: on anything else it would change the text around it."""
    if len(found[0]) > _LONG_RUN and all(_kind(character) == "fine" for character in set(found[0])):
        return found[0]  # a text in another script
    pieces = []
    piled = 0 if found.start() and found.string[found.start() - 1].isalnum() else _PILE
    for character, run in groupby(found[0]):
        count = len(list(run))
        kind = "misleads" if character in also else _kind(character)
        if kind == "misleads":
            pieces.append(escape(character, count))
            piled = _PILE
        elif kind == "mark":
            kept = min(count, _PILE - piled)
            pieces.append(character * kept + (escape(character, count - kept) if count > kept else ""))
            piled += kept
        else:
            pieces.append(character * count)
            piled = 0
    return "".join(pieces)


@lru_cache(maxsize=4096)
def _kind(character: str) -> Literal["misleads", "mark", "fine"]:
    if not character.isprintable() or _BLANK.match(character) is not None:
        return "misleads"
    return "mark" if unicodedata.category(character) in ("Mn", "Me") else "fine"


def _spaces(found: re.Match[str]) -> str:
    return _counted(_escaped(" ", len(found[0])), found)


def _escaped(character: str, count: int) -> str:
    escape = _NAMED.get(character) or _numbered(ord(character))
    return escape * count if count <= _REPEATED else f"{escape}{{{count}}}"


def _left_out(character: str, count: int) -> str:
    return " " * count if character.isspace() else ""


def _numbered(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _counted(shown: str, found: re.Match[str]) -> str:
    """A brace in the text must not look like a count."""
    ends_in_escape = shown[-1] != found[0][-1] and not shown.endswith("}")
    return f"{shown}{{1}}" if ends_in_escape and found.string.startswith("{", found.end()) else shown


def _in_json(character: str, count: int) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)) * count
