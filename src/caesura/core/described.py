"""How a value is shown to a person before they approve it: escaped, complete, and with its length.

The length is written before the colon, where the value cannot reach. Text after the colon that looks like a
length is a part of the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from caesura.core import json_data, shown
from caesura.core.language import Language

#: A value is shown with its length if it is longer, has more than one line or had to be escaped.
SHORT = 200
#: At most this many characters of a value are shown. A cut is mentioned, and `args` has the whole value.
LONGEST = 64 * 1024
#: At most this many characters of what an operator says about a call are shown beside it.
NOTE = 2_000
#: Every character that some program takes for a line break, as `str.splitlines` does.
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class Value(NamedTuple):
    """`size` is empty for a short value that is shown unchanged."""

    text: str
    size: str


def text(value: str, language: Language) -> Value:
    escaped, kept = _cut(value, shown.text)
    as_it_is = escaped == value and len(value) <= SHORT
    return Value(escaped, "" if as_it_is else _size(value, kept, language))


def data(value: object, language: Language) -> Value:
    """The value as JSON. An escape that JSON wrote also counts as an escape."""
    written = json_data.dumps(value).decode()
    escaped, kept = _cut(written, shown.line)
    as_it_is = len(written) <= SHORT and "\\" not in escaped
    return Value(escaped, "" if as_it_is else _size(written, kept, language))


def sentence(doing: str, value: Value, language: Language, *more: str) -> str:
    """`Running command (1,234 characters, 3 lines): …`. `more` are sizes of values that are not shown."""
    sizes = [size for size in (value.size, *more) if size]
    if not sizes:
        return f"{doing}: {value.text}"
    note = f"（{'；'.join(sizes)}）" if language == "zh" else f" ({'; '.join(sizes)})"
    return f"{doing}{note}: {value.text}"


def words(value: str, language: Language, most: int = LONGEST) -> str:
    """What an operator says about a call, which may have values of the model in it. A longer text is cut, and
    begins with the full length."""
    escaped, kept = _cut(value, shown.line, most)
    if kept == len(value):
        return value
    whole = size(value, language)
    if language == "zh":
        return f"（{whole}；这里只显示前 {kept} 个）{escaped}…"
    return f"({whole}; only the first {kept:,} are shown here) {escaped}…"


def size_apart(name: str, value: str, language: Language) -> str:
    """The name and size of a value that is not shown. Empty for a short value of one line."""
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
    """Counts the breaks: splitting the value into lines takes a hundred times as long."""
    breaks = sum(map(value.count, _BREAKS)) - value.count("\r\n")
    return breaks + (value != "" and value[-1] not in _BREAKS)


def _cut(value: str, form: Callable[[str], str], most: int = LONGEST) -> tuple[str, int]:
    """The escaped form of as much of the value as fits, and how many characters of the value that is."""
    kept = min(len(value), most)
    escaped = form(value[:kept])
    while len(escaped) > most:
        kept = kept * most // len(escaped)
        escaped = form(value[:kept])
    return escaped, kept


def _size(value: str, kept: int, language: Language) -> str:
    whole = size(value, language)
    if kept == len(value):
        return whole
    if language == "zh":
        return f"{whole}；这里只显示前 {kept} 个，全文见 args"
    return f"{whole}; only the first {kept:,} are shown here, all of them are in args"
