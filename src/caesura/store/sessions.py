"""Sessions of browsers that were ended before their time. Every other session is valid, and has no row."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from caesura.store import users
from caesura.store.schema import ended_sessions, now_ms
from caesura.store.statements import Prepared, savepoint

#: A person with more rows than this is logged out everywhere instead, which needs no row.
MOST = 1000


def end(connection: Connection, user_id: str, session: str, until: int) -> None:
    """End this session, which would have been valid until this time."""
    mine = ended_sessions.c.user_id == user_id
    if connection.execute(select(func.count()).where(mine)).scalar_one() >= MOST:
        users.log_out(connection, user_id)
        connection.execute(delete(ended_sessions).where(mine))
        return
    try:
        with savepoint(connection):
            connection.execute(insert(ended_sessions).values(id=session, user_id=user_id, until=until))
    except IntegrityError:
        return  # it was ended before, or the person is gone


def ended(connection: Connection, sessions: Collection[str]) -> set[str]:
    """Those of these sessions that were ended."""
    if len(sessions) == 1:  # the usual case: the prepared statement costs a fraction
        return {row.id for session in sessions for row in _ENDED.rows(connection, id=session)}
    if not sessions:
        return set()
    found = select(ended_sessions.c.id).where(ended_sessions.c.id.in_(sessions))
    return set(connection.execute(found).scalars())


def forget_old(connection: Connection) -> int:
    return connection.execute(delete(ended_sessions).where(ended_sessions.c.until <= now_ms())).rowcount


_ENDED = Prepared(select(ended_sessions.c.id).where(ended_sessions.c.id == bindparam("id")))
