"""What an operator's function returned, as the text that the model reads."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from caesura.agents.tools.tool import ToolError

COMMAND = "the tool returned a Command of LangGraph, which is neither a text nor JSON"
NOTHING = "Done. The tool returned nothing."
#: The bytes of a JSON text of which nothing more is written. Models are shown far less.
LARGEST = 4 * 1024 * 1024
#: How many values of a list or dict are written at once, and in how many levels: meanwhile no other thread
#: runs.
_AT_ONCE, _LEVELS = 200, 3


class Unwritable(ToolError):
    """The function returned something that is neither a text nor JSON."""


def is_small(value: Any) -> bool:
    """Whether `text` takes no time to speak of."""
    return value is None or isinstance(value, (str, bool, int, float, bytes))


def text(value: Any) -> str:
    """A text as it is; everything else as JSON: numbers, lists, dicts, dataclasses, pydantic models and what
    they hold."""
    if value is None:
        return NOTHING
    if isinstance(value, str) and not isinstance(value, Enum):
        return str.__str__(value)  # without methods of its own
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise Unwritable(f"the tool returned {type(value).__name__}, which is neither a text nor JSON")
    if type(value).__name__ == "Command" and type(value).__module__.startswith("langgraph."):
        raise Unwritable(COMMAND)
    try:
        return _written(value)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise Unwritable(
            f"the tool returned {type(value).__name__}, which cannot be written as JSON: {error}"
        ) from error


def _written(value: Any) -> str:
    """The value as JSON. Of a large one the beginning, with a note."""
    written = bytearray()
    for piece in _pieces(value, _LEVELS):
        written += piece
        if len(written) > LARGEST:
            told = f"[cut: the result has more than {LARGEST} bytes, and the rest was not written]"
            return f"{written[:LARGEST].decode('utf-8', 'ignore')}\n{told}"
    return written.decode()


def _pieces(value: Any, levels: int) -> Iterator[bytes]:
    """The JSON of the value in pieces. Lists and dicts that are large, or may hold large ones, are written
    piece by piece."""
    if levels and type(value) in (list, tuple):
        yield from _list(value, levels)
    elif levels and type(value) is dict:
        yield from _dict(value, levels)
    else:
        yield _json(value)


def _list(values: list[Any] | tuple[Any, ...], levels: int) -> Iterator[bytes]:
    few = len(values) <= _AT_ONCE
    yield b"["
    for start in range(0, len(values), 1 if few else _AT_ONCE):
        if start:
            yield b","
        if few:
            yield from _pieces(values[start], levels - 1)
        else:
            yield _json(values[start : start + _AT_ONCE])[1:-1]
    yield b"]"


def _dict(values: dict[Any, Any], levels: int) -> Iterator[bytes]:
    few = len(values) <= _AT_ONCE
    items = list(values.items())
    yield b"{"
    for start in range(0, len(items), 1 if few else _AT_ONCE):
        if start:
            yield b","
        if few:
            key, value = items[start]
            yield _json({key: None})[1:-1].removesuffix(b"null")
            yield from _pieces(value, levels - 1)
        else:
            yield _json(dict(items[start : start + _AT_ONCE]))[1:-1]
    yield b"}"


def _json(value: Any) -> bytes:
    return to_json(value, inf_nan_mode="strings")
