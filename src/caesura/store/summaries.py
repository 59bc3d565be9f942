"""Summaries of the parts of conversations that are too long ago for a model's window."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from caesura.store.schema import now_ms, summaries
from caesura.store.statements import Prepared, savepoint

#: How many are kept of one conversation: its branches have different ones.
MOST = 20


class Summary(NamedTuple):
    """What was said on a branch up to and including this turn."""

    turn_id: str
    text: str


def of(connection: Connection, conversation_id: str) -> list[Summary]:
    """Those of a conversation, newest first."""
    rows = _OF.rows(connection, id=conversation_id)
    return [Summary(row.turn_id, bytes(row.text).decode()) for row in rows]


def put(connection: Connection, conversation_id: str, summary: Summary) -> None:
    """Keep a summary, unless there is one up to the same turn, or the conversation was deleted."""
    values = {"conversation_id": conversation_id, "turn_id": summary.turn_id}
    body = summary.text.encode("utf-8", "replace")
    try:
        with savepoint(connection):
            connection.execute(insert(summaries).values(**values, text=body, created_at=now_ms()))
    except IntegrityError:
        return
    mine = summaries.c.conversation_id == conversation_id
    newest = select(summaries.c.turn_id).where(mine).order_by(*_NEWEST).limit(MOST)
    connection.execute(delete(summaries).where(mine, summaries.c.turn_id.not_in(newest)))


_NEWEST = (summaries.c.created_at.desc(), summaries.c.turn_id)
_OF = Prepared(
    select(summaries.c.turn_id, summaries.c.text)
    .where(summaries.c.conversation_id == bindparam("id"))
    .order_by(*_NEWEST)
)
