"""kill -9 of the server while sub-agents work: everything is said, asked and done once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from caesura.client import Client
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.events import Envelope
from caesura.core.fold import fold
from tests.api.web_double import WebDouble
from tests.client.process import Process

Check = Callable[[ev.Event], bool]


def calls(agent: str) -> Check:
    """A model call of this agent begins."""
    return lambda event: isinstance(event, ev.ModelStarted) and event.agent == agent


def ends(name: str) -> Check:
    return lambda event: isinstance(event, ev.ToolFinished) and event.name == name


async def see_through(
    client: Client, process: Process, turn_id: str, at: Check, number: int
) -> list[Envelope]:
    """Read a turn to its end and approve what it asks. At the n-th event that fits, the server is killed and
    started again."""
    found: list[Envelope] = []
    async for envelope in client.events(turn_id):
        found.append(envelope)
        number -= at(envelope.event)
        if number == 0 and at(envelope.event):
            await asyncio.to_thread(process.kill)
            await asyncio.to_thread(process.start)
        if isinstance(envelope.event, ev.SegmentEnded):
            for item in await client.inbox():
                await client.answer(item.interrupt.id, Answer("approve"))
    assert number <= 0, "the server was never killed"
    return found


@pytest.mark.parametrize(
    ("at", "number"),
    [
        pytest.param(ends("web_search"), 1, id="after a search"),
        pytest.param(calls("search_agent"), 4, id="while a sub-agent says what it found"),
        pytest.param(calls("crawl_agent"), 2, id="while both ask"),
        pytest.param(ends("web_fetch"), 1, id="after a page"),
        pytest.param(ends("create_artifact"), 1, id="after the draft"),
    ],
)
async def test_after_kill_9_a_research_with_sub_agents_at_once_goes_on(
    tmp_path: Path, at: Check, number: int
) -> None:
    with WebDouble() as web:
        allowed = f"127.0.0.1:{web.port}"
        with Process(tmp_path, search_url=web.url, fetch_allow=allowed) as process:
            async with Client(process.url) as client:
                made = await client.create("lead_agent")
                turn = await client.send(made.id, "research trees and rivers think=no delay=0.01")
                found = await see_through(client, process, turn.id, at, number)
        assert sorted(set(web.searched)) == ["rivers", "trees"]
        assert sorted(set(web.fetched)) == ["/page/rivers", "/page/trees"]
    events = [envelope.event for envelope in found]
    assert any(isinstance(event, ev.Finished) for event in events)
    ended = [event.id for event in events if isinstance(event, ev.ToolFinished)]
    assert len(ended) == len(set(ended)) == 10
    versions = [event.version for event in events if isinstance(event, ev.ArtifactChanged)]
    assert versions == [1, 2]
    asked = [item.id for event in events if isinstance(event, ev.Interrupted) for item in event.interrupts]
    assert len(asked) == len(set(asked)) == 2
    said = [message for message in fold(events).finished if message.role == "assistant" and message.parent]
    assert sum("I call" in message.content for message in said) == 4
    assert sum("is done" in message.content for message in said) == 4
