"""Where LangGraph hands over to us: every model call and every tool call of a graph goes through here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from caesura.agents.context import RunContext
from caesura.engine import model_calls, tool_calls
from caesura.engine.compiled import Compiled
from caesura.engine.run import Scope


class Handover(AgentMiddleware[Any, Any, Any]):
    """One for each agent: `agent` is set once its graph is compiled, which needs this first."""

    agent: Compiled

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        scope: Scope = request.runtime.context.extra
        message = await model_calls.call(scope.run, self.agent, request.messages, scope.parent)
        return ModelResponse(result=[message])

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        scope: Scope = cast(RunContext, request.runtime.context).extra
        return await tool_calls.call(scope, self.agent, request, handler)
