"""What the mirror shows: the conversations that wait for a person, each with one question.

That is the oldest question of the conversation's active turn, the one that a person sees first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, String, bindparam, select, tuple_

from caesura.store.schema import conversations, interrupts, now_ms, turns, waits


class Place(NamedTuple):
    """A question's place in the order in which all questions are read."""

    user_id: str = ""
    created_at: int = -1
    interrupt_id: str = ""


class Waiting(NamedTuple):
    """A conversation that waits, and the id of its question."""

    conversation_id: str
    interrupt_id: str


class Shown(NamedTuple):
    """A conversation that waits, with its question. `body` is the interrupt as stored, `left` the
    milliseconds until it expires; None if it does not."""

    conversation_id: str
    interrupt_id: str
    user_id: str
    agent: str
    session: str | None
    body: bytes
    created_at: int
    left: int | None


def page(
    connection: Connection, agents: Collection[str], after: Place, limit: int
) -> tuple[list[Waiting], Place | None]:
    """Some conversations that wait for a person in a turn of one of these agents, and where the next page
    begins; None after the last one."""
    seen, at, name = after
    values = {"agents": list(agents), "limit": limit, "seen": seen, "seen_at": at, "seen_id": name}
    rows = connection.execute(_PAGE, values).all()
    last = Place(*rows[-1][2:]) if len(rows) == limit else None
    return [Waiting(row[0], row[1]) for row in rows], last


def waiting(connection: Connection, agents: Collection[str], names: Iterable[str]) -> set[str]:
    """Those of these conversations that wait for a person in a turn of one of these agents."""
    found = connection.execute(_AMONG, {"agents": list(agents), "names": list(names)})
    return {row.conversation_id for row in found}


def shown(connection: Connection, agents: Collection[str], names: Iterable[str]) -> list[Shown]:
    """The same, with their questions."""
    rows: Sequence[Any] = connection.execute(_SHOWN, {"agents": list(agents), "names": list(names)}).all()
    return [Shown._make((*row[:-2], _left(row.expires_at, row.now))) for row in rows]


def _left(expires_at: int | None, now: int) -> int | None:
    return None if expires_at is None else expires_at - now


def _oldest(*columns: Any) -> Select[Any]:
    other = interrupts.alias()
    first = select(other.c.id).where(other.c.turn == turns.c.num, waits(other))
    oldest = first.order_by(other.c.created_at, other.c.id).limit(1).scalar_subquery()
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
            interrupts.c.id == oldest,
        )
    )


_ORDER = interrupts.c.user_id, interrupts.c.created_at, interrupts.c.id
_SEEN = tuple_(
    bindparam("seen", type_=String),
    bindparam("seen_at", type_=BigInteger),
    bindparam("seen_id", type_=String),
)
_PAGE = _oldest(*_ORDER).where(tuple_(*_ORDER) > _SEEN).order_by(*_ORDER).limit(bindparam("limit"))
_NAMED = conversations.c.id.in_(bindparam("names", expanding=True))
_AMONG = _oldest().where(_NAMED)
_SHOWN = _oldest(
    conversations.c.user_id,
    conversations.c.agent,
    conversations.c.session,
    interrupts.c.body,
    interrupts.c.created_at,
    interrupts.c.expires_at,
    now_ms().label("now"),
).where(_NAMED)
