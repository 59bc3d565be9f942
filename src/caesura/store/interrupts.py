"""Interrupts as rows: asked once, answered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, and_, bindparam, func, insert, or_, select, update

from caesura.core import interrupts as core
from caesura.core import plain
from caesura.core.errors import AlreadyAnswered, NotFound, NothingPending
from caesura.store.schema import interrupts, now_ms, turns

Status = Literal["pending", "answered", "expired", "superseded", "cancelled"]


@dataclass(frozen=True, slots=True)
class Asked:
    """An interrupt and what became of it. `graph_id` is its name inside the graph that asked."""

    interrupt: core.Interrupt
    turn: int
    graph_id: str
    status: Status
    answer: core.Answer | None
    created_at: int
    turn_id: str = ""
    conversation_id: str = ""


def ask(
    connection: Connection,
    turn: int,
    user_id: str,
    items: Mapping[str, core.Interrupt],
) -> None:
    """Open these, by graph id."""
    for graph_id, item in items.items():
        values = {
            "id": item.id,
            "turn": turn,
            "user_id": user_id,
            "graph_id": graph_id,
            "status": "pending",
            "body": plain.dumps(core.to_dict(item)),
            "expires_at": item.expires_at,
        }
        connection.execute(_ASK, values)


def clock(connection: Connection) -> int:
    """The database's time, by which an interrupt expires."""
    return connection.execute(select(now_ms())).scalar_one()


def pending(connection: Connection, turn: int) -> list[Asked]:
    """What of this turn waits for a person now."""
    return _found(connection, _PENDING, turn=turn)


def of(connection: Connection, turn: int) -> list[Asked]:
    """All that was ever asked in this turn, whatever became of it."""
    return _found(connection, _OF, turn=turn)


def inbox(connection: Connection, user_id: str, limit: int = 100) -> list[Asked]:
    """What waits for this person, over all conversations, oldest first."""
    return _found(connection, _INBOX, user_id=user_id, limit=limit)


def count_pending(connection: Connection) -> int:
    """How many wait, whoever for."""
    return connection.execute(select(func.count()).select_from(interrupts).where(_open())).scalar_one()


def get(connection: Connection, interrupt_id: str, user_id: str) -> Asked:
    found = _found(connection, _GET, id=interrupt_id, user_id=user_id)
    if not found:
        raise NotFound("interrupt not found")
    return found[0]


def answer(connection: Connection, user_id: str, answers: Mapping[str, core.Answer]) -> bool:
    """Answer all of these or none. Each is checked in full first; then one conditional update per row
    decides the winner. True when nothing of the turn is left pending: the turn is then queued."""
    asked = [get(connection, interrupt_id, user_id) for interrupt_id in sorted(answers)]
    if not asked:
        raise NothingPending
    # The turn first, as a run does: whoever comes second waits instead of dying in a deadlock.
    connection.execute(_HELD, {"numbers": [item.turn for item in asked]})
    checked = {item.interrupt.id: core.check(item.interrupt, answers[item.interrupt.id]) for item in asked}
    for item in asked:
        if not _close(connection, item.interrupt.id, "answered", checked[item.interrupt.id]):
            raise _lost(get(connection, item.interrupt.id, user_id))
    return all([_wake(connection, turn) for turn in {item.turn for item in asked}])


def close(connection: Connection, turn: int, status: Status, *, expired_only: bool = False) -> list[Asked]:
    """Close what is still pending of a turn, and say which. The caller owns the turn."""
    due = interrupts.c.expires_at <= now_ms() if expired_only else interrupts.c.id.is_not(None)
    found = _found(connection, _OF.where(interrupts.c.status == "pending", due), turn=turn)
    return [item for item in found if _close(connection, item.interrupt.id, status, None, late=True)]


def _open() -> Any:
    in_time = or_(interrupts.c.expires_at.is_(None), interrupts.c.expires_at > now_ms())
    return and_(interrupts.c.status == "pending", in_time)


def _close(
    connection: Connection, interrupt_id: str, status: Status, given: core.Answer | None, late: bool = False
) -> bool:
    body = plain.dumps(core.answer_dict(given)) if given else None
    values = {"at_id": interrupt_id, "status": status, "answer": body}
    return connection.execute(_CLOSE_LATE if late else _CLOSE, values).rowcount == 1


def _lost(winner: Asked) -> AlreadyAnswered | NothingPending:
    if winner.answer is not None:
        return AlreadyAnswered(core.answer_dict(winner.answer))
    return NothingPending("the interrupt has expired" if winner.status in ("pending", "expired") else None)


def _wake(connection: Connection, turn: int) -> bool:
    if pending(connection, turn):
        return False
    connection.execute(_WAKE, {"at_num": turn})
    return True


def _found(connection: Connection, statement: Select[Any], **values: Any) -> list[Asked]:
    return [_asked(row) for row in connection.execute(statement, values)]


def _asked(row: Row[Any]) -> Asked:
    item = core.from_dict(plain.loads(row.body))
    given = core.answer_from(plain.loads(row.answer)) if row.answer else None
    return Asked(
        item, row.turn, row.graph_id, row.status, given, row.created_at, row.turn_id, row.conversation_id
    )


# Built once: building a statement costs more than running it.
_ASK = insert(interrupts).values(created_at=now_ms())
_ALL = (
    select(interrupts, turns.c.id.label("turn_id"), turns.c.conversation_id)
    .join(turns, turns.c.num == interrupts.c.turn)
    .order_by(interrupts.c.created_at, interrupts.c.id)
)
_OF = _ALL.where(interrupts.c.turn == bindparam("turn"))
_PENDING = _OF.where(_open())
_MINE = _ALL.where(interrupts.c.user_id == bindparam("user_id"))
_GET = _MINE.where(interrupts.c.id == bindparam("id"))
_INBOX = _MINE.where(_open()).limit(bindparam("limit"))
_HELD = (
    select(turns.c.num)
    .where(turns.c.num.in_(bindparam("numbers", expanding=True)))
    .order_by(turns.c.num)
    .with_for_update()
)
_CLOSE = update(interrupts).where(interrupts.c.id == bindparam("at_id"), _open()).values(closed_at=now_ms())
_CLOSE_LATE = (
    update(interrupts)
    .where(interrupts.c.id == bindparam("at_id"), interrupts.c.status == "pending")
    .values(closed_at=now_ms())
)
_WAKE = (
    update(turns)
    .where(turns.c.num == bindparam("at_num"), turns.c.status == "waiting")
    .values(status="queued", waits_until=None)
)
