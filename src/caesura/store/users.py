"""People: one row each, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Update,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from caesura.core.errors import NotFound, UsernameTaken
from caesura.store import changes
from caesura.store.schema import now_ms, users
from caesura.store.statements import Prepared

#: Begins the hash of a disabled person. No hash of a password begins so, and the stamp changes with it.
_DISABLED = "disabled:"


class User(NamedTuple):
    id: str
    password_hash: str
    conversation_count: int
    created_at: int
    #: How often the person has logged out everywhere.
    log_outs: int = 0

    @property
    def disabled(self) -> bool:
        return self.password_hash.startswith(_DISABLED)

    @property
    def stamp(self) -> str:
        return stamp(self.password_hash, self.log_outs)


def stamp(password_hash: str, log_outs: int = 0) -> str:
    """A value that changes with the password and when the person logs out everywhere. The salt of the hash is
    secret: the value reveals nothing about the password."""
    source = f"{password_hash} {log_outs}" if log_outs else password_hash
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def create(connection: Connection, user_id: str, password_hash: str) -> None:
    statement = insert(users).values(id=user_id, password_hash=password_hash, created_at=now_ms())
    try:
        connection.execute(statement)
    except IntegrityError as error:
        raise UsernameTaken from error


def get(connection: Connection, user_id: str) -> User | None:
    row = _GET.row(connection, id=user_id)
    return User(*row) if row else None


_GET = Prepared(select(users).where(users.c.id == bindparam("id")))


def stamps(connection: Connection, user_ids: Collection[str]) -> dict[str, str]:
    """The stamps of these people. Missing people are left out."""
    if len(user_ids) == 1:  # the usual case: the prepared statement costs a fraction
        return {user.id: user.stamp for user_id in user_ids if (user := get(connection, user_id))}
    statement = select(users.c.id, users.c.password_hash, users.c.log_outs).where(users.c.id.in_(user_ids))
    return {user_id: stamp(found, log_outs) for user_id, found, log_outs in connection.execute(statement)}


def listing(connection: Connection) -> list[User]:
    return [User(*row) for row in connection.execute(select(users).order_by(users.c.id))]


def set_password(connection: Connection, user_id: str, password_hash: str) -> None:
    """Who is disabled stays so."""
    kept = case((_is_disabled(), _DISABLED + password_hash), else_=password_hash)
    statement = update(users).where(users.c.id == user_id).values(password_hash=kept)
    if connection.execute(statement).rowcount == 0:
        raise NotFound(f"user not found: {user_id}")


def log_out(connection: Connection, user_id: str) -> None:
    """Change the person's stamp: every token, ticket and session of theirs ends."""
    statement = update(users).where(users.c.id == user_id).values(log_outs=users.c.log_outs + 1)
    connection.execute(statement)


def disable(connection: Connection, user_id: str) -> bool:
    """Let nobody in as this person. Every token, ticket and session of theirs ends, also for the time after
    they are enabled again. False if they were disabled already."""
    statement = update(users).where(users.c.id == user_id, ~_is_disabled())
    changed = statement.values(password_hash=_DISABLED + users.c.password_hash, log_outs=users.c.log_outs + 1)
    return _changed(connection, user_id, changed)


def enable(connection: Connection, user_id: str) -> bool:
    """Let the person in again, with the password that they had. False if they were not disabled."""
    password_hash = func.substr(users.c.password_hash, len(_DISABLED) + 1)
    statement = update(users).where(users.c.id == user_id, _is_disabled())
    return _changed(connection, user_id, statement.values(password_hash=password_hash))


def _changed(connection: Connection, user_id: str, statement: Update) -> bool:
    if connection.execute(statement).rowcount:
        return True
    if get(connection, user_id) is None:
        raise NotFound(f"user not found: {user_id}")
    return False


def _is_disabled() -> ColumnElement[bool]:
    return users.c.password_hash.startswith(_DISABLED, autoescape=True)


def remove(connection: Connection, user_id: str) -> None:
    """Delete a person who has no conversations left. The caller deletes those first."""
    if connection.execute(delete(users).where(users.c.id == user_id)).rowcount == 0:
        raise NotFound(f"user not found: {user_id}")
    changes.remove(connection, user_id)
