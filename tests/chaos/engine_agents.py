"""Deterministic agents, so that a run that was killed can be compared with one that was not."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from caesura.agents.tools.tool import Tool, describe_any, structured
from tests import agent_files
from tests.chaos import memory_graphs
from tests.graph_files import IMPORTS

#: An operator's own graph: it replies, uses a tool, replies again, and asks.
_GRAPH = """
import caesura
from tests.chaos.engine_graph_model import FixedInGraph


@caesura.tool(permission="auto")
@tool
def jot(text: str) -> str:
    "Jot it down."
    with open({trace!r}, "a") as file:
        file.write(f"jot {{text}}\\n")
    return "jotted " + text


async def speak(state):
    return {{"messages": [await FixedInGraph().ainvoke(state["messages"])]}}


def ask(state):
    return {{"messages": [AIMessage(f"You said {{interrupt('which?')}}.")]}}


graph = StateGraph(MessagesState)
graph.add_node("speak", speak)
graph.add_node("tools", ToolNode([jot]))
graph.add_node("ask", ask)
graph.add_edge(START, "speak")
graph.add_conditional_edges("speak", tools_condition, {{"tools": "tools", "__end__": "ask"}})
graph.add_edge("tools", "speak")
graph = graph.compile()
"""

#: An operator's own tool: it asks twice, and then has an effect.
_MONEY = """
import caesura

@caesura.tool(permission="auto")
def pay(text: str, context: caesura.Context) -> str:
    "Pay."
    how = context.ask("How?", ["cash", "card"])
    sure = context.ask("Sure?", ["yes", "no"])
    with open({trace!r}, "a") as file:
        file.write(f"pay {{text}} {{how}} {{sure}} {{context.idempotency_key}}\\n")
    return "paid"
"""

_MODEL = "model: {{class: 'tests.chaos.engine_model:Fixed', options: {{role: {role}}}}}\n"
_HELPER, _SECOND = "{ref: helper, description: Helps}", "{ref: second, description: Also}"
#: What the agents' files say besides their models. A model has the name of its agent as its role.
_AGENTS = {
    "tools": "tools: [note, seal]\n",
    "writer": "tools: [create_artifact, update_artifact, rewrite_artifact]\n",
    "clerk": "tools: ['money:pay']\n",
    "talk": "tools: []\n",
    "slow": "tools: []\n",
    "waits": "tools: [wait]\n",
    "words": "tools: []\ninterrupt: {enabled: true}\n",
    "helper": "tools: [note, seal]\n",
    "second": "tools: [note, seal]\n",
    "team": f"tools: []\nsub_agents: [{_HELPER}, {_SECOND}]\n",
    "lead": f"tools: []\nsub_agents: [{_HELPER}]\n",
    "office": "tools: []\nsub_agents: [{ref: graph, description: Is a graph}]\n",
}
_NEEDED = {"lead": ("helper",), "team": ("helper", "second")}


def write_agents(folder: Path, wanted: str) -> None:
    """Write the files of this agent and of the agents that it needs, unless they exist."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    if wanted in memory_graphs.TEXTS:
        (folder / "memory.py").write_text(memory_graphs.source(wanted, folder.parent / "trace.txt"))
        agent_files.put(folder, wanted, "type: langgraph\ngraph: 'memory:graph'")
        return
    if wanted in ("graph", "office"):
        (folder / "own.py").write_text(IMPORTS + _GRAPH.format(trace=str(folder.parent / "trace.txt")))
        agent_files.put(folder, "graph", "type: langgraph\ngraph: 'own:graph'")
    if wanted == "graph":
        return
    if wanted == "clerk":
        (folder / "money.py").write_text(_MONEY.format(trace=str(folder.parent / "trace.txt")))
    for name in (wanted, *_NEEDED.get(wanted, ())):
        agent_files.put(folder, name, _AGENTS[name] + _MODEL.format(role=name))


def deadly(trace: Path, name: str) -> list[Tool]:
    """The tool of that name, which kills its process right after its effect."""

    async def fatal(text: str) -> str:
        with trace.open("a") as file:
            file.write(f"{name} {text}\n")
        os.kill(os.getpid(), signal.SIGKILL)
        return "never"

    if not name:
        return []
    made = structured(fatal, "To end it all.")
    return [Tool(name, made, describe_any(name), "confirm" if name == "seal" else "auto")]
