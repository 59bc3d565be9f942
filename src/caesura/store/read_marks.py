"""Read marks: up to where a person has read each conversation, on whichever device."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from caesura.core.turns import Turn
from caesura.store import turns
from caesura.store.schema import now_ms, read_marks
from caesura.store.statements import Prepared, savepoint


class ReadMark(NamedTuple):
    """The turn, and the cursor in it, that were read last, and when."""

    turn_id: str
    cursor: int
    at: int


def get(connection: Connection, conversation_id: str) -> ReadMark | None:
    row = _GET.row(connection, id=conversation_id)
    return ReadMark(row.turn_id, row.cursor, row.at) if row else None


def move(connection: Connection, turn: Turn, cursor: int) -> None:
    """Set the mark of the turn's conversation, unless it is already further on the same branch."""
    if get(connection, turn.conversation_id) is None and _set_first(connection, turn, cursor):
        return
    # Another device may be about to move it.
    row = _HELD.row(connection, id=turn.conversation_id)
    if row is None or _is_behind(connection, turn, cursor, ReadMark(row.turn_id, row.cursor, row.at)):
        return
    _MOVE.count(connection, at_id=turn.conversation_id, turn_id=turn.id, cursor=cursor)


def _set_first(connection: Connection, turn: Turn, cursor: int) -> bool:
    values = {"conversation_id": turn.conversation_id, "turn_id": turn.id, "cursor": cursor, "at": now_ms()}
    try:
        with savepoint(connection):
            connection.execute(insert(read_marks).values(**values))
    except IntegrityError:
        return False  # another device was faster
    return True


def _is_behind(connection: Connection, turn: Turn, cursor: int, mark: ReadMark) -> bool:
    """Whether the place is before the mark, on the branch of the mark."""
    if mark.turn_id == turn.id:
        return cursor <= mark.cursor
    marked = turns.find(connection, mark.turn_id)
    if marked is None or marked.ordinal < turn.ordinal:
        return False
    after = turns.later(connection, marked, turn.ordinal)
    return after is not None and after.parent_id == turn.id


_OF = select(read_marks).where(read_marks.c.conversation_id == bindparam("id"))
_GET = Prepared(_OF)
_HELD = Prepared(_OF.with_for_update())
_MOVE = Prepared(
    update(read_marks).where(read_marks.c.conversation_id == bindparam("at_id")).values(at=now_ms())
)
