"""What a person is told of a value before they agree to it: escaped, complete, and with its length.

The length stands before the colon, where the value itself cannot come: what looks like one after the colon
is a part of the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from caesura.core import plain, shown
from caesura.core.language import Language

#: A value that is longer, has more than one line or had to be escaped is told with its length.
SHORT = 200
#: The most characters that are told of a value. What is cut says so, and is whole in `args`.
LONGEST = 64 * 1024
#: Whatever some program takes for a line break, as `str.splitlines` does.
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class Value(NamedTuple):
    """`size` is empty for a short value that is told as it is."""

    text: str
    size: str


def text(value: str, language: Language) -> Value:
    told, kept = _cut(value, shown.text)
    as_it_is = told == value and len(value) <= SHORT
    return Value(told, "" if as_it_is else _size(value, kept, language))


def data(value: object, language: Language) -> Value:
    """As JSON. Its own escapes are escapes too."""
    written = plain.dumps(value).decode()
    told, kept = _cut(written, shown.line)
    as_it_is = len(written) <= SHORT and "\\" not in told
    return Value(told, "" if as_it_is else _size(written, kept, language))


def sentence(doing: str, value: Value, language: Language, *more: str) -> str:
    """`Running command (1,234 characters, 3 lines): …`; `more` are sizes of what is not told itself."""
    sizes = [size for size in (value.size, *more) if size]
    if not sizes:
        return f"{doing}: {value.text}"
    note = f"（{'；'.join(sizes)}）" if language == "zh" else f" ({'; '.join(sizes)})"
    return f"{doing}{note}: {value.text}"


def size_apart(name: str, value: str, language: Language) -> str:
    """The size of a value that is not told itself, under its name. Empty for a short one of one line."""
    body = value.removesuffix("\n")
    if len(body) <= SHORT and shown.text(body) == body:
        return ""
    return f"{name}：{size(value, language)}" if language == "zh" else f"{name}: {size(value, language)}"


def size(value: str, language: Language) -> str:
    """`1,234 characters, 3 lines`."""
    characters, lines = len(value), _lines(value)
    if language == "zh":
        return f"{characters} 个字符" + (f"，{lines} 行" if lines > 1 else "")
    counted = f"{characters:,} character{'' if characters == 1 else 's'}"
    return counted + (f", {lines:,} lines" if lines > 1 else "")


def _lines(value: str) -> int:
    """Counted, for to make as many lines takes a hundred times as long."""
    breaks = sum(map(value.count, _BREAKS)) - value.count("\r\n")
    return breaks + (value != "" and value[-1] not in _BREAKS)


def _cut(value: str, form: Callable[[str], str]) -> tuple[str, int]:
    """The form of as much as there is room for, and how many characters of the value that is."""
    kept = min(len(value), LONGEST)
    told = form(value[:kept])
    while len(told) > LONGEST:
        kept = kept * LONGEST // len(told)
        told = form(value[:kept])
    return told, kept


def _size(value: str, kept: int, language: Language) -> str:
    whole = size(value, language)
    if kept == len(value):
        return whole
    if language == "zh":
        return f"{whole}；这里只显示前 {kept} 个，全文见 args"
    return f"{whole}; only the first {kept:,} are shown here, all of them are in args"
