"""Changes: what the feed of each person tells, one row for each change that a list of conversations shows.

A change is noted while a transaction works, and written as its last statement, so that it is committed with
what changed or not at all. Each person's rows are numbered in the order in which they are committed. On
PostgreSQL a lock of the person ensures that. It is taken after all other locks, so it is in no deadlock, and
the commit that follows at once releases it. On SQLite the numbers grow with the clock: power loss may take
rows that were told, and no later row gets a number of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from sqlalchemy import BigInteger, Connection, bindparam, delete, func, insert, select, update

from caesura.core import json_data
from caesura.core.interrupts import Decision, Interrupt, Status
from caesura.store.schema import changes, conversations, now_ms
from caesura.store.statements import NOTED, Prepared, send

Kind = Literal["conversation", "deleted", "opened", "closed", "blank", "floor"]

#: Rows that are older, and more rows of one person than this, are removed.
KEPT_MS, MOST = 7 * 24 * 3600 * 1000, 10_000
#: How many characters of a question's description are kept. The question itself has all of it.
_DESCRIPTION = 2000
#: The first number of the locks, so that they are nobody else's.
_LOCK = 0x_CAE6


class Change(NamedTuple):
    """`ref` is the interrupt of a question that was opened or closed, and `body` says what is told of it.
    A `blank` row tells nothing any more. Rows before a `floor` were removed."""

    seq: int
    kind: Kind
    conversation_id: str
    ref: str
    body: Mapping[str, Any]


class _Noted(NamedTuple):
    kind: Kind
    conversation_id: str
    ref: str = ""
    body: bytes | None = None
    user_id: str | None = None


# --- noting


def note(connection: Connection, conversation_id: str) -> None:
    """Something that a list shows of this conversation has changed, or it was created."""
    _note(connection, _Noted("conversation", conversation_id))


def note_deleted(connection: Connection, user_id: str, conversation_id: str) -> None:
    _note(connection, _Noted("deleted", conversation_id, user_id=user_id))


def note_opened(connection: Connection, conversation_id: str, turn_id: str, item: Interrupt) -> None:
    """This question waits for a person now."""
    text = item.description
    told = {
        "id": item.id,
        "kind": item.kind,
        "label": item.label,
        "description": text if len(text) <= _DESCRIPTION else f"{text[:_DESCRIPTION]}…",
        "agent": item.agent,
        "expires_at": item.expires_at,
    }
    body = json_data.dumps({"interrupt": told, "turn_id": turn_id})
    _note(connection, _Noted("opened", conversation_id, item.id, body))
    note(connection, conversation_id)


class Closing(NamedTuple):
    """A question that no longer waits. If a person has answered it, `decision` is their decision."""

    conversation_id: str
    turn_id: str
    interrupt_id: str
    outcome: Status
    decision: Decision | None = None


def note_closed(connection: Connection, item: Closing) -> None:
    """This question no longer waits."""
    told = {"turn_id": item.turn_id, "outcome": item.outcome, "decision": item.decision}
    _note(connection, _Noted("closed", item.conversation_id, item.interrupt_id, json_data.dumps(told)))
    note(connection, item.conversation_id)


def _note(connection: Connection, item: _Noted) -> None:
    connection.info.setdefault(NOTED, []).append(item)


# --- writing, by the backends


def forget(connection: Connection) -> None:
    """A transaction begins: what an earlier one noted and did not write is void."""
    connection.info.pop(NOTED, None)


def write(connection: Connection) -> set[str]:
    """Write what the transaction has noted. Nothing may follow but its commit, which PostgreSQL gets in the
    same message. Returns whose changes they are."""
    noted: list[_Noted] | None = connection.info.pop(NOTED, None)
    if not noted:
        return set()
    # Of several changes of the same only the last one counts.
    items = list({item[:3]: item for item in reversed(noted)}.values())[::-1]
    if connection.dialect.name != "sqlite":
        columns = zip(*((item.user_id, *item[:4]) for item in items), strict=True)
        values = (*(list(column) for column in columns), _LOCK)
        return {row.user_id for row in send(connection, _WRITE_ALL, values, "COMMIT").rows}
    return {user_id for item in items for user_id in _write_one(connection, item)}


def _write_one(connection: Connection, item: _Noted) -> list[str]:
    user_id = item.user_id
    if user_id is None:
        owner = _OWNER.row(connection, id=item.conversation_id)
        if owner is None:
            return []  # it was deleted in the same transaction
        user_id = owner.user_id
    values = {"kind": item.kind, "conversation_id": item.conversation_id, "ref": item.ref, "body": item.body}
    _WRITE.count(connection, of=user_id, user_id=user_id, **values)
    return [user_id]


# --- reading


def head(connection: Connection, user_id: str) -> int:
    """The number of the person's newest change; 0 if there is none."""
    found: int | None = connection.execute(
        select(func.max(changes.c.seq)).where(changes.c.user_id == user_id)
    ).scalar()
    return found or 0


def is_known(connection: Connection, user_id: str, seq: int) -> bool:
    """Whether the person can have been told of this change, and all later ones are there."""
    first = connection.execute(_FLOOR, {"user_id": user_id}).scalar()
    if seq == 0:
        return first is None
    row = select(changes.c.seq).where(changes.c.seq == seq, changes.c.user_id == user_id)
    return seq >= (first or 0) and connection.execute(row).first() is not None


def after(connection: Connection, user_id: str, seq: int, limit: int) -> list[Change]:
    """The person's changes after this one, oldest first."""
    found = _AFTER.rows(connection, user_id=user_id, after=seq, limit=limit)
    return [
        Change(row.seq, row.kind, row.conversation_id, row.ref, json_data.loads(row.body) if row.body else {})
        for row in found
    ]


def news(connection: Connection, seen: Mapping[str, int]) -> set[str]:
    """Those of these people who have changes after the one that each has seen. For PostgreSQL."""
    found = send(connection, _NEWS, (list(seen), list(seen.values())))
    return {row.user_id for row in found.rows}


# --- removing


def outdated(connection: Connection) -> list[tuple[str, int]]:
    """The people who have changes to remove, each with the last of these."""
    old = select(changes.c.user_id, func.max(changes.c.seq)).where(changes.c.at < now_ms() - KEPT_MS)
    old = old.where(changes.c.kind != "floor").group_by(changes.c.user_id)
    last = {user_id: seq for user_id, seq in connection.execute(old)}
    many = select(changes.c.user_id).group_by(changes.c.user_id).having(func.count() > MOST + 1)
    for user_id in connection.execute(many).scalars():
        mine = select(changes.c.seq).where(changes.c.user_id == user_id).order_by(changes.c.seq.desc())
        seq = connection.execute(mine.offset(MOST).limit(1)).scalar_one()
        last[user_id] = max(seq, last.get(user_id, 0))
    return list(last.items())


def prune(connection: Connection, user_id: str, seq: int) -> None:
    """Remove this person's changes up to this one, in whose place a mark stays."""
    mine = changes.c.user_id == user_id
    connection.execute(delete(changes).where(mine, changes.c.seq < seq))
    connection.execute(
        update(changes).where(mine, changes.c.seq == seq).values(kind="floor", body=None, ref="")
    )


def blank(connection: Connection, user_id: str, conversation_id: str) -> None:
    """Remove what was told of the questions of a conversation that is deleted. The rows stay, because a
    cursor may name one."""
    mine = changes.c.user_id == user_id, changes.c.conversation_id == conversation_id
    told = changes.c.kind.in_(("opened", "closed"))
    connection.execute(update(changes).where(*mine, told).values(kind="blank", ref="", body=None))


def remove(connection: Connection, user_id: str) -> None:
    connection.execute(delete(changes).where(changes.c.user_id == user_id))


_OWNER = Prepared(select(conversations.c.user_id).where(conversations.c.id == bindparam("id")))
_NEWEST = select(func.max(changes.c.seq)).where(changes.c.user_id == bindparam("of")).scalar_subquery()
#: For SQLite. The larger of two numbers: the next one of the person, and the microseconds since 1970.
_WRITE = Prepared(
    insert(changes).values(
        seq=func.max(func.coalesce(_NEWEST, 0) + 1, now_ms() * 1000, type_=BigInteger), at=now_ms()
    )
)
_FLOOR = (
    select(changes.c.seq)
    .where(changes.c.user_id == bindparam("user_id"), changes.c.kind == "floor")
    .order_by(changes.c.seq.desc())
    .limit(1)
)
_AFTER = Prepared(
    select(changes)
    .where(changes.c.user_id == bindparam("user_id"), changes.c.seq > bindparam("after", type_=BigInteger))
    .order_by(changes.c.seq)
    .limit(bindparam("limit"))
)
_NEWS = (
    "SELECT w.user_id FROM unnest(%s::text[], %s::bigint[]) AS w(user_id, seen)"
    " WHERE EXISTS (SELECT 1 FROM changes c WHERE c.user_id = w.user_id AND c.seq > w.seen)"
)
#: One statement, because each costs a round trip. The locks are taken in order, and before any number is: a
#: row comes only after all locks are counted. A short time limit for locks, if one is set, is not for these.
_WRITE_ALL = (
    "WITH patient AS MATERIALIZED (SELECT set_config('lock_timeout', '5000', true)),"
    " noted AS MATERIALIZED (SELECT coalesce(n.user_id, c.user_id) AS user_id, n.kind, n.conversation_id,"
    " n.ref, n.body, n.place FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])"
    " WITH ORDINALITY AS n(user_id, kind, conversation_id, ref, body, place)"
    " LEFT JOIN conversations c ON c.id = n.conversation_id),"
    " held AS MATERIALIZED (SELECT pg_advisory_xact_lock(%s, p.key) FROM (SELECT DISTINCT"
    " hashtext(user_id) AS key FROM noted WHERE user_id IS NOT NULL ORDER BY 1) p, patient)"
    " INSERT INTO changes (user_id, seq, kind, conversation_id, ref, body, at)"
    " SELECT o.user_id, nextval('changes_seq'), o.kind, o.conversation_id, o.ref, o.body,"
    " CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    " FROM (SELECT n.* FROM (SELECT count(*) AS locks FROM held) h, noted n"
    " WHERE n.user_id IS NOT NULL AND h.locks > 0 ORDER BY n.place) o RETURNING user_id"
)
