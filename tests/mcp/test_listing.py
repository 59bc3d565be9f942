"""The list of tools of an MCP server: one odd tool, and very many of them."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest
from mcp_types import Tool

from caesura.agents.mcp import listing
from caesura.agents.mcp import server as mcp_server
from caesura.agents.mcp.listing import Listed, Read
from caesura.agents.mcp.shares import Commons
from caesura.agents.spec import McpServer
from tests.engine.world import World
from tests.mcp.conftest import DEMO, RAW, Outside
from tests.mcp.test_tools import AUTO, result
from tests.mcp_server import raw

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


async def read(*tools: Tool, beyond: int = 0) -> Read:
    return await listing.read("shop", Listed(list(tools), [], beyond), None, Commons().share())


@pytest.mark.parametrize("odd", ODD)
async def test_a_tool_with_an_odd_schema_is_left_out_alone(odd: str) -> None:
    found = await read(tool("one"), tool("odd", **ODD[odd]), tool("two"))
    assert [item.name for item in found.offered] == ["one", "two"]
    assert found.left_out == "odd (its schema is no JSON schema)"
    json.dumps([item.parameters for item in found.offered])


async def test_the_schemas_that_are_checked_are_bounded_also_if_none_can_be_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked = list[object]()
    check = listing._check

    def counted(schema: dict[str, Any]) -> None:
        checked.append(schema)
        check(schema)

    monkeypatch.setattr(listing, "_check", counted)
    found = await read(*(tool(f"tool{number}", properties={"a": 5}) for number in range(400)), beyond=7)
    assert not found.offered
    assert len(checked) < 300
    assert found.left_out.endswith("; 7 more (of a list 1000 tools are looked at)")
    checked.clear()
    found = await read(*(tool(f"tool{number}") for number in range(400)))
    assert len(checked) == len(found.offered) == 128


async def test_the_values_of_all_schemas_of_a_server_are_bounded_together() -> None:
    wide = {"properties": {f"p{number}": {"type": "string"} for number in range(1500)}}
    found = await read(*(tool(f"tool{number}", **wide) for number in range(8)))
    assert len(found.offered) == 6
    assert found.left_out == "tool6, tool7 (the schemas of the server are too large together)"


async def test_other_servers_come_between_two_tools_of_a_long_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_PIECE", 0.0)
    commons = Commons()
    reading = asyncio.create_task(
        listing.read(
            "shop", Listed([tool(f"tool{number}") for number in range(20)], []), None, commons.share()
        )
    )
    await asyncio.sleep(0)
    await commons.share().run(lambda: None)
    assert not reading.done()
    assert len((await reading).offered) == 20


async def test_a_very_long_list_is_cut_before_it_is_looked_at(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    broken = {"name": "broken"}
    outside.tools(raw.tool("say"), broken, *(raw.tool(f"tool{number}") for number in range(2998)))
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    assert (await result(world, "shop__say"))[1] == "ok"
    [told] = [line for line in caplog.messages if "left out" in line]
    assert "broken (not described as the protocol demands); 2000 more (of a list 1000 tools" in told


async def test_a_list_whose_reading_was_cut_off_is_read_the_next_time(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "_RELIST", 60.0)
    entry = McpServer(name="shop", command=sys.executable, args=[str(RAW), str(outside.folder)])
    server = mcp_server.Server("tester", entry, {}, Commons().share(), lambda server: True)
    outside.tools(raw.tool("say"))
    assert [tool.name for tool in (await server.offer(60, insist=True)).tools] == ["say"]
    outside.tools(raw.tool("say"), raw.tool("new"))
    server.forget()
    begun = asyncio.Event()

    async def late(*_: object) -> Read:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(listing, "read", late)
        asking = asyncio.create_task(server.offer(60, insist=True))
        await begun.wait()
        asking.cancel()
        await asyncio.wait({asking})
    server.forget()
    assert [tool.name for tool in (await server.offer(60, insist=True)).tools] == ["say", "new"]
    await server.close()
