"""What remains of a large conversation that was deleted: it goes in steps, and others' work comes between.

The first step takes the conversation from its owner, and nobody finds it any more. If the process dies, the
next one goes on.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, and_, bindparam, delete, func, select, update

from caesura.store import users
from caesura.store.schema import (
    NOBODY,
    artifact_versions,
    conversations,
    events,
    keys,
    live,
    tool_calls,
    turns,
)

#: In one step go at most so many bytes, but at least one row, and at most so many rows.
BYTES, _ROWS = 2 * 1024 * 1024, 500


def leave(connection: Connection, conversation_id: str) -> None:
    """Take the conversation from its owner, and end what runs or waits. The caller has locked it and its
    turns."""
    users.make_nobody(connection)
    here = conversations.c.id == conversation_id
    connection.execute(update(conversations).where(here).values(user_id=NOBODY, session=None))
    connection.execute(delete(keys).where(keys.c.conversation_id == conversation_id))
    mine = turns.c.conversation_id == conversation_id
    alive = select(turns.c.num).where(mine, live(turns))
    connection.execute(delete(events).where(events.c.turn.in_(alive)))
    connection.execute(delete(turns).where(mine, live(turns)))
    lost = {"owner": None, "lease_until": None, "epoch": turns.c.epoch + 1}
    connection.execute(update(turns).where(mine, turns.c.owner.is_not(None)).values(**lost))


def clear(connection: Connection, conversation_id: str) -> bool:
    """One step. False if nothing of the conversation was left."""
    here = conversations.c.id == conversation_id, conversations.c.user_id == NOBODY
    if connection.execute(select(conversations.c.id).where(*here)).first() is None:
        return False
    mine = turns.c.conversation_id == conversation_id
    of_turns = select(turns.c.num).where(mine)
    said = _bytes(turns.c.content) + _bytes(turns.c.messages) + _bytes(turns.c.about)
    called = _bytes(tool_calls.c.args) + _bytes(tool_calls.c.output)
    version = _bytes(artifact_versions.c.content) + _bytes(artifact_versions.c.changes)
    written = artifact_versions.c.conversation_id == conversation_id
    if not (
        _clear_some(connection, events, events.c.turn.in_(of_turns), _bytes(events.c.body))
        or _clear_some(connection, tool_calls, tool_calls.c.turn.in_(of_turns), called)
        or _clear_some(connection, artifact_versions, written, version)
        or _clear_some(connection, turns, mine, said)
    ):
        connection.execute(delete(conversations).where(*here))
    return True


def _clear_some(connection: Connection, table: Table, where: Any, size: Any) -> bool:
    """Delete some rows. False if there are none."""
    key = table.primary_key.columns
    chosen: list[dict[str, Any]] = []
    left = BYTES
    for *values, more in connection.execute(select(*key, size).where(where).limit(_ROWS)):
        if chosen and more > left:
            break
        chosen.append({f"at_{column.name}": value for column, value in zip(key, values, strict=True)})
        left -= more
    if chosen:
        one = and_(*(column == bindparam(f"at_{column.name}") for column in key))
        connection.execute(delete(table).where(one), chosen)
    return bool(chosen)


def _bytes(column: Any) -> Any:
    return func.coalesce(func.length(column), 0)
