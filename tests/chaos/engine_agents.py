"""Deterministic agents, so that a run that was killed can be compared with one that was not."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from caesura.agents.tools.tool import Tool, describe_any, structured
from tests import agent_files
from tests.graph_files import IMPORTS

#: The model: its reply depends only on its messages.
_MODEL = """
import asyncio

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from caesura.agents import titles

#: The calls of the writer, after this many results. The two updates are made at once.
_WRITING = {
    0: [("create_artifact", '{"id": "notes", "title": "Notes", "content_type": "text", "content": "a b"}')],
    1: [
        ("update_artifact", '{"id": "notes", "old": "a", "new": "1"}'),
        ("update_artifact", '{"id": "notes", "old": "b", "new": "2"}'),
    ],
    3: [("rewrite_artifact", '{"id": "notes", "content": "all new"}')],
}


class Fixed(BaseChatModel):
    role: str = "tools"

    @property
    def _llm_type(self):
        return "fixed"

    def bind_tools(self, tools, **kwargs):
        return self.bind(**kwargs)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        pieces, _ = self._plan(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage("".join(pieces)))])

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        pieces, calls = self._plan(messages)
        for piece in pieces:
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            await asyncio.sleep(0.015)  # so that each piece has a commit of its own
        chunks = [
            tool_call_chunk(name=name, args=args, id=id, index=place)
            for place, (id, name, args) in enumerate(calls)
        ]
        if chunks:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=chunks))

    def _plan(self, messages):
        if titles.message_in(str(messages[-1].content)) is not None:
            return ["A title"], []
        last = max(place for place, m in enumerate(messages) if isinstance(m, HumanMessage))
        told = [m.text for m in messages if isinstance(m, HumanMessage)]
        results = [m for m in messages[last:] if isinstance(m, ToolMessage)]
        if self.role == "words":
            asks = len(told) < 3
            return (["Please ", "confirm ", str(len(told))] if asks else ["Thank ", "you."]), []
        if self.role == "slow":
            return [f"{number} " for number in range(60)], []
        if self.role == "talk":
            return ["Good ", "day."], []
        if self.role == "writer" and len(results) in _WRITING:
            return ["Writing."], [
                (f"call-{len(results)}-{place}", name, args)
                for place, (name, args) in enumerate(_WRITING[len(results)])
            ]
        if results:
            return ["All ", "done: ", f"{len(results)} results."], []
        if self.role == "lead":
            return ["I ", "ask."], [("call-lead", "helper", '{"task": "help"}')]
        if self.role == "team":
            tasks = [("call-a", "helper"), ("call-b", "second")]
            return ["I ", "ask."], [(id, name, '{"task": "help"}') for id, name in tasks]
        if self.role == "waits":
            return ["I ", "wait."], [("call-wait", "wait", '{"text": "w"}')]
        if self.role == "graph":
            return ["Working ", "on ", "it."], [("call-jot", "jot", '{"text": "a"}')]
        id = f"{self.role}-{len(told)}"
        own = "-second" if self.role == "second" else ""
        calls = [
            (f"call-{id}-note", "note", f'{{"text": "a{own}"}}'),
            (f"call-{id}-seal", "seal", f'{{"text": "b{own}"}}'),
        ]
        return ["Working ", "on ", "it."], calls
"""

#: An operator's own graph: it replies, uses a tool, replies again, and asks.
_GRAPH = """

@tool
def jot(text: str) -> str:
    "Jot it down."
    with open({trace!r}, "a") as file:
        file.write(f"jot {{text}}\\n")
    return "jotted " + text


async def speak(state):
    return {{"messages": [await Fixed(role="graph").ainvoke(state["messages"])]}}


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

_AGENTS = {
    "tools": "tools: [note, seal]\nmodel: {class: 'model:Fixed'}",
    "writer": (
        "tools: [create_artifact, update_artifact, rewrite_artifact]\n"
        "model: {class: 'model:Fixed', options: {role: writer}}"
    ),
    "talk": "tools: []\nmodel: {class: 'model:Fixed', options: {role: talk}}",
    "slow": "tools: []\nmodel: {class: 'model:Fixed', options: {role: slow}}",
    "waits": "tools: [wait]\nmodel: {class: 'model:Fixed', options: {role: waits}}",
    "words": "tools: []\ninterrupt: {enabled: true}\nmodel: {class: 'model:Fixed', options: {role: words}}",
    "graph": "type: langgraph\ngraph: 'model:graph'",
    "helper": "tools: [note, seal]\nmodel: {class: 'model:Fixed', options: {role: helper}}",
    "second": "tools: [note, seal]\nmodel: {class: 'model:Fixed', options: {role: second}}",
    "team": (
        "tools: []\nsub_agents: [{ref: helper, description: Helps}, {ref: second, description: Also}]\n"
        "model: {class: 'model:Fixed', options: {role: team}}"
    ),
    "lead": (
        "tools: []\nsub_agents: [{ref: helper, description: Helps}]\n"
        "model: {class: 'model:Fixed', options: {role: lead}}"
    ),
}
_NEEDED = {"lead": ("helper",), "team": ("helper", "second")}


def write_agents(folder: Path, wanted: str) -> None:
    """Write the files of this agent and of the agents that it needs, unless they exist."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    own = IMPORTS + _GRAPH.format(trace=str(folder.parent / "trace.txt")) if wanted == "graph" else ""
    (folder / "model.py").write_text(_MODEL + own)
    for name in (wanted, *_NEEDED.get(wanted, ())):
        agent_files.put(folder, name, _AGENTS[name])


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
    made.name = name
    return [Tool(name, made, describe_any(name), "confirm" if name == "seal" else "auto")]
