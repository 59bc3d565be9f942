"""Plain data: whatever a model, a tool or a client gave, made safe to store as JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import orjson

_INT_MAX = 2**63 - 1
_DEPTH = 64
_BREAKS = re.compile(b"\xc2\x85|\xe2\x80[\xa8\xa9]")


def dumps(value: Any) -> bytes:
    """JSON bytes of any value: what JSON cannot say is said as text, never raised."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return orjson.dumps(clean(value))


def line(data: bytes) -> bytes:
    """The same JSON on what everybody takes for one line: some readers also break at U+0085, U+2028 and
    U+2029, which JSON may leave as they are."""
    return data if data.isascii() else _BREAKS.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), data)


def loads(data: bytes | str) -> Any:
    return orjson.loads(data)


def text(value: str) -> str:
    """The same text with lone surrogates, which UTF-8 cannot carry, replaced."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def clean(value: Any, depth: int = _DEPTH) -> Any:
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
    if isinstance(value, Mapping):
        return {text(str(key)): clean(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [clean(item, depth - 1) for item in value]
    return text(str(value))


def _digits(value: int) -> str:
    # str() refuses integers of more than 4,300 digits.
    return str(value) if value.bit_length() < 10_000 else hex(value)
