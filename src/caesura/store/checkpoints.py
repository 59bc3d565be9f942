"""The crash journal of a turn: its graph's checkpoints and later writes. Deleted when the turn ends."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from caesura.store.schema import checkpoint_writes, checkpoints


class Checkpoint(NamedTuple):
    id: str
    parent_id: str | None
    type: str
    body: bytes
    metadata: bytes


class Write(NamedTuple):
    task_id: str
    idx: int
    path: str
    channel: str
    type: str
    body: bytes


def put(connection: Connection, turn: int, ns: str, item: Checkpoint) -> None:
    """Store the checkpoint as the newest, or replace the one with the same id. The order is that of the
    calls: ids depend on the clocks of different machines."""
    here = (checkpoints.c.turn == turn, checkpoints.c.ns == ns)
    same = update(checkpoints).where(*here, checkpoints.c.id == item.id).values(**item._asdict())
    if connection.execute(same).rowcount == 0:
        newest = connection.execute(select(func.max(checkpoints.c.place)).where(*here)).scalar()
        place = (newest or 0) + 1
        connection.execute(insert(checkpoints).values(turn=turn, ns=ns, place=place, **item._asdict()))


def put_writes(
    connection: Connection, turn: int, ns: str, checkpoint_id: str, writes: Sequence[Write]
) -> None:
    """Add writes to a checkpoint. An existing write stays, unless its index is negative: of those special
    channels the newest write counts."""
    at = _writes_of(turn, ns, checkpoint_id)
    known = select(checkpoint_writes.c.task_id, checkpoint_writes.c.idx).where(*at)
    there = {tuple(row) for row in connection.execute(known)}
    # A graph's node that asked twice writes its answers twice: the last write counts.
    newest = {(write.task_id, write.idx): write for write in writes}
    new = [write for place, write in newest.items() if write.idx < 0 or place not in there]
    for write in new:
        if (write.task_id, write.idx) in there:
            same = (checkpoint_writes.c.task_id == write.task_id, checkpoint_writes.c.idx == write.idx)
            connection.execute(delete(checkpoint_writes).where(*at, *same))
    if new:
        key = {"turn": turn, "ns": ns, "checkpoint_id": checkpoint_id}
        connection.execute(insert(checkpoint_writes), [key | write._asdict() for write in new])


def get(
    connection: Connection, turn: int, ns: str, checkpoint_id: str | None = None
) -> tuple[Checkpoint, list[Write]] | None:
    """The checkpoint with this id, or the newest, with its writes in the order in which they apply."""
    found = listing(connection, turn, ns, checkpoint_id, limit=1)
    if not found:
        return None
    columns = checkpoint_writes.c
    writes = (
        select(*(columns[name] for name in Write._fields))
        .where(*_writes_of(turn, ns, found[0].id))
        .order_by(columns.path, columns.task_id, columns.idx)
    )
    return found[0], [Write(*row) for row in connection.execute(writes)]


def listing(
    connection: Connection, turn: int, ns: str, checkpoint_id: str | None = None, limit: int | None = None
) -> list[Checkpoint]:
    """Checkpoints of a namespace, the last stored first."""
    statement = select(*(checkpoints.c[name] for name in Checkpoint._fields)).where(
        checkpoints.c.turn == turn, checkpoints.c.ns == ns
    )
    if checkpoint_id is not None:
        statement = statement.where(checkpoints.c.id == checkpoint_id)
    rows = connection.execute(statement.order_by(checkpoints.c.place.desc()).limit(limit))
    return [Checkpoint(*row) for row in rows]


def any_of(connection: Connection, turn: int) -> bool:
    """Whether the turn has checkpoints."""
    one = select(checkpoints.c.place).where(checkpoints.c.turn == turn).limit(1)
    return connection.execute(one).first() is not None


def namespaces(connection: Connection, turn: int) -> list[str]:
    found = select(checkpoints.c.ns).where(checkpoints.c.turn == turn).distinct()
    return list(connection.execute(found).scalars())


def ended(connection: Connection, turn: int) -> set[str]:
    """The ids of the tasks that have written what they write at their end, in graphs that go on from there.
    Special writes, of a failure or a question, have a negative index."""
    columns, known = checkpoint_writes.c, set(namespaces(connection, turn))
    found = select(columns.ns, columns.task_id).where(columns.turn == turn, columns.idx >= 0).distinct()
    return {task for ns, task in connection.execute(found) if _goes_on(ns, known)}


def _goes_on(ns: str, known: AbstractSet[str]) -> bool:
    """Whether the graphs around that of this namespace have checkpoints. A graph without any runs again from
    its beginning, with all that is in it. The parts of a namespace are tasks, and numbers for the second
    graph of a task and those after it. A namespace without ids of tasks is that of a graph that remembers."""
    parts = ns.split("|")
    around = ("|".join(parts[:end]) for end in range(1, len(parts)) if not parts[end].isdigit())
    return ":" not in parts[0] or all(known & {name, f"{name}|"} for name in around)


def remove(connection: Connection, turn: int) -> None:
    connection.execute(delete(checkpoint_writes).where(checkpoint_writes.c.turn == turn))
    connection.execute(delete(checkpoints).where(checkpoints.c.turn == turn))


def _writes_of(turn: int, ns: str, checkpoint_id: str) -> tuple[ColumnElement[bool], ...]:
    columns = checkpoint_writes.c
    return (columns.turn == turn, columns.ns == ns, columns.checkpoint_id == checkpoint_id)
