"""The fence: only the owner of a turn's newest epoch writes to it."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from caesura.core.errors import Fenced
from caesura.store.schema import turns
from caesura.store.statements import Prepared, send


class Refused(NamedTuple):
    """Turns, each with an epoch, that could not be written to. `fenced`: the epoch does not own the turn.
    `locked`: another transaction has locked its row."""

    fenced: frozenset[tuple[int, int]] = frozenset()
    locked: frozenset[tuple[int, int]] = frozenset()


NONE_REFUSED = Refused()


def hold(connection: Connection, num: int, epoch: int) -> None:
    """Make sure that this epoch owns the turn until the transaction ends."""
    if _HOLD.row(connection, num=num, epoch=epoch) is None:
        raise Fenced


def hold_some(connection: Connection, wanted: Collection[tuple[int, int]]) -> Refused:
    """As `hold`, for several turns with their epochs, without waiting. Returns those that could not be
    held."""
    numbers = {num for num, _ in wanted}
    if connection.dialect.name == "sqlite":
        found = {num: row[0] for num in numbers if (row := _EPOCH.row(connection, num=num))}
        return Refused(frozenset(one for one in wanted if found.get(one[0]) != one[1]))
    rows = send(connection, _HOLD_SOME, (list(numbers),)).rows
    held: dict[int, int] = {row.num: row.epoch for row in rows}
    if all(held.get(num) == epoch for num, epoch in wanted):
        return NONE_REFUSED
    return refused(connection, wanted, held)


def refused(
    connection: Connection, wanted: Collection[tuple[int, int]], held: Collection[int] | None = None
) -> Refused:
    """Which of these turns and epochs could not be written to. `held` are the turns whose rows could be
    locked; None means all of them."""
    numbers = {num for num, _ in wanted}
    if connection.dialect.name == "sqlite":
        mine = select(turns.c.num, turns.c.epoch).where(turns.c.num.in_(numbers))
        owned = {(row.num, row.epoch) for row in connection.execute(mine)}
    else:
        owned = {(row.num, row.epoch) for row in send(connection, _EPOCHS, (list(numbers),)).rows}
    locked = owned.intersection(wanted) if held is not None else ()
    return Refused(
        frozenset(one for one in wanted if one not in owned),
        frozenset(one for one in locked if held is not None and one[0] not in held),
    )


def lock(connection: Connection, numbers: Collection[int]) -> None:
    """Lock these rows, whoever owns the turns, in the order of their numbers, until the transaction ends."""
    rows = select(turns.c.num).where(turns.c.num.in_(numbers)).order_by(turns.c.num)
    connection.execute(rows.with_for_update(key_share=True))


_HOLD = Prepared(
    select(turns.c.num)
    .where(turns.c.num == bindparam("num"), turns.c.epoch == bindparam("epoch"))
    .with_for_update(key_share=True)
)
_EPOCH = Prepared(select(turns.c.epoch).where(turns.c.num == bindparam("num")))
_EPOCHS = "SELECT num, epoch FROM turns WHERE num = ANY(%s)"
#: For the rest of the transaction no other lock is waited for longer than this: a row that somebody else has
#: locked must not delay the rest of the transaction.
_HOLD_SOME = (
    "SELECT t.num, t.epoch FROM turns t, set_config('lock_timeout', '50', true)"
    " WHERE t.num = ANY(%s) ORDER BY t.num FOR NO KEY UPDATE OF t SKIP LOCKED"
)
