"""The state that an operator's own graph had when a turn of it ended. The turns that follow begin with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from caesura.store.schema import graph_states


class Kept(NamedTuple):
    """The value of one channel. `ns` is empty for the graph itself, and names a subgraph otherwise."""

    ns: str
    channel: str
    type: str
    body: bytes


def of(connection: Connection, turn: int) -> list[Kept]:
    """What this turn has left, in a fixed order."""
    columns = (graph_states.c[name] for name in Kept._fields)
    found = connection.execute(select(*columns).where(graph_states.c.turn == turn))
    return sorted(Kept(ns, channel, kind, bytes(body)) for ns, channel, kind, body in found)


def replace(connection: Connection, turn: int, items: Sequence[Kept]) -> None:
    """Keep this for the turn, in place of what an earlier attempt has left. The caller owns the turn."""
    connection.execute(delete(graph_states).where(graph_states.c.turn == turn))
    if items:
        connection.execute(insert(graph_states), [{"turn": turn, **item._asdict()} for item in items])
