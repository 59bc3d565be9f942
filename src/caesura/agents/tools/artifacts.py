"""The artifact tools: creating, updating, rewriting and reading the documents of a conversation.

A tool prepares a version aside. The version is written in the commit of the tool's result, if it still
follows the current one. If it does not, the engine calls the tool again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from sqlalchemy import Connection

from caesura.agents import context
from caesura.agents.context import RunContext
from caesura.agents.tools.threads import Threads
from caesura.agents.tools.tool import Describe, Result, Tool, describer, structured
from caesura.core import artifacts as core
from caesura.core.artifacts import ContentType, Edit
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

_BUSY = "not done: too many artifacts are being changed, try again later"
#: Two, because a long search keeps a thread busy for seconds.
_AT_ONCE = 2
#: How much of a similar text is shown to the model.
_SHOWN = 500


def tools() -> list[Tool]:
    threads = Threads("caesura-artifacts", _AT_ONCE, _BUSY)

    async def create_artifact(id: Id, title: Title, content_type: ContentType, content: Content) -> Result:
        run, name, titled = context.current(), core.check_id(id), core.check_title(title)
        _, first = await threads.do(_drafted, lambda text: core.create(content), None)

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

    async def changed(id: str, change: Callable[[str], Edit], verb: str) -> Result:
        run, name = context.current(), core.check_id(id)
        base = await _database(run).read(rows.base, run.conversation_id, name)
        edit, made = await threads.do(_drafted, change, base)

        def write(connection: Connection) -> None:
            rows.add(connection, run.conversation_id, name, made, run.turn_id)

        text = f"{verb} artifact {name}: version {made.version}{_found(edit)}"
        return _result(text, run, name, made, write)

    async def update_artifact(id: Id, old: Old, new: New) -> Result:
        return await changed(id, lambda text: core.update(text, old, new), "updated")

    async def rewrite_artifact(id: Id, content: Content) -> Result:
        return await changed(id, lambda text: core.rewrite(content), "rewrote")

    async def read_artifact(id: Id, version: Number = None) -> str:
        run, name = context.current(), core.check_id(id)
        found, current = await _database(run).read(rows.current, run.conversation_id, name)
        if version is not None and version != current.version:
            current = await _database(run).read(rows.version, run.conversation_id, name, version)
        head = f"artifact {name} ({found.content_type}), version {current.version} of {found.version}"
        return f"{head}: {found.title}\n\n{current.content}"

    create = structured(create_artifact, "Create an artifact: a document of this conversation with versions.")
    update = structured(
        update_artifact,
        "Replace a part of an artifact, which makes its next version. Also finds a text that is quoted with"
        " other white space or small mistakes, and then says what it replaced.",
    )
    rewrite = structured(rewrite_artifact, "Replace the whole content of an artifact: its next version.")
    read = structured(read_artifact, "Read an artifact.")
    # Each is safe to repeat: what a call prepared that was cut off was not written.
    return [
        Tool("create_artifact", create, _describe("Create", "Creating", "创建", "content"), repeatable=True),
        Tool("update_artifact", update, _describe("Update", "Updating", "更新", "new"), repeatable=True),
        Tool("rewrite_artifact", rewrite, _describe("Rewrite", "Rewriting", "重写", "content"), "auto", True),
        Tool("read_artifact", read, _describe("Read", "Reading", "读取"), repeatable=True),
    ]


def _drafted(change: Callable[[str], Edit], base: Base | None) -> tuple[Edit, Draft]:
    edit = change(base.content if base is not None else "")
    return edit, rows.draft(edit, base)


def _result(
    text: str, run: RunContext, name: str, made: Draft, write: Callable[[Connection], None]
) -> Result:
    event = ArtifactChanged(name, made.version, made.update_type, run.agent, run.parent)
    return Result(text, rows=write, events=(event,))


def _found(edit: Edit) -> str:
    """What an update replaced."""
    if edit.update_type != "update_fuzzy":
        return " (exact match)" if edit.update_type == "update" else ""
    ((old, _),) = edit.changes
    how = "with other white space or marks" if edit.similarity == 1 else f"{edit.similarity:.0%} similar"
    shown = old if len(old) <= _SHOWN else f"{old[:_SHOWN]}…"
    return f". The old text does not stand there as given; this text was replaced ({how}):\n{shown}"


def _database(run: RunContext) -> Database:
    if run.database is None:
        raise RuntimeError("this run has no database")
    return run.database


def _describe(label: str, doing: str, chinese: str, counted: str | None = None) -> Describe:
    labels: dict[Language, str] = {"en": f"{label} an artifact", "zh": f"{chinese}文档"}
    return describer(labels, {"en": f"{doing} artifact", "zh": f"正在{chinese}文档"}, "id", counted)
