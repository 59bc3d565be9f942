"""What the MCP servers of a process have in common: a thread, and memory for messages that have not ended."""

from __future__ import annotations

import asyncio
import threading

import httpx2
import pytest

from caesura.agents.mcp import http
from caesura.agents.mcp.allowance import Allowance
from caesura.agents.mcp.messages import Unwieldy
from caesura.agents.mcp.shares import Commons
from tests.mcp_server.raw_http import RawHttp

MIB = 1024 * 1024


def test_unfinished_messages_of_all_servers_are_bounded_together() -> None:
    commons = Commons(3 * MIB)
    with commons.share().hold() as first, commons.share().hold() as second:
        for held in (first, second):
            held.add(b"x" * MIB)
            held.check()
        first.add(b"x" * MIB)
        first.check()
        second.add(b"x")
        with pytest.raises(Unwieldy, match="of all MCP servers are too large together"):
            second.check()
        first.take(2 * MIB, 0)
        first.check()
        second.check()
    assert commons.unfinished.held == 0


async def test_an_answer_that_is_not_read_on_frees_what_it_held(raw_http: RawHttp) -> None:
    raw_http.stream = [b"data: " + b"x" * MIB]
    commons = Commons(MIB // 2)
    async with (
        http.client(
            {}, commons.share(), Allowance(print), lambda reason: None, lambda status: None
        ) as client,
        client.stream("GET", raw_http.url) as response,
    ):
        with pytest.raises(httpx2.SSEError, match="too large together"):
            await response.aread()
    assert commons.unfinished.held == 0


async def test_a_server_with_much_work_does_not_keep_others_from_the_thread() -> None:
    commons = Commons()
    busy, other = commons.share(), commons.share()
    begun, go_on = threading.Event(), threading.Event()
    done = list[str]()

    def work() -> None:
        begun.set()
        go_on.wait(60)
        done.append("busy")

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(busy.run(work))
        await asyncio.to_thread(begun.wait, 60)
        group.create_task(other.run(done.append, "other"))
        await asyncio.sleep(0)
        go_on.set()
    assert done == ["busy", "other", *["busy"] * 4]
