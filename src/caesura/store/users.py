"""People: one row each, by name."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Collection
from contextlib import suppress
from typing import Literal, NamedTuple, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
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

from caesura.core import ids
from caesura.core.errors import Conflict, NotFound, UsernameTaken
from caesura.store import changes
from caesura.store.schema import NOBODY, now_ms, users
from caesura.store.statements import Prepared, savepoint

Role = Literal["member", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)

#: Begins the hash of a disabled person. No hash of a password begins so, and the stamp changes with it.
_DISABLED = "disabled:"
#: Begins the hash of a person without a password. The rest is random, because the stamp is made from it: the
#: tokens of a person who was removed must not be those of the next one of that name.
_NO_PASSWORD = "!"  # noqa: S105 - it is none


class User(NamedTuple):
    id: str
    password_hash: str
    conversation_count: int
    created_at: int
    #: How often the person has logged out everywhere.
    log_outs: int = 0
    role: Role = "member"
    #: Who the person is to another service that vouches for them, and the time before which tokens of that
    #: service are refused.
    issuer: str | None = None
    subject: str | None = None
    signed_out_at: int = 0
    #: What was used in conversations that are deleted.
    past_turns: int = 0
    past_input_tokens: int = 0
    past_output_tokens: int = 0

    @property
    def has_password(self) -> bool:
        return not self.password_hash.removeprefix(_DISABLED).startswith(_NO_PASSWORD)

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


def make_nobody(connection: Connection) -> None:
    with suppress(UsernameTaken), savepoint(connection):
        create(connection, NOBODY, _DISABLED + no_password())


def no_password() -> str:
    """In place of the hash of a password, for a person who has none."""
    return f"{_NO_PASSWORD}{ids.token()}"


def create_vouched(connection: Connection, user_id: str, issuer: str, subject: str) -> bool:
    """Create a person for whom another service vouches. False if the name is taken, or the person exists."""
    values = {"id": user_id, "password_hash": no_password(), "issuer": issuer, "subject": subject}
    try:
        with savepoint(connection):
            connection.execute(insert(users).values(created_at=now_ms(), **values))
    except IntegrityError:
        return False
    return True


def vouched(connection: Connection, issuer: str, subject: str) -> User | None:
    """The person who is this one to another service."""
    row = _VOUCHED.row(connection, issuer=issuer, subject=subject)
    return User(*row) if row else None


def link(connection: Connection, user_id: str, issuer: str, subject: str) -> None:
    """Let tokens of another service for this subject be this person. If there were such tokens before, all
    sessions and tickets end: they may be of somebody who is not this person."""
    ended = case((users.c.subject.is_not(None), users.c.log_outs + 1), else_=users.c.log_outs)
    values = {"issuer": issuer, "subject": subject, "log_outs": ended}
    statement = update(users).where(users.c.id == user_id).values(values)
    try:
        with savepoint(connection):
            changed = connection.execute(statement).rowcount
    except IntegrityError as error:
        raise Conflict(_taken(connection, user_id, issuer, subject)) from error
    if changed == 0:
        raise NotFound(f"user not found: {user_id}")


def _taken(connection: Connection, user_id: str, issuer: str, subject: str) -> str:
    """Who is this one already, and what to do: somebody who came before the link has got an account."""
    other = vouched(connection, issuer, subject)
    if other is None:
        return f"somebody else was {subject} until now: try again"
    recipe = (
        f"`caesura user unlink {other.id}`",
        f"`caesura user link {user_id} {shlex.quote(subject)}`",
        f"`caesura user remove {other.id} --conversations give={user_id}`",
    )
    return f"{other.id} is {subject} already. If both are one person: {', then '.join(recipe)}"


def unlink(connection: Connection, user_id: str) -> bool:
    """Let no tokens of another service be this person. All sessions and tickets end, as with another link.
    False if there were no such tokens."""
    statement = update(users).where(users.c.id == user_id, users.c.subject.is_not(None))
    values = {"issuer": None, "subject": None, "log_outs": users.c.log_outs + 1}
    return _changed(connection, user_id, statement.values(**values))


def set_role(connection: Connection, user_id: str, role: Role) -> None:
    statement = update(users).where(users.c.id == user_id).values(role=role)
    if connection.execute(statement).rowcount == 0:
        raise NotFound(f"user not found: {user_id}")


def get(connection: Connection, user_id: str) -> User | None:
    row = _GET.row(connection, id=user_id)
    return User(*row) if row else None


_EVERYBODY = select(users).where(users.c.id != NOBODY).order_by(users.c.id)
_GET = Prepared(select(users).where(users.c.id == bindparam("id")))
_VOUCHED = Prepared(
    select(users).where(users.c.issuer == bindparam("issuer"), users.c.subject == bindparam("subject"))
)


def stamps(connection: Connection, user_ids: Collection[str]) -> dict[str, str]:
    """The stamps of these people. Missing people are left out."""
    if len(user_ids) == 1:  # the usual case: the prepared statement costs a fraction
        return {user.id: user.stamp for user_id in user_ids if (user := get(connection, user_id))}
    statement = select(users.c.id, users.c.password_hash, users.c.log_outs).where(users.c.id.in_(user_ids))
    return {user_id: stamp(found, log_outs) for user_id, found, log_outs in connection.execute(statement)}


def listing(connection: Connection) -> list[User]:
    return [User(*row) for row in connection.execute(_EVERYBODY)]


def set_password(connection: Connection, user_id: str, password_hash: str) -> None:
    """Who is disabled stays so."""
    kept = case((_is_disabled(), _DISABLED + password_hash), else_=password_hash)
    values = {"password_hash": kept, "signed_out_at": now_ms()}
    statement = update(users).where(users.c.id == user_id).values(**values)
    if connection.execute(statement).rowcount == 0:
        raise NotFound(f"user not found: {user_id}")


def log_out(connection: Connection, user_id: str) -> None:
    """Change the person's stamp: every token, ticket and session of theirs ends."""
    values = {"log_outs": users.c.log_outs + 1, "signed_out_at": now_ms()}
    connection.execute(update(users).where(users.c.id == user_id).values(**values))


def disable(connection: Connection, user_id: str) -> bool:
    """Let nobody in as this person. Every token, ticket and session of theirs ends, also for the time after
    they are enabled again. False if they were disabled already."""
    statement = update(users).where(users.c.id == user_id, ~_is_disabled())
    values = {"log_outs": users.c.log_outs + 1, "signed_out_at": now_ms()}
    changed = statement.values(password_hash=_DISABLED + users.c.password_hash, **values)
    return _changed(connection, user_id, changed)


def enable(connection: Connection, user_id: str) -> bool:
    """Let the person in again, with the password that they had. False if they were not disabled."""
    password_hash = func.substr(users.c.password_hash, len(_DISABLED) + 1)
    statement = update(users).where(users.c.id == user_id, _is_disabled())
    return _changed(connection, user_id, statement.values(password_hash=password_hash))


def _changed(connection: Connection, user_id: str, statement: Update | Delete) -> bool:
    if connection.execute(statement).rowcount:
        return True
    if get(connection, user_id) is None:
        raise NotFound(f"user not found: {user_id}")
    return False


def _is_disabled() -> ColumnElement[bool]:
    return users.c.password_hash.startswith(_DISABLED, autoescape=True)


def remove(connection: Connection, user_id: str) -> None:
    """Delete a person who has no conversations left. The caller deletes those first, or gives them away."""
    bare = users.c.conversation_count == 0
    if not _changed(connection, user_id, delete(users).where(users.c.id == user_id, bare)):
        raise Conflict(f"{user_id} still has conversations")
    changes.remove(connection, user_id)
