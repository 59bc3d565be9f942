"""Readings: each node records which turns it reads that another node runs. Only the node that runs a turn
stops it when it has no readers, and it checks these records first."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, select

from caesura.store.schema import now_ms, readings, running, turns


def keep(connection: Connection, numbers: Collection[int], ms: int) -> None:
    """Record that these turns are read, for `ms` milliseconds from now. Only PostgreSQL has several nodes."""
    from sqlalchemy.dialects.postgresql import insert  # takes a moment to load

    # In the same order on every node, to avoid deadlocks.
    read = select(turns.c.num, now_ms() + ms).where(turns.c.num.in_(numbers), running(turns)).order_by("num")
    added = insert(readings).from_select(["turn", "until"], read)
    connection.execute(
        added.on_conflict_do_update(index_elements=["turn"], set_={"until": added.excluded.until})
    )


def anybody(connection: Connection, num: int) -> bool:
    """Whether another node has recorded that it reads the turn."""
    read = select(readings.c.turn).where(readings.c.turn == num, readings.c.until > now_ms())
    return connection.execute(read).first() is not None


def forget_old(connection: Connection) -> int:
    return connection.execute(delete(readings).where(readings.c.until <= now_ms())).rowcount
