"""Artifacts and their versions. A version, once written, never changes.

A version is stored as a compressed whole copy, or as a change of the version before it. From time to time
there is a whole copy, so that any version is made from few rows. A version of an older release is a whole
copy that is not compressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from caesura.core import deltas, json_data
from caesura.core.artifacts import (
    MOST_ARTIFACTS,
    MOST_VERSIONS,
    Artifact,
    Edit,
    Entry,
    Version,
)
from caesura.core.errors import BadInput, Conflict, NotFound, Outdated
from caesura.store import shares
from caesura.store.schema import artifact_versions, artifacts, now_ms
from caesura.store.statements import Prepared

#: At most this many changes follow a whole copy.
_FAR = 16
#: A change is stored as one if it is that much smaller than the whole copy, or smaller than this many bytes.
_SMALLER, _SMALL = 8, 1024


class Base(NamedTuple):
    """The version that an edit begins with, and the version whose whole copy it is made from."""

    version: int
    content: str
    whole: int


class Draft(NamedTuple):
    """A version that is ready to be written."""

    version: int
    update_type: str
    changes: bytes
    content: bytes
    whole: int


def draft(edit: Edit, base: Base | None = None) -> Draft:
    """The next version, or the first. Call this in a thread: it compresses."""
    version = 1 if base is None else base.version + 1
    content = edit.content.encode()
    changes = json_data.dumps(edit.changes)
    if base is not None and version - base.whole <= _FAR:
        change = deltas.delta(base.content.encode(), content)
        if len(change) <= _SMALL or len(change) * _SMALLER <= len(deltas.pack(content)):
            return Draft(version, edit.update_type, changes, change, base.whole)
    return Draft(version, edit.update_type, changes, deltas.pack(content), version)


def create(
    connection: Connection,
    conversation_id: str,
    artifact_id: str,
    *,
    title: str,
    content_type: str,
    first: Draft,
    turn_id: str | None = None,
) -> Artifact:
    row = {"id": artifact_id, "title": title, "content_type": content_type, "version": 1}
    if _count(connection, conversation_id) >= MOST_ARTIFACTS:
        raise BadInput(f"a conversation has at most {MOST_ARTIFACTS} artifacts")
    made = insert(artifacts).values(conversation_id=conversation_id, **row)
    try:
        connection.execute(made.values(created_at=now_ms(), updated_at=now_ms()))
    except IntegrityError as error:
        raise Conflict(f"artifact exists already: {artifact_id}") from error
    _add(connection, conversation_id, artifact_id, first, turn_id)
    return get(connection, conversation_id, artifact_id)


def add(
    connection: Connection, conversation_id: str, artifact_id: str, made: Draft, turn_id: str | None = None
) -> Artifact:
    """Add this version if it still follows the current one; `Outdated` if it does not."""
    if made.version > MOST_VERSIONS:
        raise BadInput(f"an artifact has at most {MOST_VERSIONS} versions: create another one")
    following = update(artifacts).where(
        *_artifact(conversation_id, artifact_id), artifacts.c.version == made.version - 1
    )
    if not connection.execute(following.values(version=made.version, updated_at=now_ms())).rowcount:
        found = get(connection, conversation_id, artifact_id)
        raise Outdated(f"artifact {artifact_id} has changed: its version is {found.version} now")
    _add(connection, conversation_id, artifact_id, made, turn_id)
    return get(connection, conversation_id, artifact_id)


def get(connection: Connection, conversation_id: str, artifact_id: str) -> Artifact:
    row = connection.execute(select(artifacts).where(*_artifact(conversation_id, artifact_id))).first()
    if row is None:
        raise NotFound(f"artifact not found: {artifact_id}")
    return Artifact(*row)


def of(connection: Connection, conversation_id: str) -> list[Artifact]:
    statement = select(artifacts).where(artifacts.c.conversation_id == conversation_id)
    rows = connection.execute(statement.order_by(artifacts.c.created_at, artifacts.c.id))
    return [Artifact(*row) for row in rows]


def current(connection: Connection, conversation_id: str, artifact_id: str) -> tuple[Artifact, Version]:
    found = get(connection, conversation_id, artifact_id)
    return found, version(connection, conversation_id, artifact_id, found.version)


def base(connection: Connection, conversation_id: str, artifact_id: str) -> Base:
    """The current version, for an edit."""
    number = get(connection, conversation_id, artifact_id).version
    rows = _rows(connection, conversation_id, artifact_id, number)
    return Base(number, _content(rows), rows[0].version)


def version(connection: Connection, conversation_id: str, artifact_id: str, number: int) -> Version:
    rows = _rows(connection, conversation_id, artifact_id, number)
    row = rows[-1]
    changes = json_data.loads(row.changes) if row.update_type.startswith("update") else []
    return Version(row.version, row.update_type, changes, _content(rows), row.turn_id, row.created_at)


def versions(connection: Connection, conversation_id: str, artifact_id: str) -> list[Entry]:
    get(connection, conversation_id, artifact_id)
    columns = artifact_versions.c
    listed = select(columns.version, columns.update_type, columns.turn_id, columns.created_at)
    rows = connection.execute(
        listed.where(*_versions(conversation_id, artifact_id)).order_by(columns.version)
    )
    return [Entry(*row) for row in rows]


def _count(connection: Connection, conversation_id: str) -> int:
    counted = select(func.count()).where(artifacts.c.conversation_id == conversation_id)
    return int(connection.execute(counted).scalar_one())


def _artifact(conversation_id: str, artifact_id: str) -> list[ColumnElement[bool]]:
    return [artifacts.c.conversation_id == conversation_id, artifacts.c.id == artifact_id]


def _versions(conversation_id: str, artifact_id: str) -> list[ColumnElement[bool]]:
    columns = artifact_versions.c
    return [columns.conversation_id == conversation_id, columns.artifact_id == artifact_id]


def _add(
    connection: Connection, conversation_id: str, artifact_id: str, made: Draft, turn_id: str | None
) -> None:
    shares.add(connection, conversation_id, len(made.changes) + len(made.content))
    where = {"conversation_id": conversation_id, "artifact_id": artifact_id}
    # The clock may have gone on since the artifact was written. Both have the same time.
    time = select(artifacts.c.updated_at).where(*_artifact(conversation_id, artifact_id)).scalar_subquery()
    connection.execute(
        insert(artifact_versions).values(**where, **made._asdict(), turn_id=turn_id, created_at=time)
    )


def _rows(connection: Connection, conversation_id: str, artifact_id: str, number: int) -> Sequence[Any]:
    """The rows that this version is made from: a whole copy, and the changes up to the version."""
    rows: Sequence[Any] = ()
    if 0 < number <= MOST_VERSIONS:
        rows = _ROWS.rows(connection, place=conversation_id, artifact=artifact_id, number=number)
    if not rows:
        raise NotFound(f"version not found: {number}")
    return rows


def _content(rows: Sequence[Any]) -> str:
    whole, *changes = rows
    content = bytes(whole.content) if whole.whole is None else deltas.unpack(whole.content)
    for row in changes:
        content = deltas.apply(content, row.content)
    return content.decode()


_COLUMNS = artifact_versions.c
_MINE = (_COLUMNS.conversation_id == bindparam("place"), _COLUMNS.artifact_id == bindparam("artifact"))
_FIRST = select(func.coalesce(_COLUMNS.whole, _COLUMNS.version)).where(
    *_MINE, _COLUMNS.version == bindparam("number")
)
_ROWS = Prepared(
    select(artifact_versions)
    .where(*_MINE, _COLUMNS.version >= _FIRST.scalar_subquery(), _COLUMNS.version <= bindparam("number"))
    .order_by(_COLUMNS.version)
)
