"""MCP servers that send without end what nobody asked for: they are cut off, and delay nobody."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Iterable
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from caesura.agents.mcp import allowance, stdio
from caesura.agents.mcp import server as mcp_server
from caesura.agents.mcp.allowance import Allowance, Kind
from caesura.agents.mcp.messages import Unwieldy
from tests.effort import sample, thorough
from tests.engine.world import World
from tests.mcp.conftest import DEMO, Outside
from tests.mcp.test_tools import result, wide
from tests.mcp_server.raw import tool
from tests.mcp_server.raw_http import RawHttp
from tests.pauses import LONGEST_STEP, Pauses
from tests.waiting import until

MIB = 1024 * 1024
AUTO = wide("say", "flood")
EFFECT = "The call may have had an effect."
UNASKED = "it sends too much that nobody asked for"
#: The memory that a flood may take, with what the tests themselves need.
MEMORY = 80 * MIB


def message(method: str, /, **fields: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, **fields})


def answer(number: int, **outcome: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, **outcome})


SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "x" * 500}}], "maxTokens": 9}
MESSAGES = {
    "sampling": message("sampling/createMessage", id=1, params=SAMPLING),
    "elicitation": message("elicitation/create", id=1, params={"message": "x", "requestedSchema": {}}),
    "roots": message("roots/list", id="r"),
    "ping": message("ping", id=1),
    "unknown request": message("no/such", id=1),
    "progress": message("notifications/progress", params={"progressToken": 0, "progress": 1}),
    "log": message("notifications/message", params={"level": "info", "data": "x" * 200}),
    "list": message("notifications/tools/list_changed"),
    "cancelled": message("notifications/cancelled", params={"requestId": 1}),
    "unknown notice": message("notifications/none"),
    "result": answer(999_999, result={"content": []}),
    "error": answer(999_999, error={"code": 1, "message": "x"}),
    "no message": "[1, 2]",
    "no JSON": "nonsense",
}
LINES = {**{name: f"{text}\n" for name, text in MESSAGES.items()}, "empty lines": "\n", "blanks": " \r\n"}
EVENTS = {
    **{name: f"data: {text}\n\n" for name, text in MESSAGES.items()},
    "comments": ":\n\n",
    "comment lines": ": x\n",
    "empty lines": "\n",
    "unknown events": "event: other\ndata: 1\n\n",
}


class Flooded:
    """What a call came to whose server sends without end, and what that cost."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def call(self, name: str = "flood", **args: Any) -> str:
        before = _memory()
        async with asyncio.timeout(60), Pauses() as pauses:
            text, status = await result(self._world, f"shop__{name}", **args)
        assert status == "error"
        assert _memory() - before < MEMORY
        assert pauses.longest < LONGEST_STEP
        return text


def _memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.fixture
def flooded(world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Flooded:
    for name in ("_PAUSE", "_LONGEST_PAUSE"):
        monkeypatch.setattr(mcp_server, name, 0.0)
    monkeypatch.setattr(stdio, "_GRACE", 0.0)
    if not thorough():
        monkeypatch.setattr(allowance, "_MOST", 200)
    caplog.set_level(logging.WARNING, "caesura")
    return Flooded(world)


def chosen(kinds: dict[str, str]) -> list[str]:
    """Every third in a usual run."""
    names = list(kinds)
    return [names[place] for place in sample([0] * len(names), 3)]


async def test_a_process_that_sends_without_end_is_cut_off(
    world: World, outside: Outside, flooded: Flooded, caplog: pytest.LogCaptureFixture
) -> None:
    outside.tools(tool("say"), tool("flood"))
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    for name in chosen(LINES):
        text = LINES[name].replace('"progressToken": 0', '"progressToken": TOKEN')
        assert await flooded.call(text=text) == f"The MCP server shop is away: {UNASKED}. {EFFECT}", name
        await until(
            lambda: any(f"MCP server shop of agent tester: {UNASKED}" in it for it in caplog.messages)
        )
        caplog.clear()
    assert (await result(world, "shop__say"))[1] == "ok"


async def test_the_answer_of_an_http_server_that_has_no_end_is_cut_off(
    world: World, raw_http: RawHttp, flooded: Flooded, caplog: pytest.LogCaptureFixture
) -> None:
    raw_http.unfinished["flood"] = ()
    world.agent(f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{raw_http.url}', {AUTO}}}")
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    answers = ("result", "error", "no message", "no JSON")  # the first one ends the call
    for name in chosen({name: text for name, text in EVENTS.items() if name not in answers}):
        raw_http.unfinished["flood"] = chain([head], again(EVENTS[name]))
        assert await flooded.call() == f"The MCP server shop is away: {UNASKED}. {EFFECT}", name
        await until(lambda: f"MCP server shop of agent tester: {UNASKED}" in caplog.text)
        caplog.clear()
    assert (await result(world, "shop__say"))[1] == "ok"


async def test_the_stream_of_an_http_session_that_has_no_end_is_cut_off(
    world: World, raw_http: RawHttp, flooded: Flooded, caplog: pytest.LogCaptureFixture
) -> None:
    world.agent(f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{raw_http.url}', {AUTO}}}")
    for name in chosen(EVENTS):
        raw_http.stream = again(EVENTS[name])
        async with asyncio.timeout(60), Pauses() as pauses:
            await result(world, "shop__say")
            await until(lambda: f"MCP server shop of agent tester: {UNASKED}" in caplog.text)
        assert pauses.longest < LONGEST_STEP
        caplog.clear()
    raw_http.stream = None
    assert (await result(world, "shop__say"))[1] == "ok"


def again(text: str) -> Iterable[bytes]:
    return repeat(text.encode() * (64 * 1024 // len(text) + 1))


def test_what_was_spent_comes_back_and_answers_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, reasons = 0.0, list[str]()
    monkeypatch.setattr("time.monotonic", lambda: clock)
    spent = Allowance(reasons.append)
    for _ in range(100):
        spent.send("request")
        spent.take(32 * MIB, "answer")
        clock += 1.0
        for _ in range(90):
            spent.take(100)
    assert reasons == []
    with pytest.raises(Unwieldy, match=UNASKED):
        _take(spent, 3_000, "other")
    assert reasons == [UNASKED]


@pytest.mark.parametrize("kind", ["answer", "request", "other"])
def test_a_large_message_that_nobody_asked_for_is_refused(kind: Kind) -> None:
    with pytest.raises(Unwieldy, match="more than 1024 KiB that nobody asked for"):
        Allowance(lambda reason: None).take(MIB + 1, kind)


def test_requests_whose_answers_are_not_taken_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr("time.monotonic", lambda: clock)
    spent = Allowance(lambda reason: None)
    for _ in range(1_000):
        spent.take(100, "request")
        spent.send("answer")
        clock += 1.0
    with pytest.raises(Unwieldy, match=UNASKED):
        _take(spent, 60, "request")


def _take(spent: Allowance, count: int, kind: Kind) -> None:
    for _ in range(count):
        spent.take(0, kind)
