"""kill -9 of a server while a graph works: marked tools keep their journal, and the state lives on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from textwrap import dedent

import pytest

from caesura.client import Client
from caesura.client.events import ReceivedEvent
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval
from tests import agent_files
from tests.client.process import Process

pytestmark = pytest.mark.timeout(300)

#: Calls the tool that a message names, and counts the turns. A tool waits until there is a file `go`.
GRAPH = '''
    import time
    from pathlib import Path

    import caesura
    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    FOLDER = Path(__file__).parent

    def left(text):
        with (FOLDER / "trace.txt").open("a") as file:
            file.write(text + "\\n")

    def waited(text):
        left(text)
        while not (FOLDER / "go").exists():
            time.sleep(0.01)

    @caesura.tool(permission="auto")
    def charge(ctx: caesura.Context) -> str:
        """Charge."""
        waited(f"charge {ctx.idempotency_key}")
        return "charged"

    @caesura.tool(permission="auto")
    def note() -> str:
        """Note."""
        left("note")
        return "noted"

    class State(MessagesState):
        turns: int

    def want(state):
        names = state["messages"][-1].text.split()
        calls = [{"id": f"call-{name}", "name": name, "args": {}} for name in names]
        return {"turns": state.get("turns", 0) + 1, "messages": [AIMessage("", tool_calls=calls)]}

    def tell(state):
        return {"messages": [AIMessage(f"turn {state['turns']}")]}

    graph = StateGraph(State)
    graph.add_node("want", want)
    graph.add_node("tools", ToolNode([charge, note]))
    graph.add_node("tell", tell)
    graph.add_edge(START, "want")
    graph.add_edge("want", "tools")
    graph.add_edge("tools", "tell")
    graph = graph.compile()
'''


async def test_a_marked_tool_of_a_graph_is_not_made_twice_and_the_state_lives_on(tmp_path: Path) -> None:
    agents, trace = tmp_path / "agents", tmp_path / "agents" / "trace.txt"
    agent_files.put(agents, "clerk", "type: langgraph\ngraph: 'flow:graph'")
    agents.joinpath("flow.py").write_text(dedent(GRAPH))
    process = Process(tmp_path / "data", agents_dir=str(agents), default_agent="clerk")
    async with Client(process.url) as client:
        with process:
            conversation = await client.create()
            turn = await client.send(conversation.id, "note charge")
            async with aclosing(client.events(turn.id)) as events:
                await _finished(events, "note")
                await _traces(trace, 2)
                process.kill()
                process.start()
                asked = await _asked(events)
                assert (asked.unknown, asked.name) == (True, "charge")
                assert len(trace.read_text().splitlines()) == 2, "nothing ran again by itself"
                agents.joinpath("go").touch()
                await client.answer(asked.id, Answer("approve"))
                assert await _said(events) == "turn 1"
            process.kill()
            process.start()
            again = await client.send(conversation.id, "note")
            async with aclosing(client.events(again.id)) as events:
                assert await _said(events) == "turn 2"
    lines = trace.read_text().splitlines()
    assert lines.count("note") == 2, "once in each turn"
    keys = [line for line in lines if line.startswith("charge")]
    assert len(keys) == 2
    assert len(set(keys)) == 1, "the key is the same"


async def _traces(file: Path, count: int) -> None:
    async with asyncio.timeout(60):
        while not file.exists() or len(file.read_text().splitlines()) < count:  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.01)


async def _finished(events: AsyncGenerator[ReceivedEvent, None], name: str) -> None:
    """Wait until the journal has what came of this call."""
    async for received in events:
        if isinstance(received.event, ev.ToolFinished) and received.event.name == name:
            return
    raise AssertionError(f"{name} has not finished")


async def _asked(events: AsyncGenerator[ReceivedEvent, None]) -> Approval:
    async for received in events:
        if isinstance(received.event, ev.Interrupted):
            [item] = received.event.interrupts
            assert isinstance(item, Approval)
            return item
    raise AssertionError("nothing was asked")


async def _said(events: AsyncGenerator[ReceivedEvent, None]) -> str:
    return "".join([item.event.text async for item in events if isinstance(item.event, ev.TextDelta)])
