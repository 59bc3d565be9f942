"""The artifact tools: creating, updating, rewriting and reading the documents of a conversation.

A tool prepares a version aside. The version is written in the commit of the tool's result, if it still
follows the current one. If it does not, the engine calls the tool again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

from sqlalchemy import Connection

from caesura.agents import context
from caesura.agents.context import RunContext
from caesura.agents.tools.threads import Threads
from caesura.agents.tools.tool import Describe, Result, Tool, describer, structured
from caesura.core import artifacts as core
from caesura.core import outputs
from caesura.core.artifacts import Artifact, ContentType, Edit, Version
from caesura.core.errors import Conflict
from caesura.core.events import ArtifactChanged
from caesura.core.language import Language
from caesura.store import artifacts as rows
from caesura.store.artifacts import Base, Draft
from caesura.store.database import Database

Id = Annotated[str, "The id of the artifact, such as research-report: letters, digits, '_', '-' and '.'"]
Title = Annotated[str, "One line for people, at most 200 characters"]
Content = Annotated[str, "The whole content"]
Old = Annotated[str, "The text to replace, quoted as it stands in the artifact; it must be unique there"]
New = Annotated[str, "The text that replaces it"]
Number = Annotated[int | None, "The number of a version; the current one if left out"]

#: Reads the current version; and the next one, ready to be written.
Read = Callable[[], Awaitable[Base]]
Drafted = tuple[Edit, Draft]

_BUSY = "not done: too many artifacts are being changed, try again later"
#: How many calls work at once.
_AT_ONCE = 4
#: How many characters of a content are read.
READ_LIMIT = 256 * 1024
#: How the result of an update ends that found the text as it was given.
EXACT = " (exact match)"
#: How much of a replaced text is shown to the model.
_SHOWN = 500


def tools() -> list[Tool]:
    threads = Threads("caesura-artifacts", _AT_ONCE, _BUSY)

    async def create_artifact(id: Id, title: Title, content_type: ContentType, content: Content) -> Result:
        run, name, titled = context.current(), core.check_id(id), core.check_title(title)
        _, first = await threads.do(lambda: _drafted(core.create(content), None))

        def write(connection: Connection) -> None:
            try:
                rows.create(
                    connection,
                    run.conversation_id,
                    name,
                    title=titled,
                    content_type=content_type,
                    first=first,
                    turn_id=run.turn_id,
                )
            except Conflict as error:
                hint = "change it with update_artifact, or replace it with rewrite_artifact"
                raise Conflict(f"{error.message}; {hint}") from error

        return _result(f"created artifact {name}: version 1", run, name, first, write)

    async def changed(id: str, draft: Callable[[Read], Awaitable[Drafted]], verb: str) -> Result:
        run, name = context.current(), core.check_id(id)
        edit, made = await draft(partial(_database(run).read, rows.base, run.conversation_id, name))

        def write(connection: Connection) -> None:
            rows.add(connection, run.conversation_id, name, made, run.turn_id)

        text = f"{verb} artifact {name}: version {made.version}{_found(edit)}"
        return _result(text, run, name, made, write)

    async def update_artifact(id: Id, old: Old, new: New) -> Result:
        def draft(read: Read) -> Awaitable[Drafted]:
            return threads.on(read, lambda base: _drafted(core.update(base.content, old, new), base))

        return await changed(id, draft, "updated")

    async def rewrite_artifact(id: Id, content: Content) -> Result:
        def draft(read: Read) -> Awaitable[Drafted]:
            return threads.on(read, lambda base: _drafted(core.rewrite(content), base))

        return await changed(id, draft, "rewrote")

    async def read_artifact(id: Id, version: Number = None) -> str:
        run, name = context.current(), core.check_id(id)
        read = partial(_database(run).read, chosen, run.conversation_id, name, version)
        return await threads.on(read, _shown)

    create = structured(create_artifact, "Create an artifact: a document of this conversation with versions.")
    update = structured(
        update_artifact,
        "Replace a part of an artifact, which makes its next version. Also finds a text that is quoted with"
        " other white space, and then says what it replaced.",
    )
    rewrite = structured(rewrite_artifact, "Replace the whole content of an artifact: its next version.")
    read = structured(read_artifact, "Read an artifact.")
    # Each is safe to repeat: what a call prepared that was cut off was not written.
    tool = partial(Tool, permission="auto", repeatable=True)
    return [
        tool("create_artifact", create, _describe("Create", "Creating", "创建", "content"), shown_live=True),
        tool("update_artifact", update, _describe("Update", "Updating", "更新", "new"), shown_live=True),
        tool(
            "rewrite_artifact", rewrite, _describe("Rewrite", "Rewriting", "重写", "content"), shown_live=True
        ),
        tool("read_artifact", read, _describe("Read", "Reading", "读取")),
    ]


def _drafted(edit: Edit, base: Base | None) -> Drafted:
    return edit, rows.draft(edit, base)


def chosen(
    connection: Connection, conversation_id: str, name: str, number: int | None
) -> tuple[Artifact, Version]:
    found = rows.get(connection, conversation_id, name)
    wanted = found.version if number is None else number
    return found, rows.version(connection, conversation_id, name, wanted)


def _shown(read: tuple[Artifact, Version]) -> str:
    """A long content is cut here, before copies of it are made."""
    found, version = read
    head = f"artifact {found.id} ({found.content_type}), version {version.version} of {found.version}"
    return f"{head}: {found.title}\n\n{outputs.bounded(version.content, READ_LIMIT)}"


def _result(
    text: str, run: RunContext, name: str, made: Draft, write: Callable[[Connection], None]
) -> Result:
    event = ArtifactChanged(name, made.version, made.update_type, run.agent, run.parent)
    return Result(text, rows=write, events=(event,))


def _found(edit: Edit) -> str:
    """What an update replaced."""
    if edit.update_type != "update_fuzzy":
        return EXACT if edit.update_type == "update" else ""
    ((old, _),) = edit.changes
    shown = old if len(old) <= _SHOWN else f"{old[:_SHOWN]}…"
    return f". The old text stands there with other white space; this text was replaced:\n{shown}"


def _database(run: RunContext) -> Database:
    if run.database is None:
        raise RuntimeError("this run has no database")
    return run.database


def _describe(label: str, doing: str, chinese: str, counted: str | None = None) -> Describe:
    labels: dict[Language, str] = {"en": f"{label} an artifact", "zh": f"{chinese}文档"}
    return describer(labels, {"en": f"{doing} artifact", "zh": f"正在{chinese}文档"}, "id", counted)
