"""Leases: who runs a turn, for how long, under which epoch."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, or_, select, update

from caesura.core import codec
from caesura.core import events as ev
from caesura.store import events, shares
from caesura.store.prepared import Prepared
from caesura.store.schema import QUEUED, now_ms, turns
from caesura.store.turns import RELEASED, Turn, change, ended, made

logger = logging.getLogger(__name__)


def claim(connection: Connection, num: int, owner: str, lease_ms: int) -> Turn | None:
    """Take this turn over if nobody holds it, under a new epoch."""
    row = _CLAIM_ONE.row(connection, at_num=num, owner=owner, lease_ms=lease_ms)
    return made(row) if row else None


def seize(connection: Connection, num: int, epoch: int, lease_ms: int) -> Turn | None:
    """Take this turn from the run that holds it under this epoch, for the same owner."""
    row = _SEIZE.row(connection, at_num=num, at_epoch=epoch, lease_ms=lease_ms)
    return made(row) if row else None


def claim_some(
    connection: Connection, owner: str, lease_ms: int, limit: int, busy: Collection[int] = ()
) -> list[Turn]:
    """Take over what somebody must work on: what a dead owner has left, what waits beyond its time or is to
    be stopped, then what is queued. Of the queue each person's oldest first, then each one's next. Not what
    the owner is `busy` with: it slept, or the clock was set, and its lease is renewed soon."""
    numbers: dict[int, None] = {}
    for statement in _LOOKS:
        found = connection.execute(statement, {"limit": limit - len(numbers) + len(busy)})
        numbers |= {row.num: None for row in found if row.num not in busy}
        if len(numbers) >= limit:
            break
    return _claim(connection, list(numbers)[:limit], owner, lease_ms) if numbers else []


def orphan(connection: Connection, owner: str) -> None:
    """End every lease but this owner's: for a process that knows that it is alone."""
    others = and_(turns.c.owner.is_not(None), turns.c.owner != owner)
    connection.execute(update(turns).where(others).values(lease_until=0))


def renew(connection: Connection, owner: str, numbers: Iterable[int], lease_ms: int) -> dict[int, str | None]:
    """Keep these turns; for each that is kept, whether it is asked to stop. A number that is missing in the
    answer was taken over or deleted, or somebody else holds its row at the moment: `held` tells which.
    To wait for that row would hold up whoever writes to one of the others."""
    mine = and_(turns.c.num.in_(numbers), turns.c.owner == owner)
    # In order, as every other writer of several turns locks them.
    free = select(turns.c.num).where(mine).order_by(turns.c.num)
    free = free.with_for_update(key_share=True, skip_locked=True)
    statement = (
        update(turns)
        .where(turns.c.num.in_(connection.execute(free).scalars().all()))
        .values(lease_until=now_ms() + lease_ms)
        .returning(turns.c.num, turns.c.stop_requested)
    )
    return {row.num: row.stop_requested for row in connection.execute(statement)}


def held(connection: Connection, owner: str, numbers: Iterable[int]) -> dict[int, str | None]:
    """Those of these turns that are this owner's, and whether each is asked to stop. No lease is renewed."""
    mine = and_(turns.c.num.in_(numbers), turns.c.owner == owner)
    found = connection.execute(select(turns.c.num, turns.c.stop_requested).where(mine))
    return {row.num: row.stop_requested for row in found}


_FREE = turns.c.owner.is_(None)
_DEAD = and_(turns.c.owner.is_not(None), turns.c.lease_until < now_ms())
_EXPIRED = and_(turns.c.status == "waiting", _FREE, turns.c.waits_until < now_ms())
_STOPPING = and_(turns.c.status == "waiting", _FREE, turns.c.stop_requested.is_not(None))
_QUEUED = and_(QUEUED, _FREE)


def _look(few: ColumnElement[bool], order: Any) -> Select[tuple[int]]:
    """Each look reads the rows of one partial index: the table itself only grows."""
    found = select(turns.c.num).where(few).order_by(order).limit(bindparam("limit"))
    return found.with_for_update(skip_locked=True)


def _fair() -> Select[tuple[int]]:
    place = func.row_number().over(partition_by=turns.c.user_id, order_by=turns.c.num)
    ranked = select(turns.c.num, place.label("place")).where(_QUEUED).subquery()
    return select(ranked.c.num).order_by(ranked.c.place, ranked.c.num).limit(bindparam("limit"))


_LOOKS = (
    _look(_DEAD, turns.c.lease_until),
    _look(_EXPIRED, turns.c.waits_until),
    _look(_STOPPING, turns.c.num),
    _fair(),
)


def _claim(connection: Connection, numbers: Sequence[int], owner: str, lease_ms: int) -> list[Turn]:
    values = {"numbers": list(numbers), "owner": owner, "lease_ms": lease_ms}
    claimed = [_readable(connection, row) for row in connection.execute(_CLAIM, values).all()]
    return sorted((turn for turn in claimed if turn is not None), key=lambda turn: turn.num)


def _readable(connection: Connection, row: Any) -> Turn | None:
    """The turn, or None when its row cannot be read: it ends here, so that the others are taken up."""
    try:
        return made(row)
    except Exception:
        logger.exception("turn %s cannot be read and is set aside", row.id)
        _set_aside(connection, row.num, row.epoch)
        return None


def _set_aside(connection: Connection, num: int, epoch: int) -> None:
    at = connection.execute(select(now_ms())).scalar_one()
    outcome = ev.Failed("the turn cannot be read", "unreadable")
    body = codec.encode([outcome, ev.SegmentEnded()])
    first = events.last(connection, num) + 1
    events.insert_fenced(connection, [events.Rows(num, epoch, first, first + 1, at, body)])
    change(connection, num, epoch, **ended("failed") | RELEASED)
    shares.charge(connection, num)


_NEXT = (
    update(turns)
    .values(lease_until=now_ms() + bindparam("lease_ms"), epoch=turns.c.epoch + 1)
    .returning(turns)
)
_SEIZE = Prepared(_NEXT.where(turns.c.num == bindparam("at_num"), turns.c.epoch == bindparam("at_epoch")))
_TAKE = _NEXT.where(or_(_QUEUED, _DEAD, _EXPIRED, _STOPPING))
_CLAIM = _TAKE.where(turns.c.num.in_(bindparam("numbers", expanding=True)))
_CLAIM_ONE = Prepared(_TAKE.where(turns.c.num == bindparam("at_num")))
