"""Source text of small LangGraph graphs for tests: an operator's own graphs."""

from __future__ import annotations

from itertools import pairwise
from textwrap import dedent

IMPORTS = """
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt
"""


def chain(functions: str, *nodes: str, state: str = "MessagesState") -> str:
    """The source of `graph`: these functions are its nodes and run one after the other. `functions` is the
    source of the functions."""
    lines = [f"graph = StateGraph({state})"]
    lines += [f'graph.add_node("{node}", {node})' for node in nodes]
    lines.append(f'graph.add_edge(START, "{nodes[0]}")')
    lines += [f'graph.add_edge("{here}", "{there}")' for here, there in pairwise(nodes)]
    lines.append("graph = graph.compile()")
    return dedent(functions) + "\n" + "\n".join(lines) + "\n"
