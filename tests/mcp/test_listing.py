"""The list of tools of an MCP server: one odd tool, and very many of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import Tool

from caesura.agents.mcp import listing
from caesura.agents.mcp.listing import Listed, Read

ODD: dict[str, dict[str, Any]] = {
    "a number that is too large": {"properties": {"a": {"pattern": "a{99999999999999999999}"}}},
    "a pattern that is too deep": {"properties": {"a": {"pattern": "(" * 3000}}},
    "an address that is none": {"$schema": "http://[bad"},
    "a list for an address": {"$schema": ["x"]},
    "a number for an address": {"$schema": 5},
    "an object for an address": {"$schema": {"a": 1}},
    "an unknown type": {"properties": {"a": {"type": "nonsense"}}},
}


def tool(name: str, **schema: Any) -> Tool:
    return Tool.model_validate({"name": name, "inputSchema": {"type": "object", **schema}})


def read(*tools: Tool) -> Read:
    return listing.read("shop", Listed(list(tools), []), None)


@pytest.mark.parametrize("odd", ODD)
def test_a_tool_with_an_odd_schema_is_left_out_alone(odd: str) -> None:
    found = read(tool("one"), tool("odd", **ODD[odd]), tool("two"))
    assert [item.name for item in found.offered] == ["one", "two"]
    assert found.left_out == "odd (its schema is no JSON schema)"
    json.dumps([item.parameters for item in found.offered])
