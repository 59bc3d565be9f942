"""Arguments that do not fit the schema of an MCP tool, found before a person is asked to approve the call. A
person's edited arguments for a tool of an operator's own graph are checked in the same way.

A schema is the server's word, and may be made to cost time: references that multiply, patterns that never
end. So only what one look at each argument tells is checked. The rest is left to the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: At most this many faults are told, and this much of a name.
_MOST, _LONGEST = 20, 100


def misfit(schema: Mapping[str, Any], args: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments; None if nothing is, or if only the server can tell."""
    found = []
    for name, fault in _faults(schema, args):
        found.append(f"{name[:_LONGEST]}: {fault}")
        if len(found) == _MOST:
            break
    return f"the arguments do not fit: {'; '.join(found)}" if found else None


def _faults(schema: Mapping[str, Any], args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = schema.get("properties")
    properties: Mapping[str, Any] = known if isinstance(known, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in args:
            yield name, "is required"
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for name, value in args.items():
        if name in properties:
            if (fault := _fault(properties[name], value)) is not None:
                yield name, fault
        elif closed:
            yield name, f"is not known; known: {', '.join(properties)[:_LONGEST] or 'none'}"


def _fault(schema: Any, value: Any) -> str | None:
    if not isinstance(schema, dict):
        return None
    named = schema.get("type")
    types = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    if types and not any(_is(value, kind) for kind in types):
        return f"must be {' or '.join(map(str, types))}, not {_kind(value)}"
    offered = schema.get("enum")
    if isinstance(offered, list) and _is_scalar(value) and not any(_same(value, item) for item in offered):
        return f"must be one of {', '.join(map(str, offered))[:_LONGEST]}"
    return None


def _is(value: Any, kind: Any) -> bool:
    if kind == "number":
        return _kind(value) in ("number", "integer")
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return kind not in _KINDS or _kind(value) == kind


_KINDS = ("string", "number", "integer", "boolean", "object", "array", "null")


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _same(value: Any, item: Any) -> bool:
    """As JSON sees it: true is not 1."""
    return isinstance(value, bool) == isinstance(item, bool) and bool(value == item)
