"""Arguments that do not fit the schema of an MCP tool."""

from typing import Any

import pytest

from caesura.agents.mcp.arguments import misfit

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": ["integer", "null"]},
        "order": {"enum": ["up", "down", 1]},
        "deep": {"$ref": "#/$defs/a"},
        "odd": True,
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}},
}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "path: is required"),
        ({"path": 5}, "path: must be string, not integer"),
        ({"path": "x", "lines": True}, "lines: must be integer or null, not boolean"),
        ({"path": "x", "lines": 1.5}, "lines: must be integer or null, not number"),
        ({"path": "x", "order": "left"}, "order: must be one of up, down, 1"),
        ({"path": "x", "order": True}, "order: must be one of up, down, 1"),
        ({"path": "x", "pth": "y"}, "pth: is not known; known: path, lines, order, deep, odd"),
    ],
)
def test_what_does_not_fit_is_named(args: dict[str, Any], told: str) -> None:
    assert misfit(SCHEMA, args) == f"the arguments do not fit: {told}"


@pytest.mark.parametrize(
    "args",
    [
        {"path": "x"},
        {"path": "x", "lines": None},
        {"path": "x", "lines": 2.0, "order": 1},
        {"path": "x", "deep": {"anything": [1]}, "odd": []},
    ],
)
def test_what_fits_and_what_only_the_server_can_tell_is_let_through(args: dict[str, Any]) -> None:
    assert misfit(SCHEMA, args) is None


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": 5, "required": "path"},
        {"properties": {"path": {"type": 5, "enum": "x"}}, "required": [5]},
        {"properties": {"path": {"type": "unheard"}}},
        {"properties": {}, "additionalProperties": False, "patternProperties": {"(a+)+$": {}}},
    ],
)
def test_a_schema_that_says_nothing_refuses_nothing(schema: dict[str, Any]) -> None:
    assert misfit(schema, {"path": "x"}) is None


def test_a_fault_in_every_argument_is_told_in_a_bounded_text() -> None:
    names = [f"{number:04}" + "x" * 1000 for number in range(1000)]
    told = misfit({"properties": {name: {"type": "string"} for name in names}}, dict.fromkeys(names, 1))
    assert told is not None
    assert len(told) < 4000
