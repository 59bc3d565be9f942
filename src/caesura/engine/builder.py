"""Making agents ready to run: once for each version of an agent, kept until it changes."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from caesura.agents import context
from caesura.agents.loader import Agent, Catalog, Link
from caesura.agents.models import NOTHING_REPLACED, chat_models, label
from caesura.agents.spec import Permission, Spec
from caesura.agents.tools.registry import Registry
from caesura.agents.tools.tool import Tool, describe_any, structured
from caesura.engine import loop
from caesura.engine.agent import BoundModel, Compiled
from caesura.engine.run import Scope
from caesura.engine.speech import text_of
from caesura.store.database import Database


class Builder:
    def __init__(
        self,
        catalog: Catalog,
        registry: Registry,
        database: Database,
        default_model: str,
        environ: Mapping[str, str],
        replaced: Mapping[str, str] = NOTHING_REPLACED,
    ) -> None:
        self._catalog, self._registry, self._database = catalog, registry, database
        self._default_model, self._environ, self._replaced = default_model, environ, replaced
        self._compiled: dict[str, Compiled] = {}

    def get(self, name: str) -> Compiled:
        return self._of(self._catalog.get(name))

    def unusable(self, name: str, fault: Exception) -> Compiled:
        """An agent that always fails with `fault`, so that its turns end like other failed turns."""
        return Compiled(name, "", Spec(), (), fault=fault)

    def _of(self, agent: Agent) -> Compiled:
        known = self._compiled.get(agent.name)
        if known is None or known.version != agent.version:
            known = self._foreign(agent) if agent.graph is not None else self._own(agent)
            self._compiled[agent.name] = known
        return known

    def _foreign(self, agent: Agent) -> Compiled:
        from caesura.engine.graphs.saver import Saver  # with LangGraph, which few need

        assert agent.graph is not None  # noqa: S101 - for the type checker
        graph = agent.graph.copy({"checkpointer": Saver(self._database), "name": agent.name})
        models = self._models(agent, []) if "model" in agent.spec.model_fields_set else ()
        return Compiled(agent.name, agent.version, agent.spec, models, graph=graph)

    def _own(self, agent: Agent) -> Compiled:
        tools = [*self._registry.tools_of(agent.spec), *(self._delegate(link) for link in agent.sub_agents)]
        tools = [tool for tool in tools if self._permission(agent, tool) != "deny"]
        models = self._models(agent, [tool.tool for tool in tools])
        permissions = {tool.name: self._permission(agent, tool) for tool in tools}
        by_name = {tool.name: tool for tool in tools}
        return Compiled(agent.name, agent.version, agent.spec, models, by_name, permissions)

    def _permission(self, agent: Agent, tool: Tool) -> Permission:
        return agent.spec.permission(tool.name, tool.permission)

    def _models(self, agent: Agent, tools: list[BaseTool]) -> tuple[BoundModel, ...]:
        spec, default = agent.spec.model, self._default_model
        made = chat_models(spec, default, self._environ, agent.model_class, self._replaced)
        return tuple(_bound(model, tools) for model in made)

    def _delegate(self, link: Link) -> Tool:
        """A sub-agent as a tool. The sub-agent works in its own loop, under the id of the tool call."""
        inner = self._of(link.agent)

        async def delegate(task: str) -> str:
            call_id = context.current().tool_call_id
            return text_of(await loop.delegate(Scope.current(), inner, task, call_id))

        tool = structured(delegate, link.description or f"Ask {inner.name}.", name=inner.name)
        # Repeatable: the sub-agent's replies are in the log and its tool calls in the journal, so starting it
        # again continues where it was.
        return Tool(inner.name, tool, describe_any(inner.name), repeatable=True, asks=True)


def _bound(model: BaseChatModel, tools: list[BaseTool]) -> BoundModel:
    return BoundModel(label(model), model.bind_tools(tools) if tools else model, model)
