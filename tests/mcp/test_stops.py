"""What is not waited for over HTTP: the answer to a call that was stopped, and a notice that is not taken."""

from __future__ import annotations

import asyncio

import pytest

from caesura.agents.mcp import http
from tests.engine.world import World
from tests.mcp.conftest import DEMO
from tests.mcp.test_tools import result, wide
from tests.mcp_server.raw_http import RawHttp

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n\r\n"


async def test_a_stop_closes_the_connection_of_a_call_and_the_session_goes_on(
    world: World, raw_http: RawHttp
) -> None:
    raw_http.unfinished = {
        "headless": [b"HTTP/1.1 100 Continue\r\n\r\n"],
        "events": [HEAD % b"text/event-stream", b"id: 1\ndata:\n\ndata: x"],
        "body": [HEAD % b"application/json", b"{"],
    }
    names = wide("say", *raw_http.unfinished)
    world.agent(f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{raw_http.url}', {names}}}")
    for name in raw_http.unfinished:
        turn = await world.send(f"call shop__{name}")
        await until(raw_http.calls, name)
        await world.engine.stop(await world.row(turn), "user")
        await world.segment(turn)
        await until(raw_http.left, name)
    assert (await result(world, "shop__say")) == ("say", "ok")
    assert len(raw_http.sessions) == 1


async def test_a_notice_that_is_never_taken_holds_up_no_call_for_long(
    world: World, raw_http: RawHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_NOTICE", 0.1)
    raw_http.mute = "notifications/initialized"
    world.agent(f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{raw_http.url}', {wide('say')}}}")
    assert (await result(world, "shop__say")) == ("say", "ok")
    await until(raw_http.left, raw_http.mute)
    assert len(raw_http.sessions) == 1


async def test_interim_responses_without_an_end_break_the_connection(world: World, raw_http: RawHttp) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
    answer = b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n"
    raw_http.unfinished = {"few": [interim * 10 + answer], "many": [interim * 1000]}
    names = wide("say", *raw_http.unfinished)
    world.agent(f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{raw_http.url}', {names}}}")
    assert "it answered with an error" in (await result(world, "shop__few"))[0]
    output, status = await result(world, "shop__many")
    assert (output, status) == (
        "The MCP server shop is away: its connection broke. The call may have had an effect.",
        "error",
    )
    assert (await result(world, "shop__say")) == ("say", "ok")


async def until(names: list[str], name: str) -> None:
    async with asyncio.timeout(60):
        while name not in names:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
