"""Source text of small LangGraph graphs for tests: an operator's own graphs."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

IMPORTS = """
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt
"""

#: An agent whose tool calls a person reviews, as LangChain's documentation writes one. Its model makes the
#: calls that a message lists as JSON, and then repeats their results. Tools write to `trace`.
_REVIEWED = """
import json
from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver


class Scripted(BaseChatModel):
    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        last = messages[-1]
        if last.type == "human" and last.text.startswith("["):
            wanted = enumerate(json.loads(last.text), 1)
            calls = [
                {"id": f"{len(messages)}-{n}", "name": name, "args": args} for n, (name, args) in wanted
            ]
            reply = AIMessage("", tool_calls=calls)
        else:
            results = []
            for message in reversed(messages):
                if message.type != "tool":
                    break
                results.insert(0, message.text)
            reply = AIMessage(" | ".join(results) or "nothing to do")
        return ChatResult(generations=[ChatGeneration(message=reply)])


def leave(line):
    with Path("{trace}").open("a") as file:
        file.write(line + "\\n")


@tool
def send_mail(to: str, copies: int = 1) -> str:
    "Send a mail."
    leave(f"mail {to} {copies}")
    return f"sent to {to}"


@tool
def drop_table(name: str) -> str:
    "Drop a table."
    leave(f"drop {name}")
    return f"dropped {name}"


@tool
def ask_boss(question: str) -> str:
    "Ask the boss."
    raise RuntimeError("the person answers")


review = HumanInTheLoopMiddleware(
    interrupt_on={
        "send_mail": True,
        "drop_table": {"allowed_decisions": ["approve", "reject"], "description": "Look twice"},
        "ask_boss": {"allowed_decisions": ["respond"]},
    },
    interrupt_mode="{mode}",
)
graph = create_agent(
    Scripted(),
    tools=[send_mail, drop_table, ask_boss],
    middleware=[review],
    checkpointer=MemorySaver(),
)
"""


def preload(*modules: str) -> None:
    """Import what a graph's file imports: on a busy machine that may take longer than a file may take."""
    for module in modules:
        import_module(module)


def reviewed(trace: Path, mode: str = "batched") -> str:
    """The source of `graph`, an agent whose tool calls a person reviews."""
    preload("langchain.agents.middleware", "langgraph.checkpoint.memory")
    return _REVIEWED.replace("{trace}", str(trace)).replace("{mode}", mode)


def wants(*calls: tuple[str, dict[str, Any]]) -> str:
    """The message after which that agent makes these calls."""
    return json.dumps(calls)


def chain(functions: str, *nodes: str, state: str = "MessagesState") -> str:
    """The source of `graph`: these functions are its nodes and run one after the other. `functions` is the
    source of the functions."""
    lines = [f"graph = StateGraph({state})"]
    lines += [f'graph.add_node("{node}", {node})' for node in nodes]
    lines.append(f'graph.add_edge(START, "{nodes[0]}")')
    lines += [f'graph.add_edge("{here}", "{there}")' for here, there in pairwise(nodes)]
    lines.append("graph = graph.compile()")
    return dedent(functions) + "\n" + "\n".join(lines) + "\n"
