"""What an operator's function returned, as the text that the model reads."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from caesura.agents.tools.tool import ToolError

NOTHING = "Done. The tool returned nothing."


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
    try:
        return to_json(value, inf_nan_mode="strings").decode()
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise Unwritable(
            f"the tool returned {type(value).__name__}, which cannot be written as JSON: {error}"
        ) from error
