"""Plain data: whatever a model, a tool or a client gave, made safe to store as JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import orjson

_INT_MAX = 2**63 - 1
#: How deep a value may be nested, and how many values it may hold. Larger values take too long to walk.
DEEPEST = 64
MOST_VALUES = 50_000
_TOO_DEEP = f"it is nested deeper than {DEEPEST} levels"
#: Digits of an integer that may not fit into 64 bits.
_LONG = re.compile(rb"[0-9]{19}")
_BREAKS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


def dumps(value: Any) -> bytes:
    """JSON bytes of any value. What JSON cannot represent becomes text; nothing is raised."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return orjson.dumps(clean(value))


def line(data: bytes) -> bytes:
    """The same JSON without any character that a reader may take for a line break: some also break at U+0085,
    U+2028 and U+2029, which JSON need not escape."""
    if not data.isascii():
        for character, escaped in _BREAKS:
            data = data.replace(character, escaped)
    return data


def loads(data: bytes | str) -> Any:
    """The value of a JSON text. Raises `ValueError` if it is not JSON, or its subclass `Unwieldy`."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "limit exceeded" in error.msg:
            raise Unwieldy(_TOO_DEEP) from error
        raise


def text(value: str) -> str:
    """The same text with lone surrogates, which UTF-8 cannot carry, replaced."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


class Unwieldy(ValueError):
    """A value that is nested too deep or holds too much; the message says which."""


def bounded(data: bytes, most: int = MOST_VALUES) -> tuple[Any, int]:
    """The value of a JSON text from elsewhere, and how many values it holds. Raises `Unwieldy` if there are
    more than `most` or they are nested too deep. An integer of more than 64 bits becomes text, as in `dumps`,
    if a float would not hold all its digits."""
    if crowded(data, most):
        raise _too_many(most)
    value = loads(data)
    found = count(value, most)
    return json.loads(data, parse_int=_whole) if _LONG.search(data) else value, found


def _whole(digits: str) -> int | float | str:
    # `loads` has read the same digits, so a float has room for them, with all of them or not.
    number = int(digits)
    if -(2**63) <= number < 2**64:
        return number
    return float(number) if float(number) == number else digits


def crowded(data: bytes, most: int = MOST_VALUES) -> bool:
    """Whether JSON holds more than `most` lists and objects, checked before any is created: very many new
    objects make Python run its garbage collector again and again. Brackets in texts do not count, unless
    there are very many texts."""
    if _containers(data) <= most:
        return False
    bare = _bare(data, most)
    return bare is None or _containers(bare) > most


def check_parts(data: bytes, most: int = MOST_VALUES) -> None:
    """The bound of `bounded` for text that `loads` rejects and another parser may accept, such as `NaN` or
    half of a surrogate pair. Raises `Unwieldy` if there are more than `most` parts."""
    bare = _bare(data, most)
    if bare is None or _containers(bare) + bare.count(b",") > most:
        raise _too_many(most)


def _bare(data: bytes, most: int) -> bytes | None:
    """JSON without its strings. None if there are so many that it holds more than `most` values, of which
    each has two strings at most: to split them would take long."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if data.count(b'"') > 4 * (most + 1):
        return None
    return b"".join(data.split(b'"')[::2])


def _containers(data: bytes) -> int:
    return data.count(b"[") + data.count(b"{")


def count(value: Any, most: int = MOST_VALUES) -> int:
    """How many values a JSON value holds. Raises `Unwieldy` if there are more than `most` or they are nested
    too deep. Cheap: it stops at the bound and does not recurse."""
    counted, level = 0, [value]
    for _ in range(DEEPEST + 1):
        level = [item for item in level if isinstance(item, (dict, list))]
        if not level:
            return counted
        counted += sum(map(len, level))
        if counted > most:
            raise _too_many(most)
        level = [item for held in level for item in (held.values() if isinstance(held, dict) else held)]
    raise Unwieldy(_TOO_DEEP)


def _too_many(most: int) -> Unwieldy:
    return Unwieldy(f"it holds more than {most} values")


def clean(value: Any, depth: int = DEEPEST) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(str(value))
    if isinstance(value, int):
        return int(value) if -_INT_MAX <= value <= _INT_MAX else _digits(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth == 0:
        return "…"
    if isinstance(value, (list, tuple, set, frozenset)):
        return [clean(item, depth - 1) for item in value]
    if isinstance(value, Mapping):
        return {text(str(key)): clean(item, depth - 1) for key, item in value.items()}
    return text(str(value))


def _digits(value: int) -> str:
    # str() refuses integers of more than 4,300 digits.
    return str(value) if value.bit_length() < 10_000 else hex(value)
