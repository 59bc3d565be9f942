"""An agent that is ready to run: either its models and its tools by name, or a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from caesura.agents.spec import Permission, Spec
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.tool import Tool
from caesura.engine.served import Served
from caesura.engine.windows import Window
from caesura.models.model import Model, Schema


@dataclass(frozen=True, slots=True)
class Compiled:
    name: str
    version: str
    spec: Spec
    models: tuple[Model, ...]
    tools: Mapping[str, Tool] = field(default_factory=dict)
    #: The tools as the models see them.
    schemas: tuple[Schema, ...] = ()
    permissions: Mapping[str, Permission] = field(default_factory=dict)
    #: Its MCP servers. The loop asks them for their tools before each step.
    servers: tuple[Served, ...] = ()
    #: What the models are told besides the system prompt.
    notes: tuple[str, ...] = ()
    #: The windows of the models, in the same order.
    windows: tuple[Window, ...] = ()
    #: The operator's own LangGraph graph, which is observed from outside.
    graph: Any = None
    #: The tools whose calls middleware of the graph reviews one by one, by the name of its node.
    reviewed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: The threads for marked functions that a graph uses as tools.
    threads: OwnThreads | None = None
    #: Whether a sub-agent of it, or one of theirs, is such a graph.
    uses_graphs: bool = False
    #: Whether its file says something else than when the turn began.
    changed: bool = False
    #: Why the agent cannot run: its file is missing or invalid.
    fault: Exception | None = None

    @property
    def foreign(self) -> bool:
        return self.graph is not None

    @property
    def has_graph(self) -> bool:
        """Whether a graph may work in its turns."""
        return self.foreign or self.uses_graphs

    @property
    def system_prompt(self) -> str:
        return "\n\n".join(part for part in (self.spec.system_prompt, *self.notes) if part.strip())

    def tool(self, name: str) -> Tool | None:
        """A tool by its name, also one of an MCP server that could not be asked for its tools yet."""
        if name in self.tools:
            return self.tools[name]
        return next((found for item in self.servers if (found := item.tool(name))), None)

    def permission(self, name: str) -> Permission:
        """Whether a call runs at once or after approval."""
        if name in self.permissions:
            return self.permissions[name]
        found = ((item, item.tool(name)) for item in self.servers)
        return next((item.allows(tool) for item, tool in found if tool is not None), "auto")
