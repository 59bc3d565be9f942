"""Artifacts and their versions. A version, once written, never changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from caesura.core import json_data
from caesura.core.artifacts import Edit, check_content
from caesura.core.errors import Conflict, NotFound
from caesura.store import shares
from caesura.store.schema import artifact_versions, artifacts, now_ms


class Artifact(NamedTuple):
    conversation_id: str
    id: str
    title: str
    content_type: str
    version: int
    created_at: int
    updated_at: int


class Version(NamedTuple):
    version: int
    update_type: str
    changes: list[list[str]]
    content: str
    turn_id: str | None
    created_at: int


def create(
    connection: Connection,
    conversation_id: str,
    artifact_id: str,
    *,
    title: str,
    content_type: str,
    content: str,
    turn_id: str | None = None,
) -> Artifact:
    check_content(content)
    row = dict(
        conversation_id=conversation_id,
        id=artifact_id,
        title=json_data.text(title).replace("\0", ""),
        content_type=content_type,
        version=1,
    )
    try:
        connection.execute(insert(artifacts).values(**row, created_at=now_ms(), updated_at=now_ms()))
    except IntegrityError as error:
        raise Conflict(f"artifact exists already: {artifact_id}") from error
    _add(connection, conversation_id, artifact_id, 1, Edit(content, "create", ()), turn_id)
    return get(connection, conversation_id, artifact_id)


def edit(
    connection: Connection,
    conversation_id: str,
    artifact_id: str,
    change: Callable[[str], Edit],
    turn_id: str | None = None,
) -> Artifact:
    """Add the version that `change` makes from the current one. Concurrent edits wait for each other."""
    at = (artifacts.c.conversation_id == conversation_id, artifacts.c.id == artifact_id)
    held = connection.execute(select(artifacts.c.version).where(*at).with_for_update()).first()
    if held is None:
        raise NotFound(f"artifact not found: {artifact_id}")
    made = change(version(connection, conversation_id, artifact_id, held.version).content)
    _add(connection, conversation_id, artifact_id, held.version + 1, made, turn_id)
    values = {"version": held.version + 1, "updated_at": now_ms()}
    connection.execute(update(artifacts).where(*at).values(**values))
    return get(connection, conversation_id, artifact_id)


def get(connection: Connection, conversation_id: str, artifact_id: str) -> Artifact:
    at = (artifacts.c.conversation_id == conversation_id, artifacts.c.id == artifact_id)
    row = connection.execute(select(artifacts).where(*at)).first()
    if row is None:
        raise NotFound(f"artifact not found: {artifact_id}")
    return Artifact(*row)


def of(connection: Connection, conversation_id: str) -> list[Artifact]:
    statement = select(artifacts).where(artifacts.c.conversation_id == conversation_id)
    rows = connection.execute(statement.order_by(artifacts.c.created_at, artifacts.c.id))
    return [Artifact(*row) for row in rows]


def version(connection: Connection, conversation_id: str, artifact_id: str, number: int) -> Version:
    found = connection.execute(
        select(artifact_versions).where(*_versions_of(conversation_id, artifact_id, number))
    ).first()
    if found is None:
        raise NotFound(f"version not found: {number}")
    return _version(found)


def versions(connection: Connection, conversation_id: str, artifact_id: str) -> list[Version]:
    get(connection, conversation_id, artifact_id)
    statement = select(artifact_versions).where(*_versions_of(conversation_id, artifact_id))
    return [_version(row) for row in connection.execute(statement.order_by(artifact_versions.c.version))]


def _versions_of(conversation_id: str, artifact_id: str, number: int | None = None) -> list[Any]:
    columns = artifact_versions.c
    where = [columns.conversation_id == conversation_id, columns.artifact_id == artifact_id]
    return where if number is None else [*where, columns.version == number]


def _add(
    connection: Connection,
    conversation_id: str,
    artifact_id: str,
    number: int,
    made: Edit,
    turn_id: str | None,
) -> None:
    changes, content = json_data.dumps(made.changes), json_data.text(made.content).encode()
    shares.add(connection, conversation_id, len(changes) + len(content))
    connection.execute(
        insert(artifact_versions).values(
            conversation_id=conversation_id,
            artifact_id=artifact_id,
            version=number,
            update_type=made.update_type,
            changes=changes,
            content=content,
            turn_id=turn_id,
            created_at=now_ms(),
        )
    )


def _version(row: Row[Any]) -> Version:
    return Version(
        row.version,
        row.update_type,
        json_data.loads(row.changes),
        bytes(row.content).decode(),
        row.turn_id,
        row.created_at,
    )
