"""Tools of LangChain as tools of ours."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from caesura.agents import context
from caesura.agents.tools.tool import Action, Result, ToolError, wrong_arguments


def action(tool: BaseTool) -> Action:
    """What this tool does. LangChain checks the arguments itself, when the tool is called."""
    told = convert_to_openai_tool(tool)["function"]

    async def invoke(args: dict[str, Any]) -> str | Result:
        call = ToolCall(name=tool.name, args=args, id=context.current().tool_call_id, type="tool_call")
        try:
            return _result(await tool.ainvoke(call))
        except ToolException as error:
            raise ToolError(str(error)) from error
        except ValidationError as error:
            raise ToolError(wrong_arguments(error)) from error

    parameters = told.get("parameters") or {"type": "object", "properties": {}}
    return Action(invoke, told.get("description") or "", parameters)


def _result(message: Any) -> Result:
    if not isinstance(message, ToolMessage):
        return Result(str(message))  # a tool may return anything
    if isinstance(message.artifact, Result):
        return message.artifact
    content = message.content
    parts = [content] if isinstance(content, str) else content
    texts = [part if isinstance(part, str) else str(part.get("text", "")) for part in parts]
    return Result("".join(texts), "error" if message.status == "error" else "ok")
