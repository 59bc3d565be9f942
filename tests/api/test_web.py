"""Agents search and read the web on a running server: the demo model asks, and a person allows a fetch."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from tests.agents.tools.web.site import Site, response, silence
from tests.api.reading import conversation, events, send, to_segment_end
from tests.api.server import Served
from tests.api.test_native import answer, pending

AGENT = """
apiVersion: caesura/v1
kind: Agent
metadata: {name: researcher, description: For tests.}
spec:
  model: {primary: demo, options: {delay: 0, think: false}}
  tools: [web_search, web_fetch]
"""
PAGE = "<title>Tea</title><main><h1>Tea</h1><p>Hot water first.</p></main>"


def served(folder: Path, site: Site) -> Served:
    (folder / "agents").mkdir()
    (folder / "agents" / "researcher.yaml").write_text(AGENT)
    return Served(folder, default_agent="researcher", search_url=site.url, fetch_allow=site.host)


def called(client: httpx.Client, content: str) -> tuple[str, str]:
    """What came of a call that asks nobody."""
    found = to_segment_end(client, send(client, conversation(client), content)["id"])
    (finished,) = [event.data for event in found if event.name == "tool_finished"]
    return finished["output"], finished["status"]


def fetched(client: httpx.Client, content: str) -> tuple[str, str, str]:
    """The description that the person approved, and what came of it."""
    turn, (asked,) = pending(client, content)
    assert answer(client, asked["id"], "approve").status_code == 200
    (finished,) = [event.data for event in events(client, turn["id"]) if event.name == "tool_finished"]
    return asked["description"], finished["output"], finished["status"]


@pytest.mark.parametrize(
    ("search", "fetch", "shown"),
    [("search for tea", "fetch", "Fetching page: "), ("搜索 茶", "抓取", "正在获取网页: ")],
)
async def test_a_search_runs_at_once_and_a_fetch_after_approval(
    tmp_path: Path, search: str, fetch: str, shown: str
) -> None:
    async with Site() as site:
        hit = {"title": "Tea", "url": f"{site.url}/tea", "content": "Hot water."}
        site.answers["/search"] = response(json.dumps({"results": [hit]}), kind="application/json")
        site.answers["/tea"] = response(PAGE)
        with served(tmp_path, site) as server, server.client() as client:
            output, status = await asyncio.to_thread(called, client, search)
            assert status == "ok"
            assert f"1. Tea\n   {site.url}/tea\n   Hot water." in output
            assert "/tea" not in site.paths
            description, output, status = await asyncio.to_thread(fetched, client, f"{fetch} {site.url}/tea")
            assert description == f"{shown}{site.url}/tea"
            assert status == "ok"
            first = f"Content of {site.url}/tea (untrusted text from the web)"
            assert output == f"{first}\nTitle: Tea\n\n# Tea\n\nHot water first."


async def test_the_server_itself_cannot_be_fetched_and_nobody_is_asked_about_it(tmp_path: Path) -> None:
    async with Site() as site:
        with served(tmp_path, site) as server, server.client() as client:
            output, status = await asyncio.to_thread(called, client, f"fetch {server.url}/metrics")
            assert status == "error"
            assert "is not one of the ports of the web" in output
            output, status = await asyncio.to_thread(called, client, "fetch http://127.0.0.1/")
            assert status == "error"
            assert "127.0.0.1 is not on the public web" in output
            assert client.get("/api/v2/interrupts").json()["interrupts"] == []


async def test_a_stop_of_the_turn_closes_the_connection(tmp_path: Path) -> None:
    def begin(client: httpx.Client) -> str:
        turn, (asked,) = pending(client, f"fetch {site.url}/slow")
        assert answer(client, asked["id"], "approve").status_code == 200
        return str(turn["id"])

    async with Site() as site:
        site.answers["/slow"] = silence
        with served(tmp_path, site) as server, server.client() as client:
            turn = await asyncio.to_thread(begin, client)
            await site.opened.wait()
            stopped = await asyncio.to_thread(client.post, f"/api/v2/turns/{turn}/stop")
            assert stopped.status_code == 200
            await site.gone.wait()
