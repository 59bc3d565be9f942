"""The file tools: reading, listing and writing in the conversation's workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from caesura.agents import context
from caesura.agents.tools.disk import Disk
from caesura.agents.tools.size import Size
from caesura.agents.tools.tool import Describe, Replaces, Tool, ToolError, describer, structured
from caesura.agents.tools.workspace import LIST_LIMIT, Entry, Workspace, fits
from caesura.core.interrupts import File

Path = Annotated[str, "A path relative to the workspace, such as notes.txt or src/main.py"]


def tools(disk: Disk | None = None) -> list[Tool]:
    used = disk or Disk()
    meter, shared, threads = used.meter, used.share, used.threads

    async def read_file(path: Path) -> str:
        return await threads.do(_workspace().read, path)

    async def list_files(path: Path = ".") -> str:
        return listing(*await threads.do(_workspace().entries, path))

    async def write_file(path: Path, content: str) -> str:
        run = context.current()
        await shared.know(run.user_id)

        def take(size: Size) -> str | None:
            return shared.take(run.user_id, run.workspace, size)

        workspace = Workspace(run.workspace, meter=meter, take=take)
        # Compared where it is written: a person's file work is done one after the other.
        count = await threads.do(workspace.write, path, content, run.expected)
        return f"wrote {count} bytes to {path}"

    async def look(args: Mapping[str, Any]) -> File | None:
        path = args.get("path")
        try:
            return await threads.do(_workspace().look, path) if isinstance(path, str) else None
        except ToolError:
            return None  # the call will say what is wrong

    async def unchanged(args: Mapping[str, Any], shown: File) -> bool:
        content = args.get("content")
        if not isinstance(content, str):
            return True  # the call will say what is wrong
        found = await look(args)
        return found is not None and fits(found, shown, content)

    read = structured(read_file, "Read a text file in the workspace.")
    found = structured(list_files, "List a folder of the workspace; '.' is the workspace itself.")
    write = structured(write_file, "Write a text file in the workspace, replacing what was there.")
    return [
        Tool("read_file", read, _describe("Read a file", "Reading file", "读取文件"), repeatable=True),
        Tool("list_files", found, _describe("List files", "Listing files", "列出文件"), repeatable=True),
        Tool(
            "write_file",
            write,
            describe_write,
            "confirm",
            repeatable=True,
            replaces=Replaces(look, unchanged),
            shown_live=True,
        ),
    ]


def listing(entries: list[Entry], more: bool) -> str:
    if not entries:
        return "(empty)"
    lines = [_line(entry) for entry in entries]
    if more:
        lines.append(f"[cut: only the first {LIST_LIMIT} are shown]")
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    # A command may have created names that are not valid text, or that contain line breaks.
    name = entry.name if entry.name.isprintable() else ascii(entry.name)
    return f"{name}/" if entry.size is None else f"{name} ({entry.size} bytes)"


def _describe(label: str, doing: str, chinese: str, counted: str | None = None) -> Describe:
    return describer({"en": label, "zh": chinese}, {"en": doing, "zh": f"正在{chinese}"}, "path", counted)


describe_write = _describe("Write a file", "Writing file", "写入文件", counted="content")


def _workspace() -> Workspace:
    return Workspace(context.current().workspace)
