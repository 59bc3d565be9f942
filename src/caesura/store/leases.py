"""Leases: who runs a turn, for how long, under which epoch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, and_, bindparam, or_, select, update

from caesura.store.prepared import Prepared
from caesura.store.schema import live, now_ms, turns
from caesura.store.turns import Turn, made


def claim(connection: Connection, num: int, owner: str, lease_ms: int) -> Turn | None:
    """Take this turn over if nobody holds it, under a new epoch."""
    row = _CLAIM_ONE.row(connection, at_num=num, owner=owner, lease_ms=lease_ms)
    return made(row) if row else None


def seize(connection: Connection, num: int, epoch: int, lease_ms: int) -> Turn | None:
    """Take this turn from the run that holds it under this epoch, for the same owner."""
    row = _SEIZE.row(connection, at_num=num, at_epoch=epoch, lease_ms=lease_ms)
    return made(row) if row else None


def claim_some(connection: Connection, owner: str, lease_ms: int, limit: int) -> list[Turn]:
    """Take over what somebody must work on: queued, left by a dead owner, or waiting beyond its time."""
    numbers: list[int] = []
    # Two looks, each at the few rows of one partial index: the table itself only grows.
    for few in (live(turns), turns.c.owner.is_not(None)):
        left = limit - len(numbers)
        seen = turns.c.num.not_in(numbers)
        found = select(turns.c.num).where(few, _claimable(), seen).limit(left)
        numbers += connection.execute(found.with_for_update(skip_locked=True)).scalars()
    return _claim(connection, numbers, owner, lease_ms) if numbers else []


def orphan(connection: Connection, owner: str) -> None:
    """End every lease but this owner's: for a process that knows that it is alone."""
    others = and_(turns.c.owner.is_not(None), turns.c.owner != owner)
    connection.execute(update(turns).where(others).values(lease_until=0))


def renew(connection: Connection, owner: str, numbers: Iterable[int], lease_ms: int) -> dict[int, str | None]:
    """Keep these turns; for each that is still this owner's, whether it is asked to stop. A number that
    is missing in the answer was taken over or deleted."""
    mine = and_(turns.c.num.in_(numbers), turns.c.owner == owner)
    # In order, as every other writer of several turns locks them.
    held = select(turns.c.num).where(mine).order_by(turns.c.num).with_for_update(key_share=True)
    statement = (
        update(turns)
        .where(turns.c.num.in_(connection.execute(held).scalars().all()))
        .values(lease_until=now_ms() + lease_ms)
        .returning(turns.c.num, turns.c.stop_requested)
    )
    return {row.num: row.stop_requested for row in connection.execute(statement)}


def _claimable() -> Any:
    dead = and_(turns.c.owner.is_not(None), turns.c.lease_until < now_ms())
    expired = and_(turns.c.status == "waiting", turns.c.owner.is_(None), turns.c.waits_until < now_ms())
    stopping = and_(turns.c.status == "waiting", turns.c.owner.is_(None), turns.c.stop_requested.is_not(None))
    return or_(and_(turns.c.status == "queued", turns.c.owner.is_(None)), dead, expired, stopping)


def _claim(connection: Connection, numbers: Sequence[int], owner: str, lease_ms: int) -> list[Turn]:
    values = {"numbers": list(numbers), "owner": owner, "lease_ms": lease_ms}
    return sorted((made(row) for row in connection.execute(_CLAIM, values)), key=lambda turn: turn.num)


_NEXT = (
    update(turns)
    .values(lease_until=now_ms() + bindparam("lease_ms"), epoch=turns.c.epoch + 1)
    .returning(turns)
)
_SEIZE = Prepared(_NEXT.where(turns.c.num == bindparam("at_num"), turns.c.epoch == bindparam("at_epoch")))
_TAKE = _NEXT.where(_claimable())
_CLAIM = _TAKE.where(turns.c.num.in_(bindparam("numbers", expanding=True)))
_CLAIM_ONE = Prepared(_TAKE.where(turns.c.num == bindparam("at_num")))
