"""Faults of agent files: what is wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from caesura.agents.spec import FORMS
from caesura.core import urls

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in an agent file. `line` counts from 1; 0 means the file as a whole. `field` is a path such as
    `spec.tools[1]`."""

    file: str
    line: int
    field: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        parts = (place, self.field, self.message)
        text = ": ".join(part for part in parts if part)
        return f"{text} ({self.remedy})" if self.remedy else text


Path = tuple[str | int, ...]


def dotted(path: Sequence[str | int]) -> str:
    """`spec.tools[1]`"""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, sorted(known), n=1)
    return f"did you mean {close[0]}?" if close else ""


def explain(error: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    """A validation error as a message and a remedy, with the field names of the YAML."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return "unknown field", _known_field(error["loc"], model)
    if kind == "missing":
        return "is required", ""
    if kind == "literal_error":
        return f"must be {context['expected']}", ""
    if kind == "string_pattern_mismatch":
        known = FORMS.get(context["pattern"])
        form = f"must be {known}" if known else f"is not of the form {context['pattern']}"
        return f"{urls.shown(error['input'])!r} {form}", ""
    if kind == "value_error":
        return str(context["error"]), ""
    if kind == "model_type" and error["loc"] == ("spec", "model") and isinstance(error["input"], str):
        return _wrong_type(kind, error["input"])[0], f"write model: {{primary: {error['input'][:100]}}}"
    if kind.endswith("_type"):
        return _wrong_type(kind, error["input"])
    return error["msg"][:1].lower() + error["msg"][1:], ""


_TYPES = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}


def _wrong_type(kind: str, given: Any) -> tuple[str, str]:
    wanted = _TYPES.get(kind, kind.removesuffix("_type"))
    remedy = "put it in quotes" if kind == "string_type" and isinstance(given, (bool, int, float)) else ""
    return f"must be {wanted}, not {_kind_of(given)}", remedy


def _kind_of(value: Any) -> str:
    match value:
        case None:
            return "empty"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return type(value).__name__


def _known_field(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    *parents, name = location
    known = _fields_at(parents, model)
    if not known:
        return ""
    return did_you_mean(str(name), known) or f"known here: {', '.join(sorted(known))}"


def _fields_at(path: Sequence[int | str], model: type[BaseModel]) -> set[str]:
    current: type[BaseModel] | None = model
    for part in path:
        if isinstance(part, int) or current is None:
            continue
        current = _model_in(next((f.annotation for n, f in _named(current) if n == part), None))
    return {name for name, _ in _named(current)} if current else set()


def _named(model: type[BaseModel]) -> list[tuple[str, Any]]:
    return [(field.alias or name, field) for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_model_in(item) for item in getattr(annotation, "__args__", ()))
    return next((model for model in inner if model), None)
