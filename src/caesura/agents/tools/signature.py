"""The arguments of a tool: the model that checks them, from a function's signature, and their JSON schema."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.json_schema import GenerateJsonSchema

_REFERENCE = "#/$defs/"
#: A schema is written without references up to this many values. Beyond them it keeps its references.
_MOST_VALUES = 10_000


class _Quiet(GenerateJsonSchema):
    """A default that JSON cannot say is left out of the schema without a warning."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as in its base


class _Unwieldy(Exception):
    """The schema refers to itself, or would become too large."""


def arguments_of(function: Callable[..., Any]) -> type[BaseModel]:
    """A model of the function's parameters. A text in `Annotated` describes a parameter."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (_described(hints.get(name, Any)), default)
    return create_model(function.__name__, __config__=ConfigDict(arbitrary_types_allowed=True), **fields)


def _described(hint: Any) -> Any:
    """The type with a text in `Annotated` as its description, where pydantic looks for it."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    told = [Field(description=note) if isinstance(note, str) else note for note in notes]
    return Annotated[(kind, *told)]


def parameters_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of the arguments, as models are shown it: without the titles that pydantic adds, and
    without references, which not every provider understands."""
    schema = arguments.model_json_schema(schema_generator=_Quiet)
    definitions = schema.pop("$defs", {})
    schema.pop("description", None)
    try:
        whole = _Inlined(definitions).schema(schema)
    except _Unwieldy:
        whole = {**schema, "$defs": definitions}
    found: dict[str, Any] = _untitled(whole)
    return found


class _Inlined:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions
        self._open: list[str] = []
        self._values = 0

    def schema(self, value: Any) -> Any:
        self._values += 1
        if self._values > _MOST_VALUES:
            raise _Unwieldy
        if isinstance(value, list):
            return [self.schema(item) for item in value]
        if not isinstance(value, dict):
            return value
        target = value.get("$ref")
        if isinstance(target, str) and target.startswith(_REFERENCE):
            rest = {name: item for name, item in value.items() if name != "$ref"}
            return {**self._referred(target.removeprefix(_REFERENCE)), **self.schema(rest)}
        return {name: self.schema(item) for name, item in value.items()}

    def _referred(self, name: str) -> Any:
        if name in self._open:
            raise _Unwieldy
        self._open.append(name)
        found = self.schema(self._definitions[name])
        self._open.pop()
        return found


def _untitled(schema: Any, *, names: bool = False) -> Any:
    """The schema without titles. `names`: the keys are names of parameters, of which one may be `title`."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if names or key not in ("title", "default", "enum")}
    cleaned = {key: _untitled(value, names=key in ("properties", "$defs")) for key, value in kept.items()}
    # Values that an operator chose, not schemas.
    return cleaned if names else cleaned | {key: schema[key] for key in ("default", "enum") if key in schema}
