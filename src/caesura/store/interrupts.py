"""Interrupts as rows: asked once, answered once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    String,
    bindparam,
    func,
    insert,
    select,
    tuple_,
    update,
)

from caesura.core import answers as core_answers
from caesura.core import interrupts as core
from caesura.core import json_data
from caesura.core.answers import Answer
from caesura.core.errors import AlreadyAnswered, BadAnswer, InterruptPending, NotFound, NothingPending
from caesura.core.interrupts import Approval, Decision, Status
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.store import changes, grants, showings
from caesura.store.changes import Closing
from caesura.store.schema import NOBODY, conversations, interrupts, now_ms, turns, waits
from caesura.store.statements import Prepared

#: At most this many bytes of an inbox are read at once.
_BYTES = 4 * 1024 * 1024

#: The answers in one turn may have this many bytes together, because a run holds them in memory. A small
#: answer is always accepted, so that a person can refuse whatever else waits.
_ANSWERS_LIMIT, _SMALL = 4 * 1024 * 1024, 1024

#: Within this many milliseconds after a decision, another one that names no interrupt may be a double click.
DOUBLE_CLICK = 1000


def ask(
    connection: Connection,
    turn: int,
    user_id: str,
    items: Mapping[str, core.Interrupt],
) -> None:
    """Store these interrupts, by graph id, as pending."""
    place = _PLACE.row(connection, num=turn) if items else None
    for graph_id, item in items.items():
        if place is not None:
            changes.note_opened(connection, place.conversation_id, place.id, item)
        values = {
            "id": item.id,
            "turn": turn,
            "user_id": user_id,
            "graph_id": graph_id,
            "status": "pending",
            "body": json_data.dumps(core.to_dict(item)),
            "expires_at": item.expires_at,
        }
        _ASK.count(connection, **values)


def clock(connection: Connection) -> int:
    """The database's time, by which an interrupt expires."""
    return connection.execute(select(now_ms())).scalar_one()


def pending(connection: Connection, turn: int) -> list[StoredInterrupt]:
    """The pending interrupts of this turn."""
    return _found(connection, _PENDING, turn=turn)


def of(connection: Connection, turn: int) -> list[StoredInterrupt]:
    """All interrupts of this turn, whatever their status."""
    return _found(connection, _OF, turn=turn)


def of_ahead(connection: Connection, turn: int) -> Callable[[], list[StoredInterrupt]]:
    """As `of`, asked for together with the next statement."""
    rows = _OF.ahead(connection, turn=turn)
    return lambda: [_stored(row) for row in rows()]


def inbox(
    connection: Connection, user_id: str, limit: int = 100, after: tuple[int, str] = (-1, "")
) -> list[StoredInterrupt]:
    """The pending interrupts of this person, over all conversations, oldest first, after the given time and
    id. At most `limit` of them, and about `_BYTES` bytes, but at least one."""
    at, id = after
    names: list[str] = []
    size = 0
    for row in _INBOX.rows(connection, user_id=user_id, limit=limit, after_at=at, after_id=id):
        size += row.size
        if names and size > _BYTES:
            break
        names.append(row.id)
    return [_stored(row) for row in connection.execute(_NAMED, {"user_id": user_id, "names": names})]


def more_pending(connection: Connection, user_id: str, last: StoredInterrupt) -> bool:
    """Whether this person has pending interrupts after this one."""
    place = {"after_at": last.created_at, "after_id": last.interrupt.id}
    return bool(_INBOX.rows(connection, user_id=user_id, limit=1, **place))


def count_pending(connection: Connection) -> int:
    """How many interrupts are pending, over all people."""
    return connection.execute(
        select(func.count()).select_from(interrupts).where(waits(interrupts))
    ).scalar_one()


def count_of(connection: Connection, user_id: str) -> int:
    """How many interrupts wait for this person."""
    return connection.execute(_COUNT_OF, {"user_id": user_id}).scalar_one()


def get(connection: Connection, interrupt_id: str, user_id: str) -> StoredInterrupt:
    found = _found(connection, _GET, id=interrupt_id, user_id=user_id)
    if not found:
        raise NotFound("interrupt not found")
    return found[0]


def just_answered(connection: Connection, turn: int) -> bool:
    """Whether a decision in this turn is so recent that another one may be the second half of a double
    click."""
    return _JUST_ANSWERED.row(connection, turn=turn, window=DOUBLE_CLICK) is not None


def decide(
    connection: Connection,
    user_id: str,
    answers: Mapping[str, Answer],
    *,
    blind: bool = False,
    viewer: str | None = None,
) -> dict[int, int]:
    """Answer all of these interrupts or none. Each answer is checked in full first; then one conditional
    update per row decides the winner. Returns, for each turn, how many of its interrupts are still pending.

    `blind` is for a decision that does not say which interrupt the person was shown. It is refused directly
    after another decision in the turn, and the error carries the pending interrupts. With `viewer` it is
    also refused if one of the interrupts was not shown, or if the viewer has a stale view of the turn."""
    found = [get(connection, interrupt_id, user_id) for interrupt_id in sorted(answers)]
    if not found:
        raise NothingPending
    # Lock the turn first, as a run does: a concurrent caller then waits, instead of failing in a deadlock.
    for turn in sorted({item.turn for item in found}):
        _HELD.later(connection, num=turn)
    checked = {
        item.interrupt.id: core_answers.check(item.interrupt, answers[item.interrupt.id]) for item in found
    }
    bodies = {name: json_data.dumps(core_answers.to_dict(item)) for name, item in checked.items()}
    for turn in sorted({item.turn for item in found}):
        if blind:
            _refuse_unseen(connection, turn, answers, viewer)
        _bound(connection, turn, [bodies[item.interrupt.id] for item in found if item.turn == turn])
    for item in found:
        if not _close(connection, item.interrupt.id, "answered", bodies[item.interrupt.id]):
            raise _lost(get(connection, item.interrupt.id, user_id))
        _note_closed(connection, item, "answered", checked[item.interrupt.id].decision)
        if (
            checked[item.interrupt.id].grants
            and isinstance(item.interrupt, Approval)
            and item.interrupt.permit
        ):
            grants.add(connection, item.turn, item.interrupt.permit)
    return {turn: len(pending(connection, turn)) for turn in {item.turn for item in found}}


def close(connection: Connection, turn: int, status: Status) -> list[StoredInterrupt]:
    """Close the pending interrupts of a turn, and return them. The caller owns the turn."""
    found = _found(connection, _UNANSWERED, turn=turn)
    closed = [item for item in found if _close(connection, item.interrupt.id, status, None, late=True)]
    for item in closed:
        _note_closed(connection, item, status)
    return closed


def _note_closed(
    connection: Connection, item: StoredInterrupt, outcome: Status, decision: Decision | None = None
) -> None:
    told = Closing(item.conversation_id, item.turn_id, item.interrupt.id, outcome, decision)
    changes.note_closed(connection, told)


def _close(
    connection: Connection, interrupt_id: str, status: Status, answer: bytes | None, late: bool = False
) -> bool:
    values = {"at_id": interrupt_id, "status": status, "answer": answer}
    return (_CLOSE_LATE if late else _CLOSE).count(connection, **values) == 1


def _bound(connection: Connection, turn: int, new: list[bytes]) -> None:
    if max(map(len, new)) <= _SMALL:
        return
    size = _ANSWERED.rows(connection, turn=turn)[0].size + sum(map(len, new))
    if size > _ANSWERS_LIMIT:
        raise BadAnswer(f"the answers in this turn have {size} bytes together, and {_ANSWERS_LIMIT} may be")


def _refuse_unseen(connection: Connection, turn: int, ids: Collection[str], viewer: str | None) -> None:
    """The caller holds the turn, so an earlier decision is complete. If nothing is pending any more, the
    loser gets the decision instead."""
    unseen = just_answered(connection, turn) or (
        viewer is not None and showings.unseen(connection, turn, ids, viewer)
    )
    if unseen and (waiting := pending(connection, turn)):
        raise InterruptPending(tuple(item.interrupt for item in waiting))


def _lost(winner: StoredInterrupt) -> AlreadyAnswered | NothingPending:
    if winner.answer is not None:
        return AlreadyAnswered(core_answers.to_dict(winner.answer))
    return NothingPending("the interrupt has expired" if winner.status in ("pending", "expired") else None)


def _found(connection: Connection, statement: Prepared, **values: Any) -> list[StoredInterrupt]:
    return [_stored(row) for row in statement.rows(connection, **values)]


def _stored(row: Any) -> StoredInterrupt:
    item = core.from_dict(json_data.loads(row.body))
    given = core_answers.from_dict(json_data.loads(row.answer)) if row.answer else None
    return StoredInterrupt(
        item, row.turn, row.graph_id, row.status, given, row.created_at, row.turn_id, row.conversation_id
    )


# Built once: building a statement costs more than running it.
_ASK = Prepared(insert(interrupts).values(created_at=now_ms()))
_PLACE = Prepared(select(turns.c.id, turns.c.conversation_id).where(turns.c.num == bindparam("num")))
_ALL = (
    select(interrupts, turns.c.id.label("turn_id"), turns.c.conversation_id)
    .join(turns, turns.c.num == interrupts.c.turn)
    .order_by(interrupts.c.created_at, interrupts.c.id)
)
_ITS = _ALL.where(interrupts.c.turn == bindparam("turn"))
_OF = Prepared(_ITS)
_PENDING = Prepared(_ITS.where(waits(interrupts)))
_UNANSWERED = Prepared(_ITS.where(interrupts.c.status == "pending"))
# After a clock was set back, decisions must not be refused for longer than a double click takes.
_JUST_NOW = func.abs(now_ms() - interrupts.c.closed_at) < bindparam("window", type_=BigInteger)
_JUST_ANSWERED = Prepared(
    select(interrupts.c.id)
    .where(interrupts.c.turn == bindparam("turn"), interrupts.c.status == "answered", _JUST_NOW)
    .limit(1)
)
_ANSWERED = Prepared(
    select(func.coalesce(func.sum(func.length(interrupts.c.answer)), 0).label("size")).where(
        interrupts.c.turn == bindparam("turn")
    )
)
_MINE = _ALL.where(interrupts.c.user_id == bindparam("user_id"))
_GET = Prepared(
    _MINE.join(conversations, conversations.c.id == turns.c.conversation_id).where(
        interrupts.c.id == bindparam("id"), conversations.c.user_id != NOBODY
    )
)
_AFTER = tuple_(bindparam("after_at", type_=BigInteger), bindparam("after_id", type_=String))
_LATER = tuple_(interrupts.c.created_at, interrupts.c.id) > _AFTER
_INBOX = Prepared(
    select(interrupts.c.id, func.length(interrupts.c.body).label("size"))
    .where(interrupts.c.user_id == bindparam("user_id"), waits(interrupts), _LATER)
    .order_by(interrupts.c.created_at, interrupts.c.id)
    .limit(bindparam("limit"))
)
_COUNT_OF = (
    select(func.count())
    .select_from(interrupts)
    .where(interrupts.c.user_id == bindparam("user_id"), waits(interrupts))
)
_NAMED = _MINE.where(interrupts.c.id.in_(bindparam("names", expanding=True)))
_HELD = Prepared(select(turns.c.num).where(turns.c.num == bindparam("num")).with_for_update())
_UPDATE = update(interrupts).where(interrupts.c.id == bindparam("at_id")).values(closed_at=now_ms())
_CLOSE = Prepared(_UPDATE.where(waits(interrupts)))
_CLOSE_LATE = Prepared(_UPDATE.where(interrupts.c.status == "pending"))
