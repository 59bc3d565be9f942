"""What a model is shown of a tool: the schema of its arguments."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from caesura.agents.tools.registry import standard
from caesura.agents.tools.signature import arguments_of, parameters_of
from caesura.agents.tools.tool import Tool, describe_any, structured

KNOWN = json.loads((Path(__file__).parent / "schemas.json").read_text("utf-8"))


async def delegate(task: str) -> str:
    return task


def test_models_are_shown_the_same_schemas_as_ever() -> None:
    registry = standard()
    tools = [registry.get(name) for name in registry.names]
    tools.append(Tool("helper", structured(delegate, "Ask helper."), describe_any("helper")))
    assert {tool.name: tool.schema._asdict() for tool in tools} == KNOWN


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    """One line of an order."""

    title: str
    count: int = 1


class Folder(BaseModel):
    inside: list[Folder] = Field(default_factory=list)


async def order(
    lines: Annotated[list[Line], "What is wanted"], colour: Colour = Colour.RED, title: str | None = None
) -> str:
    return str((lines, colour, title))


async def tidy(folder: Folder) -> str:
    return str(folder)


def test_models_and_enums_are_written_out_without_references_and_titles() -> None:
    line = {
        "description": "One line of an order.",
        "properties": {"title": {"type": "string"}, "count": {"default": 1, "type": "integer"}},
        "required": ["title"],
        "type": "object",
    }
    assert parameters_of(arguments_of(order)) == {
        "properties": {
            "lines": {"description": "What is wanted", "items": line, "type": "array"},
            "colour": {"default": "red", "enum": ["red", "blue"], "type": "string"},
            "title": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["lines"],
        "type": "object",
    }


def test_a_type_that_contains_itself_keeps_its_references() -> None:
    found = parameters_of(arguments_of(tidy))
    assert found["properties"] == {"folder": {"$ref": "#/$defs/Folder"}}
    assert found["$defs"]["Folder"]["properties"]["inside"]["items"] == {"$ref": "#/$defs/Folder"}


def test_types_that_would_double_at_every_step_keep_their_references() -> None:
    last: Any = str
    for number in range(40):
        last = type(f"M{number}", (BaseModel,), {"__annotations__": {"a": last, "b": last}})

    class Top(BaseModel):
        inner: last

    assert "$defs" in parameters_of(Top)


async def test_a_tool_gets_checked_arguments() -> None:
    tool = Tool("order", structured(order, "Order."), describe_any("order"))
    result = await tool.run({"lines": [{"title": "x"}], "colour": "blue", "more": 1})
    assert result.text == str(([Line(title="x")], Colour.BLUE, None))
    assert (await tool.run({"lines": 5})).status == "error"
    assert tool.fault({"lines": 5}) == "the arguments do not fit: lines: Input should be a valid list"
    assert tool.fault({"lines": []}) is None
