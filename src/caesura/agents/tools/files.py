"""The file tools: reading, listing and writing in the conversation's workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, ParamSpec, TypeVar

from langchain_core.tools import ToolException

from caesura.agents import context
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.share import DiskShare
from caesura.agents.tools.size import Meter, Quota, Size
from caesura.agents.tools.tool import Describe, Tool, describer, structured
from caesura.agents.tools.workspace import LIST_LIMIT, Entry, Workspace

P = ParamSpec("P")
T = TypeVar("T")
_PATIENCE = 60.0
Path = Annotated[str, "A path relative to the workspace, such as notes.txt or src/main.py"]


class Threads:
    """Separate threads, so that a slow disk delays nothing else. A person uses at most one thread at a time,
    so that slow work, such as measuring a workspace with many folders, delays only that person."""

    def __init__(self, count: int = 8) -> None:
        self._threads = ThreadPoolExecutor(count, "caesura-files")
        self._places = Places(count, each=1)

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the work in a thread, for the person of the current run."""
        person = context.current().user_id
        try:
            await self._places.take(person, _PATIENCE)
        except Busy:
            raise ToolException("not done: too many other files are being used, try again later") from None
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, lambda: work(*args, **kwargs))
        future.add_done_callback(partial(self._done, person))
        # A thread cannot be stopped. It keeps its place until it ends, even if nobody waits for it.
        return await asyncio.shield(future)

    def _done(self, person: str, future: asyncio.Future[T]) -> None:
        self._places.give_back(person)
        if not future.cancelled():
            future.exception()  # otherwise the event loop logs an exception that nobody retrieves


def tools(quota: Quota | None = None, share: DiskShare | None = None) -> list[Tool]:
    meter, shared, threads = Meter(quota), share or DiskShare(), Threads()

    async def read_file(path: Path) -> str:
        return await threads.do(_workspace().read, path)

    async def list_files(path: Path = ".") -> str:
        return listing(*await threads.do(_workspace().entries, path))

    async def write_file(path: Path, content: str) -> str:
        run = context.current()
        await shared.know(run.user_id)

        def take(size: Size) -> str | None:
            return shared.take(run.user_id, run.workspace, size)

        count = await threads.do(Workspace(run.workspace, meter=meter, take=take).write, path, content)
        return f"wrote {count} bytes to {path}"

    read = structured(read_file, "Read a text file in the workspace.")
    found = structured(list_files, "List a folder of the workspace; '.' is the workspace itself.")
    write = structured(write_file, "Write a text file in the workspace, replacing what was there.")
    return [
        Tool("read_file", read, _describe("Read a file", "Reading file", "读取文件"), repeatable=True),
        Tool("list_files", found, _describe("List files", "Listing files", "列出文件"), repeatable=True),
        Tool(
            "write_file",
            write,
            _describe("Write a file", "Writing file", "写入文件", counted="content"),
            "confirm",
            repeatable=True,
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


def _workspace() -> Workspace:
    return Workspace(context.current().workspace)
