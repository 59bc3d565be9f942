"""Making agents ready to run: once for each version of an agent. The latest versions are kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TypeVar

from caesura.agents import context, imports, versions
from caesura.agents.loader import Agent, Catalog, Link
from caesura.agents.mcp.listing import full_name
from caesura.agents.mcp.servers import Servers
from caesura.agents.model_names import NOTHING_REPLACED
from caesura.agents.models import ModelUnavailable, Ready, ready
from caesura.agents.spec import McpServer, Permission, Spec
from caesura.agents.tools.registry import Registry
from caesura.agents.tools.tool import Tool, describe_any, structured
from caesura.core.errors import NotFound
from caesura.engine import loop
from caesura.engine.agent import Compiled
from caesura.engine.run import Scope
from caesura.engine.served import Says, Served
from caesura.engine.windows import Windows
from caesura.models.connections import Connections
from caesura.models.model import Model
from caesura.store.database import Database

K = TypeVar("K")
V = TypeVar("V")

#: How many versions of agents are kept in memory, besides those of the files as they are now.
_KEPT = 64


class Builder:
    def __init__(
        self,
        catalog: Catalog,
        registry: Registry,
        database: Database,
        default_model: str,
        environ: Mapping[str, str],
        replaced: Mapping[str, str] = NOTHING_REPLACED,
        connections: Connections | None = None,
        servers: Servers | None = None,
    ) -> None:
        self._servers = servers or Servers(environ, catalog.agents)
        self._catalog, self._registry, self._database = catalog, registry, database
        self._default_model, self._environ, self._replaced = default_model, environ, replaced
        self._connections = connections or Connections(environ)
        self._windows = Windows()
        self._compiled: dict[str, Compiled] = {}
        #: Earlier versions by name, version, and the version of the file that forbids something by now.
        self._earlier: OrderedDict[tuple[str, str, str], Compiled] = OrderedDict()

    def agent(self, name: str) -> Agent:
        """The agent as its file says now. Raises `NotFound` if there is none."""
        return self._catalog.get(name)

    @property
    def names(self) -> Collection[str]:
        """The agents that there are now."""
        return self._catalog.names

    @property
    def has_graphs(self) -> bool:
        return any(agent.graph is not None for agent in self._catalog.agents())

    def worker(self, agent: Agent, name: str) -> Agent | None:
        """The agent of this name among the sub-agents of an agent, and theirs."""
        found = (link.agent for link in agent.sub_agents)
        return next(
            (item for each in found if (item := each if each.name == name else self.worker(each, name))), None
        )

    def current(self, agent: Agent) -> Compiled:
        """An agent as its file says now."""
        known = self._compiled.get(agent.name)
        if known is None or known.version != agent.version:
            known = self._compiled[agent.name] = self._made(agent)
        return known

    def earlier(self, data: bytes | None, now: Agent) -> Compiled:
        """An earlier version of an agent from its data, or the agent as it is now if that version is not
        known any more. What the file forbids now is forbidden for it too."""
        try:
            agent = versions.load(data, self._registry.names, now) if data is not None else now
        except ValueError:
            agent = now
        return self.current(now) if agent is now else self._narrowed(agent, now)

    def tool(self, agent: str, name: str) -> Tool | None:
        """A tool by its name: a built-in one, or one of the agent's own. None for an operator's own graph,
        whose tools only the graph knows."""
        with suppress(NotFound):
            if self._catalog.get(agent).graph is not None:
                return None
        if name in self._registry.names:
            return self._registry.get(name)
        with suppress(NotFound):
            found = self._catalog.get(agent)
            own = (tool for tool in self._registry.tools_of(found.spec, found.own) if tool.name == name)
            return next(own, None)
        return None

    def unusable(self, name: str, fault: Exception) -> Compiled:
        """An agent that always fails with `fault`, so that its turns end like other failed turns."""
        return Compiled(name, "", Spec(), (), fault=fault)

    def _narrowed(self, agent: Agent, now: Agent) -> Compiled:
        """An earlier version of an agent, whose file says `now` by now."""
        key = agent.name, agent.version, now.version
        known = self._earlier.get(key) or self._made(agent, now)
        _put(self._earlier, key, known)
        return known

    def _made(self, agent: Agent, now: Agent | None = None) -> Compiled:
        return self._foreign(agent) if agent.graph is not None else self._own(agent, now)

    def _foreign(self, agent: Agent) -> Compiled:
        from caesura.engine.graphs import reviews, stateless  # with LangGraph, which few need
        from caesura.engine.graphs.saver import Saver

        assert agent.graph is not None  # noqa: S101 - for the type checker
        stateless.allow()
        saver = Saver.of(self._database, agent.graph, imports.own_modules(agent.spec.graph or ""))
        graph = agent.graph.copy({"checkpointer": saver, "name": agent.name})
        if agent.graph.checkpointer:  # code of the graph may ask the graph itself for its state
            agent.graph.checkpointer = saver
        models: tuple[Model, ...] = ()
        if "model" in agent.spec.model_fields_set:
            with suppress(ModelUnavailable):  # it only makes titles
                models = tuple(item.model for item in self._ready(agent))
        threads = self._registry.threads
        return Compiled(
            agent.name,
            agent.version,
            agent.spec,
            models,
            graph=graph,
            reviewed=reviews.single_tools(agent.graph),
            threads=threads,
        )

    def _own(self, agent: Agent, now: Agent | None) -> Compiled:
        delegates = (self._delegate(link, now) for link in agent.sub_agents)
        offered = self._registry.tools_of(agent.spec, agent.own)
        tools = [*offered, *(tool for tool in delegates if tool is not None)]
        permissions = {tool.name: self._permission(agent, now, tool) for tool in tools}
        by_name = {tool.name: tool for tool in tools if permissions[tool.name] != "deny"}
        schemas = tuple(tool.schema for tool in by_name.values())
        servers = tuple(self._served(agent, now, entry) for entry in agent.spec.mcp_servers)
        found = self._ready(agent)
        return Compiled(
            agent.name,
            agent.version,
            agent.spec,
            tuple(item.model for item in found),
            by_name,
            schemas,
            permissions,
            servers,
            windows=tuple(self._windows.of(*item.window) for item in found),
            uses_graphs=agent.uses_graphs,
        )

    def _served(self, agent: Agent, now: Agent | None, entry: McpServer) -> Served:
        said = _says(agent.spec, entry)
        if now is None:
            return Served(self._servers.of(agent.name, entry), said)
        newer = next((item for item in now.spec.mcp_servers if item.name == entry.name), None)
        says = _says(now.spec, newer) if newer is not None else _denied

        def both(tool: str) -> Permission | None:
            # What one of them leaves to the default counts as the default: to ask.
            one, other = said(tool), says(tool)
            return one if other == one else versions.stricter(one or "confirm", other or "confirm")

        return Served(self._servers.of(agent.name, entry), both)

    def _permission(self, agent: Agent, now: Agent | None, tool: Tool) -> Permission:
        """What the file says about a tool. For an earlier version of it, the stricter of what it said and
        what it says now: a tool that was taken away since is not used any more."""
        said = agent.spec.permission(tool.name, tool.permission)
        if now is None:
            return said
        offered = {item.name for item in self._registry.tools_of(now.spec, now.own)}
        offered |= {link.agent.name for link in now.sub_agents}
        says = now.spec.permission(tool.name, tool.permission) if tool.name in offered else "deny"
        return versions.stricter(said, says)

    def _ready(self, agent: Agent) -> list[Ready]:
        return ready(
            agent.spec.model,
            self._default_model,
            self._environ,
            self._connections,
            agent.model_class,
            self._replaced,
        )

    def _delegate(self, link: Link, now: Agent | None) -> Tool | None:
        """A sub-agent as a tool; None if it was taken away since. The sub-agent works in its own loop or
        graph, under the id of the tool call."""
        links = now.sub_agents if now is not None else (link,)
        newer = next((item.agent for item in links if item.agent.name == link.agent.name), None)
        if newer is None:
            return None
        inner = self.current(link.agent) if now is None else self._narrowed(link.agent, newer)

        async def delegate(task: str) -> str:
            call_id = context.current().tool_call_id
            return (await loop.delegate(Scope.current(), inner, task, call_id)).content

        action = structured(delegate, link.description or f"Ask {inner.name}.")
        # Repeatable: the sub-agent's replies are in the log and its tool calls in the journal, and a graph
        # has checkpoints. So starting it again continues where it was.
        about = describe_any(inner.name)
        return Tool(inner.name, action, about, repeatable=True, asks=True, origin="agent")


def _says(spec: Spec, entry: McpServer) -> Says:
    """What a file says about the tools of one of its MCP servers: under the full name, or in its entry."""

    def says(tool: str) -> Permission | None:
        if entry.tools is not None and tool not in entry.tools:
            return "deny"
        name = full_name(entry.name, tool)
        named = name in spec.permissions or name in spec.interrupt_on
        return spec.permission(name) if named else entry.permissions.get(tool)

    return says


def _denied(tool: str) -> Permission | None:
    return "deny"


def _put(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Put a value last, and drop the first ones beyond the limit."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > _KEPT:
        kept.popitem(last=False)
