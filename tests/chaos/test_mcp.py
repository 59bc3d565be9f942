"""kill -9 of a server during a call of an MCP server's tool: the rules of the journal hold."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from caesura.client import Client
from caesura.client.events import ReceivedEvent
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval
from tests import agent_files
from tests.client.process import Process
from tests.mcp.conftest import DEMO, RAW, Outside
from tests.mcp_server.raw import tool

pytestmark = pytest.mark.timeout(300)


class Scene:
    """A server that can be killed, and a person who talks to its agent, which uses an MCP server."""

    def __init__(self, folder: Path) -> None:
        self.outside = Outside(folder / "outside")
        self.outside.tools(tool("charge"), tool("look", annotations={"readOnlyHint": True}))
        self.outside.mode("wait")
        entry = {"name": "shop", "command": sys.executable, "args": [str(RAW), str(self.outside.folder)]}
        more = {"permissions": {"charge": "auto"}, "trust_annotations": True}
        agent_files.put(folder / "agents", "clerk", f"{DEMO}\nmcp_servers: {json.dumps([entry | more])}")
        agents = str(folder / "agents")
        self.process = Process(folder / "data", agents_dir=agents, default_agent="clerk")
        self.client = Client(self.process.url)
        self._events: AsyncGenerator[ReceivedEvent, None] | None = None

    def calls(self, name: str) -> list[str]:
        return [line for line in self.outside.traces if line.startswith(name)]

    async def until_called(self, name: str, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.calls(name)) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def begin(self, text: str) -> None:
        conversation = await self.client.create()
        turn = await self.client.send(conversation.id, text)
        self._events = self.client.events(turn.id)

    async def outcome(self) -> Approval | tuple[str, str]:
        """What the person is asked next, or the result of the call."""
        assert self._events is not None
        async for received in self._events:
            match received.event:
                case ev.ToolFinished(output=output, status=status):
                    return output, status
                case ev.Interrupted(interrupts=(Approval() as asked,)):
                    return asked
        raise AssertionError("nothing came of it")

    async def end(self) -> None:
        if self._events is not None:
            await self._events.aclose()

    def crash(self) -> None:
        self.process.kill()
        self.process.start()


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Scene]:
    scene = Scene(folder)
    with scene.process:
        async with scene.client:
            yield scene
            await scene.end()


async def test_a_call_that_was_cut_off_is_made_again_only_if_the_person_says_so(tmp_path: Path) -> None:
    async with running(tmp_path) as scene:
        await scene.begin("call shop__charge {}")
        await scene.until_called("charge", 1)
        scene.crash()
        asked = await scene.outcome()
        assert isinstance(asked, Approval)
        assert (asked.name, asked.unknown) == ("shop__charge", True)
        assert len(scene.calls("charge")) == 1
        scene.outside.go()
        await scene.client.answer(asked.id, Answer("approve"))
        assert await scene.outcome() == ("charge {}", "ok")
        first, second = scene.calls("charge")
        assert first == second, "the key of the call is the same"


async def test_a_call_that_only_reads_is_simply_made_again(tmp_path: Path) -> None:
    async with running(tmp_path) as scene:
        await scene.begin("call shop__look {}")
        await scene.until_called("look", 1)
        scene.crash()
        await scene.until_called("look", 2)
        scene.outside.go()
        assert await scene.outcome() == ("look {}", "ok")
        assert len(set(scene.calls("look"))) == 1
