"""Invites: codes that let one person register, once. The code itself is not stored, only its hash."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from caesura.core.errors import BadInvite, NotFound
from caesura.store.schema import invites, now_ms

_ID = 8
_DAY_MS = 24 * 3600 * 1000


class Invite(NamedTuple):
    """`id` is the beginning of the code."""

    id: str
    created_at: int
    expires_at: int


def create(connection: Connection, code: str, days: int) -> None:
    connection.execute(delete(invites).where(invites.c.expires_at <= now_ms()))
    statement = insert(invites).values(
        id=code[:_ID], hash=_hash(code), created_at=now_ms(), expires_at=now_ms() + days * _DAY_MS
    )
    connection.execute(statement)


def check(connection: Connection, code: str) -> None:
    """Raise `BadInvite` if the code is not valid now. Does not use it up: `use` decides."""
    if connection.execute(select(invites.c.id).where(*_good(code))).first() is None:
        raise _refused()


def use(connection: Connection, code: str) -> None:
    """Use up the code, in the transaction that creates the person. Of two concurrent callers one succeeds."""
    if connection.execute(delete(invites).where(*_good(code))).rowcount == 0:
        raise _refused()


def listing(connection: Connection) -> list[Invite]:
    """The invites that can still be used, oldest first."""
    columns = (invites.c.id, invites.c.created_at, invites.c.expires_at)
    statement = select(*columns).where(invites.c.expires_at > now_ms()).order_by(*columns[1:], invites.c.id)
    return [Invite(*row) for row in connection.execute(statement)]


def revoke(connection: Connection, id: str) -> None:
    """Revoke an invite by its id, or by its whole code."""
    if connection.execute(delete(invites).where(invites.c.id == id[:_ID])).rowcount == 0:
        raise NotFound(f"invite not found: {id[:_ID]}")


def _good(code: str) -> tuple[ColumnElement[Any], ...]:
    return (invites.c.hash == _hash(code), invites.c.expires_at > now_ms())


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _refused() -> BadInvite:
    return BadInvite("the invite is not valid: it is wrong, was used or is too old")
