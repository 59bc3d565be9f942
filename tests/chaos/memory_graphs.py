"""Graphs in a graph that remember, for turns that are killed: subgraphs with a checkpointer of their own."""

from __future__ import annotations

from pathlib import Path

from tests.graph_files import IMPORTS

#: The words of each turn, by how the subgraph is called. `{0}` is the number of the turn.
_INNER = ("All done: 1 results.", "inner {0}")
TEXTS = {
    "node": ("before", *_INNER, "after"),
    "invoked": ("before", *_INNER, "called {0}", "after"),
    "asking": ("before", *_INNER, "yes {0}", "after"),
    "twice": ("before", *_INNER, *_INNER, "called {0} {0}", "after"),
    "tool": ("before", *_INNER, "asked {0}", "after"),
}
_CALLS = {
    "node": "call = RunnableLambda(come) | inner",
    "invoked": """
async def call(state):
    come(state)
    found = await inner.ainvoke({"messages": [("user", "x")]})
    return {"messages": [AIMessage(f"called {found['count']}")]}
""",
    "asking": """
async def call(state):
    come(state)
    yes = interrupt("go on?")
    found = await inner.ainvoke({"messages": [("user", "x")]})
    return {"messages": [AIMessage(f"{yes} {found['count']}")]}
""",
    "twice": """
async def call(state):
    come(state)
    found = [await inner.ainvoke({"messages": [("user", "x")]}) for _ in range(2)]
    return {"messages": [AIMessage(f"called {found[0]['count']} {found[1]['count']}")]}
""",
    "tool": """
@tool
async def ask() -> str:
    "Ask."
    found = await inner.ainvoke({"messages": [("user", "x")]})
    return f"asked {found['count']}"

async def call(state, config):
    come(state)
    wanted = {"id": f"ask-{len(state['messages'])}", "name": "ask", "args": {}, "type": "tool_call"}
    found = await ToolNode([ask]).ainvoke({"messages": [AIMessage("", tool_calls=[wanted])]}, config)
    return {"messages": [AIMessage(found["messages"][-1].text)]}
""",
}

#: A file `die` names a node and a turn: the process is killed there, once.
_SOURCE = """
import asyncio
import os
import signal
from pathlib import Path

import caesura
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from tests.chaos.engine_graph_model import FixedInGraph

DIE = Path({trace!r}).with_name("die")


def leave(line):
    with open({trace!r}, "a") as file:
        file.write(line + "\\n")


def reach(place):
    if DIE.exists() and DIE.read_text() == place:
        DIE.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


@caesura.tool(permission="auto")
@tool
def jot(text: str) -> str:
    "Jot it down."
    leave("jot " + text)
    return "jotted " + text


class Remembering(MessagesState):
    count: int


async def think(state):
    said = await FixedInGraph().ainvoke([("user", "x"), ToolMessage("x", tool_call_id="x")])
    return {{"messages": [said], "count": state.get("count", 0) + 1}}


async def pay(state):
    leave(f"pay {{state['count']}}")
    call = {{"id": f"jot-{{state['count']}}", "name": "jot", "args": {{"text": str(state["count"])}}}}
    found = await ToolNode([jot]).ainvoke({{"messages": [AIMessage("", tool_calls=[call])]}})
    return {{"messages": [AIMessage("", tool_calls=[call]), *found["messages"]]}}


def told(state):
    reach(f"told {{state['count']}}")
    return {{"messages": [AIMessage(f"inner {{state['count']}}")]}}


def row(graph, **nodes):
    for before, (name, node) in zip([START, *nodes], nodes.items()):
        graph.add_node(name, node)
        graph.add_edge(before, name)
    return graph


inner = row(StateGraph(Remembering), think=think, pay=pay, told=told).compile(checkpointer=True)


async def before(state):
    await asyncio.sleep(0.02)
    return {{"messages": [AIMessage("before")]}}


def come(state):
    reach(f"call {{len([m for m in state['messages'] if m.type == 'human'])}}")
    return state


def after(state):
    return {{"messages": [AIMessage("after")]}}

{call}

graph = row(StateGraph(MessagesState), before=before, call=call, after=after).compile()
"""


def source(how: str, trace: Path) -> str:
    return IMPORTS + _SOURCE.format(trace=str(trace), call=_CALLS[how])
