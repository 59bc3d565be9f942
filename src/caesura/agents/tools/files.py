"""The file tools: reading, listing and writing in the conversation's workspace."""

from __future__ import annotations

import asyncio
from typing import Annotated

from caesura.agents import context
from caesura.agents.tools.tool import Describe, Tool, describer, structured
from caesura.agents.tools.workspace import LIST_LIMIT, Entry, Workspace

Path = Annotated[str, "A path relative to the workspace, such as notes.txt or src/main.py"]


def tools() -> list[Tool]:
    read = structured(read_file, "Read a text file in the workspace.")
    listing = structured(list_files, "List a folder of the workspace; '.' is the workspace itself.")
    write = structured(write_file, "Write a text file in the workspace, replacing what was there.")
    return [
        Tool("read_file", read, _describe("Read a file", "Reading file", "读取文件"), repeatable=True),
        Tool("list_files", listing, _describe("List files", "Listing files", "列出文件"), repeatable=True),
        Tool(
            "write_file",
            write,
            _describe("Write a file", "Writing file", "写入文件", counted="content"),
            "confirm",
            repeatable=True,
        ),
    ]


async def read_file(path: Path) -> str:
    return await asyncio.to_thread(_workspace().read, path)


async def list_files(path: Path = ".") -> str:
    entries, more = await asyncio.to_thread(_workspace().entries, path)
    if not entries:
        return "(empty)"
    lines = [_line(entry) for entry in entries]
    if more:
        lines.append(f"[cut: only the first {LIST_LIMIT} are shown]")
    return "\n".join(lines)


async def write_file(path: Path, content: str) -> str:
    count = await asyncio.to_thread(_workspace().write, path, content)
    return f"wrote {count} bytes to {path}"


def _line(entry: Entry) -> str:
    # A command may have made names that are no texts, or have line breaks in them.
    name = entry.name if entry.name.isprintable() else ascii(entry.name)
    return f"{name}/" if entry.size is None else f"{name} ({entry.size} bytes)"


def _describe(label: str, doing: str, chinese: str, counted: str | None = None) -> Describe:
    return describer({"en": label, "zh": chinese}, {"en": doing, "zh": f"正在{chinese}"}, "path", counted)


def _workspace() -> Workspace:
    return Workspace(context.current().workspace)
