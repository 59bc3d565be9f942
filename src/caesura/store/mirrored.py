"""What the mirror shows: conversations that wait for a person, with the questions of their active turns."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, String, bindparam, func, select, tuple_

from caesura.store.schema import conversations, interrupts, now_ms, turns, waits


class Place(NamedTuple):
    """A question's place in the order in which all questions are read."""

    user_id: str = ""
    created_at: int = -1
    interrupt_id: str = ""


class Waiting(NamedTuple):
    """A conversation that waits. `mark` names its questions. The questions of a turn only become fewer until
    all are closed, so the first one and their number are enough."""

    conversation_id: str
    mark: str


class Shown(NamedTuple):
    """A conversation that waits, with its questions as they are stored, oldest first. `left` is the
    milliseconds until the first one expires; None if none does."""

    conversation_id: str
    mark: str
    user_id: str
    agent: str
    session: str | None
    created_at: int
    left: int | None
    bodies: list[bytes]


def page(
    connection: Connection, agents: Collection[str], after: Place, limit: int
) -> tuple[list[Waiting], Place | None]:
    """Some conversations that wait for a person in a turn of one of these agents, and where the next page
    begins; None after the last one."""
    seen, at, name = after
    values = {"agents": list(agents), "limit": limit, "seen": seen, "seen_at": at, "seen_id": name}
    rows = connection.execute(_PAGE, values).all()
    last = Place(rows[-1].user_id, rows[-1].created_at, rows[-1].id) if len(rows) == limit else None
    return [Waiting(row.conversation_id, _mark(row.id, row.number)) for row in rows], last


def waiting(connection: Connection, agents: Collection[str], names: Iterable[str]) -> set[str]:
    """Those of these conversations that wait for a person in a turn of one of these agents."""
    found = connection.execute(_AMONG, {"agents": list(agents), "names": list(names)})
    return {row.conversation_id for row in found}


def shown(connection: Connection, agents: Collection[str], names: Iterable[str]) -> list[Shown]:
    """The same, with their questions."""
    found = connection.execute(_SHOWN, {"agents": list(agents), "names": list(names)})
    return [_shown(list(rows)) for _, rows in groupby(found, lambda row: row.conversation_id)]


def _shown(rows: list[Any]) -> Shown:
    first = rows[0]
    left = [row.expires_at - row.now for row in rows if row.expires_at is not None]
    return Shown(
        first.conversation_id,
        _mark(first.id, len(rows)),
        first.user_id,
        first.agent,
        first.session,
        first.created_at,
        min(left, default=None),
        [row.body for row in rows],
    )


def _mark(first: str, number: int) -> str:
    return f"{first}:{number}"


def _pending(*columns: Any) -> Select[Any]:
    return (
        select(turns.c.conversation_id, interrupts.c.id, *columns)
        .select_from(interrupts)
        .join(turns, turns.c.num == interrupts.c.turn)
        .join(conversations, conversations.c.id == turns.c.conversation_id)
        .where(
            waits(interrupts),
            turns.c.status == "waiting",
            conversations.c.active_turn == turns.c.id,
            turns.c.agent.in_(bindparam("agents", expanding=True)),
        )
    )


_other = interrupts.alias()
_together = select(_other.c.id).where(_other.c.turn == turns.c.num, waits(_other))
_FIRST = _together.order_by(_other.c.created_at, _other.c.id).limit(1).scalar_subquery()
_NUMBER = _together.with_only_columns(func.count()).scalar_subquery().label("number")
_ORDER = interrupts.c.user_id, interrupts.c.created_at, interrupts.c.id
_SEEN = tuple_(
    bindparam("seen", type_=String),
    bindparam("seen_at", type_=BigInteger),
    bindparam("seen_id", type_=String),
)
_PAGE = (
    _pending(interrupts.c.user_id, interrupts.c.created_at, _NUMBER)
    .where(interrupts.c.id == _FIRST, tuple_(*_ORDER) > _SEEN)
    .order_by(*_ORDER)
    .limit(bindparam("limit"))
)
_NAMED = conversations.c.id.in_(bindparam("names", expanding=True))
_AMONG = _pending().where(_NAMED)
_SHOWN = (
    _pending(
        conversations.c.user_id,
        conversations.c.agent,
        conversations.c.session,
        interrupts.c.created_at,
        interrupts.c.expires_at,
        interrupts.c.body,
        now_ms().label("now"),
    )
    .where(_NAMED)
    .order_by(turns.c.conversation_id, interrupts.c.created_at, interrupts.c.id)
)
