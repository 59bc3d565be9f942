"""Turns as rows: queries. All changes of a turn are in `life`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, case, func, literal, or_, select

from caesura.core import json_data
from caesura.core import messages as msg
from caesura.core.errors import NotFound
from caesura.core.turns import Status, Turn
from caesura.store.schema import NOBODY, QUEUED, conversations, events, live, running, turns
from caesura.store.statements import Prepared

#: Turns of at most so many bytes are read and written quickly.
LIGHT = 32 * 1024


class Link(NamedTuple):
    id: str
    parent_id: str | None


class Entry(NamedTuple):
    """The columns of a turn that are needed to walk the tree."""

    num: int
    id: str
    parent_id: str | None
    ordinal: int
    #: The size of what must be read to show the turn: its messages, or its log while that is ahead of them.
    size: int


class Underway(NamedTuple):
    """The columns of a running turn that are needed to count its messages. `above` is the message count of
    the branch, including the turn's own user message."""

    id: str
    num: int
    epoch: int
    above: int


class Said(NamedTuple):
    """The columns of a turn that are needed to show its messages."""

    num: int
    id: str
    parent_id: str | None
    status: Status
    content: str
    #: The messages as stored: thousands of them are read to show two members of each.
    messages: list[dict[str, Any]] | None


# Statements that every turn needs are built once: building one costs more than running it.
_BY_ID = Prepared(select(turns).where(turns.c.id == bindparam("id")))
_OWNED = Prepared(
    select(turns)
    .join(conversations, conversations.c.id == turns.c.conversation_id)
    .where(turns.c.id == bindparam("id"), turns.c.user_id == bindparam("user_id"))
    .where(conversations.c.user_id != NOBODY)
)
_BY_NUM = Prepared(select(turns).where(turns.c.num == bindparam("num")))
_EXISTS = Prepared(select(turns.c.num).where(turns.c.num == bindparam("num")))
_LOGGED = select(func.coalesce(func.sum(func.length(events.c.body)), 0)).where(events.c.turn == turns.c.num)
_SHOWN = func.length(turns.c.content) + case(
    (live(turns), _LOGGED.scalar_subquery()), else_=func.coalesce(func.length(turns.c.messages), 0)
)
_ENTRY = (turns.c.num, turns.c.id, turns.c.parent_id, turns.c.ordinal, _SHOWN.label("size"))


def _walk() -> Select[Any]:
    """Walks up from a turn, one step for each turn of its branch."""
    leaf = select(*_ENTRY, literal(1).label("step")).where(
        turns.c.id == bindparam("leaf"), turns.c.conversation_id == bindparam("of")
    )
    above = leaf.cte("above", recursive=True)
    parent = select(*_ENTRY, above.c.step + 1).where(
        turns.c.id == above.c.parent_id, above.c.step < bindparam("limit")
    )
    found = above.union_all(parent)
    return select(*(found.c[name] for name in Entry._fields)).order_by(found.c.step)


_ABOVE = Prepared(_walk())
_ENTRIES = Prepared(
    select(*_ENTRY)
    .where(turns.c.conversation_id == bindparam("of"), turns.c.ordinal > bindparam("after"))
    .order_by(turns.c.ordinal)
    .limit(bindparam("limit"))
)


def _walk_to() -> Select[Any]:
    """Walks up from a turn as long as the ordinals are greater than the given one."""
    columns = (turns.c.num, turns.c.parent_id, turns.c.ordinal)
    later = turns.c.ordinal > bindparam("after")
    leaf = select(*columns).where(turns.c.id == bindparam("leaf"), later)
    above = leaf.cte("above", recursive=True)
    found = above.union_all(select(*columns).where(turns.c.id == above.c.parent_id, later))
    return select(found.c.num).order_by(found.c.ordinal).limit(1)


_LATER = Prepared(_walk_to())
_EPOCH = Prepared(select(turns.c.epoch).where(turns.c.id == bindparam("id")))
_TREE = Prepared(
    select(turns.c.id, turns.c.parent_id)
    .where(turns.c.conversation_id == bindparam("of"))
    .order_by(turns.c.ordinal)
)
_FOLLOWED = Prepared(
    select(turns.c.num)
    .where(
        turns.c.conversation_id == bindparam("of"),
        turns.c.ordinal > bindparam("after"),
        turns.c.parent_id == bindparam("id"),
    )
    .limit(1)
)


def get(connection: Connection, turn_id: str) -> Turn:
    row = _BY_ID.row(connection, id=turn_id)
    if row is None:
        raise NotFound("turn not found")
    return made(row)


def find(connection: Connection, turn_id: str) -> Turn | None:
    row = _BY_ID.row(connection, id=turn_id)
    return made(row) if row else None


def owned(connection: Connection, turn_id: str, user_id: str) -> Turn:
    """A person's own turn. Another person's turn and a missing one look the same."""
    row = _OWNED.row(connection, id=turn_id, user_id=user_id)
    if row is None:
        raise NotFound("turn not found")
    return made(row)


def at(connection: Connection, conversation_id: str, ordinal: int) -> Turn | None:
    """The turn at this ordinal of a conversation."""
    where = (turns.c.conversation_id == conversation_id, turns.c.ordinal == ordinal)
    row = connection.execute(select(turns).where(*where)).first()
    return made(row) if row else None


def numbered(connection: Connection, num: int) -> Turn | None:
    row = _BY_NUM.row(connection, num=num)
    return made(row) if row else None


def exists(connection: Connection, num: int) -> bool:
    return _EXISTS.row(connection, num=num) is not None


def above(connection: Connection, conversation_id: str, leaf: str | None, limit: int) -> list[Entry]:
    """The branch that ends in this turn, from there upwards, at most `limit` turns."""
    if leaf is None:
        return []
    return [Entry(*row) for row in _ABOVE.rows(connection, leaf=leaf, of=conversation_id, limit=limit)]


def later(connection: Connection, leaf: Turn, ordinal: int) -> Turn | None:
    """The first turn with a greater ordinal on the branch that ends in `leaf`."""
    row = _LATER.row(connection, leaf=leaf.id, after=ordinal)
    return numbered(connection, row[0]) if row else None


def entries(connection: Connection, conversation_id: str, after: int, limit: int) -> list[Entry]:
    """The turns of a conversation after this ordinal, oldest first, at most `limit`."""
    return [Entry(*row) for row in _ENTRIES.rows(connection, of=conversation_id, after=after, limit=limit)]


def tree(connection: Connection, conversation_id: str) -> list[Link]:
    """All turns of a conversation, oldest first, each with only its parent."""
    return [Link(*row) for row in _TREE.rows(connection, of=conversation_id)]


def followed(connection: Connection, turn: Turn) -> bool:
    """Whether another turn follows this one."""
    where = {"of": turn.conversation_id, "after": turn.ordinal, "id": turn.id}
    return _FOLLOWED.row(connection, **where) is not None


def epoch(connection: Connection, turn_id: str) -> int | None:
    """How often the turn was claimed; None if it does not exist."""
    row = _EPOCH.row(connection, id=turn_id)
    return row[0] if row else None


def unfinished(connection: Connection, conversation_id: str) -> list[int]:
    """The turns of a conversation that are being worked on or need work."""
    mine = (turns.c.conversation_id == conversation_id, or_(live(turns), turns.c.owner.is_not(None)))
    return list(connection.execute(select(turns.c.num).where(*mine)).scalars())


def live_of(connection: Connection, conversation_id: str) -> list[Turn]:
    """The turns of a conversation that have not ended."""
    mine = (turns.c.conversation_id == conversation_id, live(turns))
    return [made(row) for row in connection.execute(select(turns).where(*mine).order_by(turns.c.ordinal))]


def some(connection: Connection, numbers: Collection[int]) -> list[Turn]:
    """These turns, in the order of their ordinals."""
    statement = select(turns).where(turns.c.num.in_(numbers)).order_by(turns.c.ordinal)
    return [made(row) for row in connection.execute(statement)]


def underway(connection: Connection, turn_ids: Collection[str]) -> list[Underway]:
    """The turns of these that run or are about to."""
    parents = turns.alias("parents")
    above = func.coalesce(parents.c.message_count, 0) + 1
    statement = (
        select(turns.c.id, turns.c.num, turns.c.epoch, above)
        .join(parents, parents.c.id == turns.c.parent_id, isouter=True)
        .where(turns.c.id.in_(turn_ids), running(turns))
    )
    return [Underway(*row) for row in connection.execute(statement)]


def said(connection: Connection, numbers: Collection[int]) -> list[Said]:
    """These turns, oldest first, without columns that only their owner needs."""
    columns = (turns.c[name] for name in Said._fields)
    statement = select(*columns).where(turns.c.num.in_(numbers)).order_by(turns.c.ordinal)
    return [
        Said(
            num,
            turn_id,
            parent_id,
            status,
            bytes(content).decode(),
            json_data.loads(messages) if messages else None,
        )
        for num, turn_id, parent_id, status, content, messages in connection.execute(statement)
    ]


def count_queued(connection: Connection) -> int:
    """How many turns are queued."""
    queued = select(func.count()).select_from(turns).where(QUEUED)
    return connection.execute(queued).scalar_one()


def count_live(connection: Connection, user_id: str) -> int:
    """How many turns of this person have not ended."""
    mine = select(conversations.c.id).where(conversations.c.user_id == user_id)
    found = select(func.count()).select_from(turns).where(turns.c.conversation_id.in_(mine), live(turns))
    return connection.execute(found).scalar_one()


def made(row: Any) -> Turn:
    """A turn made from its row."""
    *first, content, messages, grants, created_at, ended_at, size, about, branch, states = row
    allowed = tuple(json_data.loads(grants)) if grants else ()
    texts = bytes(content).decode(), _messages(messages)
    begins = json_data.loads(states) if states else {}
    return Turn(*[*first, *texts, allowed, created_at, ended_at, size, about, branch, begins])


def _messages(stored: bytes | None) -> list[msg.Message] | None:
    return None if stored is None else [msg.from_dict(item) for item in json_data.loads(stored)]
