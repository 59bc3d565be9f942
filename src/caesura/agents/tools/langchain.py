"""Tools of LangChain as tools of ours."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable
from typing import Any, NamedTuple

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.tools import Tool as SimpleTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from caesura.agents import context
from caesura.agents.tools.own.returned import COMMAND
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.tool import Action, Result, ToolError, wrong_arguments


class Read(NamedTuple):
    """A tool, and what a model is told of it. `plain`: it is not async."""

    tool: BaseTool
    name: str
    description: str
    parameters: dict[str, Any]
    plain: bool


def read(tool: BaseTool) -> Read:
    """Read the tool once. Its own code may raise anything here."""
    told = convert_to_openai_tool(tool)["function"]
    parameters = told.get("parameters") or {"type": "object", "properties": {}}
    return Read(tool, tool.name, told.get("description") or "", parameters, _is_plain(tool))


def action(read: Read, threads: OwnThreads | None = None) -> Action:
    """What this tool does. LangChain checks the arguments itself, when the tool is called. A tool that is not
    async runs in these threads, or in asyncio's own, which a tool that never ends would keep from ending."""
    tool, plain = read.tool, threads if read.plain else None

    def ainvoke(call: ToolCall) -> Awaitable[Any]:
        work = tool.ainvoke(call)
        return work if threads is None or read.plain else threads.steps.watched(read.name, work)

    async def invoke(args: dict[str, Any]) -> str | Result:
        call = ToolCall(name=read.name, args=args, id=context.current().tool_call_id, type="tool_call")
        try:
            return _result(await (ainvoke(call) if plain is None else _in_thread(plain, tool, call)))
        except ToolException as error:
            raise ToolError(str(error)) from error
        except ValidationError as error:
            raise ToolError(wrong_arguments(error)) from error

    return Action(invoke, read.description, read.parameters)


async def _in_thread(threads: OwnThreads, tool: BaseTool, call: ToolCall) -> Any:
    copied = contextvars.copy_context()
    return await threads.do(context.current().user_id, lambda: copied.run(tool.invoke, call))


def _is_plain(tool: BaseTool) -> bool:
    usual = (BaseTool._arun, StructuredTool._arun, SimpleTool._arun)
    return getattr(tool, "coroutine", None) is None and type(tool)._arun in usual


def _result(message: Any) -> Result:
    if isinstance(message, ToolOutputMixin) and not isinstance(message, ToolMessage):
        raise ToolError(COMMAND)
    if not isinstance(message, ToolMessage):
        return Result(str(message))  # a tool may return anything
    if isinstance(message.artifact, Result):
        return message.artifact
    content = message.content
    parts = [content] if isinstance(content, str) else content
    texts = [part if isinstance(part, str) else str(part.get("text", "")) for part in parts]
    return Result("".join(texts), "error" if message.status == "error" else "ok")
