"""The file tools: reading, listing and writing in the conversation's workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from langchain_core.tools import StructuredTool
from langgraph.prebuilt import ToolRuntime

from caesura.agents.context import RunContext
from caesura.agents.tools.tool import Tool, describer
from caesura.agents.tools.workspace import LIST_LIMIT, Workspace

Path = Annotated[str, "A path relative to the workspace, such as notes.txt or src/main.py"]
Runtime = ToolRuntime[RunContext, Any]


def tools() -> list[Tool]:
    return [
        Tool(
            "read_file",
            _structured(read_file, "Read a text file in the workspace."),
            describer(
                {"en": "Read a file", "zh": "读取文件"}, {"en": "Reading file", "zh": "正在读取文件"}, "path"
            ),
            repeatable=True,
        ),
        Tool(
            "list_files",
            _structured(
                list_files, "List the files in a folder of the workspace; '.' is the workspace itself."
            ),
            describer(
                {"en": "List files", "zh": "列出文件"}, {"en": "Listing files", "zh": "正在列出文件"}, "path"
            ),
            repeatable=True,
        ),
        Tool(
            "write_file",
            _structured(write_file, "Write a text file in the workspace; what was there before is replaced."),
            describer(
                {"en": "Write a file", "zh": "写入文件"}, {"en": "Writing file", "zh": "正在写入文件"}, "path"
            ),
            permission="confirm",
            repeatable=True,
        ),
    ]


async def read_file(path: Path, runtime: Runtime) -> str:
    return await asyncio.to_thread(_workspace(runtime).read, path)


async def list_files(runtime: Runtime, path: Path = ".") -> str:
    entries, more = await asyncio.to_thread(_workspace(runtime).list, path)
    if not entries:
        return "(empty)"
    lines = [
        f"{entry.name}/" if entry.size is None else f"{entry.name} ({entry.size} bytes)" for entry in entries
    ]
    if more:
        lines.append(f"[cut: only the first {LIST_LIMIT} are shown]")
    return "\n".join(lines)


async def write_file(path: Path, content: str, runtime: Runtime) -> str:
    count = await asyncio.to_thread(_workspace(runtime).write, path, content)
    return f"wrote {count} bytes to {path}"


def _workspace(runtime: Runtime) -> Workspace:
    return Workspace(runtime.context.workspace)


def _structured(function: Callable[..., Awaitable[str]], description: str) -> StructuredTool:
    return StructuredTool.from_function(
        coroutine=function, description=description, handle_tool_error=True, handle_validation_error=True
    )
