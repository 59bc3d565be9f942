"""An operator's own tool over a real server: its progress in the stream and in the snapshot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import httpx
import pytest

from tests import agent_files
from tests.api import reading
from tests.api.server import Served

TOOLS = '''
    import asyncio
    import caesura

    @caesura.tool(permission="auto")
    async def export(ctx: caesura.Context) -> str:
        """Export."""
        await ctx.progress("page 1 of 2")
        while not (ctx.workspace / "go").exists():
            await asyncio.sleep(0.01)
        return "exported"
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = "model: {primary: demo, options: {delay: 0}}"
    agent_files.put(tmp_path / "agents", "clerk", f"tools: [files:export]\n{model}")
    (tmp_path / "agents" / "files.py").write_text(dedent(TOOLS))
    return tmp_path


@pytest.fixture
def alice(folder: Path) -> Iterator[httpx.Client]:
    with Served(folder, default_agent="clerk") as server, server.client("alice") as client:
        yield client


def test_progress_is_in_the_stream_and_with_the_running_tool_of_the_snapshot(
    alice: httpx.Client, folder: Path
) -> None:
    conversation = alice.post("/api/v2/conversations", json={}).json()["id"]
    path = f"/api/v2/conversations/{conversation}"
    turn = alice.post(f"{path}/turns", json={"content": "call export {}"}).json()["id"]
    over, running = time.monotonic() + 60, None
    while time.monotonic() < over and not (running and running[0]["progress"]):
        running = alice.get(f"{path}/snapshot").json()["turns"][-1]["running_tools"]
    assert running
    assert (running[0]["name"], running[0]["progress"]) == ("export", "page 1 of 2")
    (folder / "data" / "workspaces" / conversation / "go").touch()
    events = reading.events(alice, turn)
    [told] = [event.data for event in events if event.name == "tool_progress"]
    assert (told["id"], told["text"]) == (running[0]["id"], "page 1 of 2")
    [result] = [event.data["output"] for event in events if event.name == "tool_finished"]
    assert result == "exported"
