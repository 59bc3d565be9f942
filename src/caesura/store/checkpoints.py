"""The crash journal of a turn: the newest checkpoint of each graph namespace, and the writes since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

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
    """Replace the namespace's checkpoint; the writes of the one before are no longer needed."""
    at = (checkpoints.c.turn == turn, checkpoints.c.ns == ns)
    if connection.execute(update(checkpoints).where(*at).values(**item._asdict())).rowcount == 0:
        connection.execute(insert(checkpoints).values(turn=turn, ns=ns, **item._asdict()))
    older = (checkpoint_writes.c.turn == turn, checkpoint_writes.c.ns == ns)
    connection.execute(delete(checkpoint_writes).where(*older, checkpoint_writes.c.checkpoint_id != item.id))


def put_writes(
    connection: Connection, turn: int, ns: str, checkpoint_id: str, writes: Sequence[Write]
) -> None:
    """Add writes to a checkpoint. One that is there stays, unless its number is negative (a special channel,
    of which the newest counts)."""
    for write in writes:
        at = (
            checkpoint_writes.c.turn == turn,
            checkpoint_writes.c.ns == ns,
            checkpoint_writes.c.checkpoint_id == checkpoint_id,
            checkpoint_writes.c.task_id == write.task_id,
            checkpoint_writes.c.idx == write.idx,
        )
        if write.idx < 0:
            connection.execute(delete(checkpoint_writes).where(*at))
        elif connection.execute(select(checkpoint_writes.c.idx).where(*at)).first() is not None:
            continue
        row = {"turn": turn, "ns": ns, "checkpoint_id": checkpoint_id, **write._asdict()}
        connection.execute(insert(checkpoint_writes).values(**row))


def get(connection: Connection, turn: int, ns: str) -> tuple[Checkpoint, list[Write]] | None:
    columns = [checkpoints.c[name] for name in Checkpoint._fields]
    row = connection.execute(
        select(*columns).where(checkpoints.c.turn == turn, checkpoints.c.ns == ns)
    ).first()
    if row is None:
        return None
    found = (
        select(*(checkpoint_writes.c[name] for name in Write._fields))
        .where(
            checkpoint_writes.c.turn == turn,
            checkpoint_writes.c.ns == ns,
            checkpoint_writes.c.checkpoint_id == row.id,
        )
        .order_by(checkpoint_writes.c.task_id, checkpoint_writes.c.idx)
    )
    return Checkpoint(*row), [Write(*write) for write in connection.execute(found)]


def remove(connection: Connection, turn: int) -> None:
    connection.execute(delete(checkpoint_writes).where(checkpoint_writes.c.turn == turn))
    connection.execute(delete(checkpoints).where(checkpoints.c.turn == turn))
