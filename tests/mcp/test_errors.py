"""Errors of MCP servers, and answers that cannot be read. No call is made twice for them."""

from __future__ import annotations

import asyncio

import pytest

from caesura.agents.mcp import messages
from tests.engine.world import World
from tests.mcp.conftest import DEMO, Outside
from tests.mcp.test_tools import result, until_traced, wide
from tests.mcp_server.raw import tool
from tests.mcp_server.raw_http import RawHttp, failure

EFFECT = " The call may have had an effect."
PLACED = "The order was placed, but the shop session has expired."
#: Codes that the package and servers use for sessions and connections, and one that nobody knows.
CODES = (-32600, -32000, -32001, -32603, 7)


def told(message: str, name: str = "fail") -> str:
    return f"The MCP server shop failed at {name}: it answered with an error: {message}"


@pytest.fixture
def shop(world: World, outside: Outside) -> Outside:
    """A server over stdio that answers as a call says."""
    names = ("fail", "write", "say", "wait")
    outside.tools(*map(tool, names))
    world.agent(f"{DEMO}\n{outside.entry(wide(*names))}")
    return outside


def over_http(world: World, server: RawHttp) -> None:
    names = wide("say", *server.errors, *server.bodies)
    world.agent(f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{server.url}', {names}}}")


async def test_an_error_over_stdio_that_speaks_of_a_session_is_told_and_the_call_is_made_once(
    world: World, shop: Outside
) -> None:
    for code in CODES:
        found = await result(world, "shop__fail", code=code, message=PLACED)
        assert found == (told(PLACED) + EFFECT, "error")
    assert shop.traces.count("fail") == len(CODES)
    assert shop.traces.count("start") == 1, "the connection stays"


async def test_an_answer_over_http_to_another_request_is_told_at_once(
    world: World, raw_http: RawHttp
) -> None:
    result_of = b'{"jsonrpc": "2.0", "id": %s, "result": {"content": []}}'
    raw_http.bodies = {
        "other": (result_of % b"987654", "application/json"),
        "text": (result_of % b'"3"', "application/json"),
        "long": (result_of % b"987654" + b" " * 100_000, "application/json"),
        "none": (failure({"code": 7, "message": "no"}), "application/json"),
        "notice": (b'{"jsonrpc": "2.0", "method": "notifications/message"}', "application/json"),
    }
    over_http(world, raw_http)
    for name in raw_http.bodies:
        output = f"The MCP server shop failed at {name}: its answer is not that to the request." + EFFECT
        assert await result(world, f"shop__{name}") == (output, "error")
    assert await result(world, "shop__say") == ("say", "ok")


async def test_an_error_over_http_that_speaks_of_a_session_is_told_and_the_call_is_made_once(
    world: World, raw_http: RawHttp
) -> None:
    raw_http.errors = {
        f"fail{-code}-{status}": (status, {"code": code, "message": PLACED})
        for code in CODES
        for status in (200, 500)
    }
    over_http(world, raw_http)
    for name in raw_http.errors:
        assert await result(world, f"shop__{name}") == (told(PLACED, name) + EFFECT, "error")
    assert raw_http.calls == list(raw_http.errors)
    assert len(raw_http.sessions) == 1, "the connection stays"


@pytest.mark.parametrize(
    "unknown",
    [
        (404, b"gone", "text/plain"),
        (404, failure({"code": -32001, "message": "Session not found"}), "application/json"),
        (400, failure({"code": -32000, "message": "No valid session ID"}), "application/json"),
    ],
    ids=["the status of the protocol", "with an error", "another status with an error"],
)
async def test_a_session_that_the_server_has_forgotten_is_opened_again_without_a_word(
    world: World, raw_http: RawHttp, unknown: tuple[int, bytes, str]
) -> None:
    raw_http.unknown = unknown
    over_http(world, raw_http)
    assert (await result(world, "shop__say")) == ("say", "ok")
    raw_http.sessions.clear()
    assert (await result(world, "shop__say")) == ("say", "ok")
    assert raw_http.calls == ["say", "say"]


async def test_an_error_of_one_call_leaves_the_others_alone(world: World, shop: Outside) -> None:
    turn = await world.send("call shop__wait")
    await until_traced(shop, "wait")
    await world.begin()
    found = await result(world, "shop__fail", code=-32000, message="No ticket T-9.")
    assert found == (told("No ticket T-9.") + EFFECT, "error")
    assert (await result(world, "shop__say"))[1] == "ok"
    shop.go()
    [(_, _, status)] = (await world.segment(turn)).results()
    assert status == "ok"
    assert shop.traces.count("start") == 1


async def test_an_error_that_says_that_nothing_was_called_is_told_as_it_is(
    world: World, shop: Outside
) -> None:
    found = await result(world, "shop__fail", code=-32602, message="No such tool")
    assert found == (told("No such tool."), "error")


UNREADABLE = {
    "a lone surrogate": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":"\\ud800"}}',
    "a long number": f'{{"jsonrpc":"2.0","id":ID,"result":{{"content":[],"a":{"9" * 5000}}}}}',
    "no UTF-8": '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "\xff"}]}}',
    "deep": f'{{"jsonrpc":"2.0","id":ID,"result":{{"a":{"[" * 9000}{"]" * 9000}}}}}',
    "no result": '{"jsonrpc":"2.0","id":ID,"result":null}',
    "no code": '{"jsonrpc":"2.0","id":ID,"error":{"code":"x","message":{"a":1}}}',
    "half": '{"jsonrpc":"2.0","id":ID,"result":{"content"',
    "its id at the end": '{"result":{"content":"\xff"},"jsonrpc":"2.0","id":ID}',
}


async def test_an_answer_over_stdio_that_cannot_be_read_fails_its_call_at_once(
    world: World, shop: Outside
) -> None:
    unreadable = "The MCP server shop failed at write: its answer cannot be read."
    async with asyncio.timeout(100):  # a call may take 120 seconds
        for what, line in UNREADABLE.items():
            found = await result(world, "shop__write", line=line)
            assert found == (unreadable + EFFECT, "error"), what
    assert shop.traces.count("start") == 1


async def test_an_answer_over_http_that_cannot_be_read_fails_its_call_at_once(
    world: World, raw_http: RawHttp
) -> None:
    body = UNREADABLE["no UTF-8"].replace("ID", "3").encode("latin-1")
    raw_http.bodies = {
        "body": (body, "application/json"),
        "null": (b'{"jsonrpc": "2.0", "id": 3, "result": null}', "application/json"),
        "events": (b'data: {"jsonrpc": "2.0", "id": 3, "result": null}\n\n', "text/event-stream"),
    }
    over_http(world, raw_http)
    for name in raw_http.bodies:
        found = await result(world, f"shop__{name}")
        assert found == (f"The MCP server shop failed at {name}: its answer cannot be read.{EFFECT}", "error")
    assert raw_http.calls == list(raw_http.bodies)


async def test_a_stream_that_ends_without_an_answer_is_told_as_the_end_of_the_connection(
    world: World, raw_http: RawHttp
) -> None:
    raw_http.bodies = {"cut": (b": nothing comes\n\n", "text/event-stream")}
    over_http(world, raw_http)
    found = await result(world, "shop__cut")
    assert found == (f"The MCP server shop is away: its connection ended.{EFFECT}", "error")
    assert (await result(world, "shop__say")) == ("say", "ok")


async def test_numbers_that_json_does_not_have_are_read(world: World, shop: Outside) -> None:
    line = '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"a":NaN,"b":1e999}}}'
    output, status = await result(world, "shop__write", line=line)
    assert status == "ok"
    assert output.startswith('{"a":')


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":nonsense', 7),
        (b'{ "id" : 7 , "jsonrpc" : "2.0" , "error" : nonsense', 7),
        (b'{"result":nonsense,"id":7,"jsonrpc":"2.0" }', 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":nonsense', None),
        (b'{"jsonrpc":"2.0","method":"ping","params":nonsense,"id":7}', None),
        (b'{"jsonrpc":"2.0","id":null,"result":nonsense}', None),
        (b'{"jsonrpc":"2.0","result":{"id":7},"id":"a"}', None),
        (b'the log says {"jsonrpc":"2.0","id":7,"result":1}', None),
    ],
)
def test_the_question_that_a_broken_line_answers(line: bytes, number: int | None) -> None:
    assert messages.id_of(line) == number
