"""Rows of events: each holds a run of consecutive events of one turn. Written only through the log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from caesura.core import codec
from caesura.core.events import Envelope, RunStarted
from caesura.store import shares
from caesura.store.prepared import Prepared, run
from caesura.store.schema import events, turns
from caesura.store.turns import hold

_PACK = 512
_ALL = 1 << 30

#: The fence is part of the insert: a row goes in only if its epoch owns the turn.
_INSERT_SQLITE = (
    "INSERT INTO events (turn, first, last, at, version, body)"
    " SELECT n.column1, n.column2, n.column3, n.column4, n.column5, n.column6"
    " FROM (VALUES {}) AS n JOIN turns t ON t.num = n.column1 AND t.epoch = n.column7"
)
_ROW = "(?, ?, ?, ?, ?, ?, ?)"
#: SQLite takes 32,766 values in one statement.
_MOST = 2_048
_INSERT_POSTGRESQL = (
    "INSERT INTO events (turn, first, last, at, version, body)"
    " SELECT n.turn, n.first, n.last, n.at, n.version, n.body FROM turns t"
    " JOIN unnest(%s::bigint[], %s::int[], %s::int[], %s::bigint[], %s::smallint[], %s::bytea[], %s::int[])"
    " AS n(turn, first, last, at, version, body, epoch) ON t.num = n.turn AND t.epoch = n.epoch"
    " ORDER BY t.num FOR NO KEY UPDATE OF t"
)


class Rows(NamedTuple):
    """A run of consecutive events of one turn, as stored."""

    turn: int
    epoch: int
    first: int
    last: int
    at: int
    body: bytes


class Stored(NamedTuple):
    """A row of a log as it is read."""

    first: int
    at: int
    version: int
    body: bytes


# Built once: building a statement costs more than running it.
_OF = events.c.turn == bindparam("turn")
_NEWEST = select(events.c.last).where(_OF).order_by(events.c.first.desc()).limit(1)
_LAST = Prepared(_NEWEST)
_LAST_OWNED = Prepared(_NEWEST.where(events.c.turn == turns.c.num, turns.c.epoch == bindparam("epoch")))
#: The row that holds the next event begins at or before it.
_BEGIN = select(func.max(events.c.first)).where(_OF, events.c.first <= bindparam("next"))
_READ = Prepared(
    select(events.c.first, events.c.at, events.c.version, events.c.body)
    .where(_OF, events.c.first >= func.coalesce(_BEGIN.scalar_subquery(), 0))
    .order_by(events.c.first)
    .limit(bindparam("limit"))
)
_LOOSE = Prepared(
    select(events.c.first, events.c.last, events.c.at, events.c.body)
    .where(_OF, events.c.version == codec.VERSION)
    .order_by(events.c.first)
)
_DELETE_LOOSE = Prepared(
    delete(events).where(
        _OF,
        events.c.version == codec.VERSION,
        events.c.first.between(bindparam("begin"), bindparam("end")),
    )
)
_INSERT = Prepared(insert(events))


def insert_fenced(connection: Connection, rows: Sequence[Rows]) -> set[tuple[int, int]]:
    """Insert what its epoch still owns; the turns and epochs that were refused."""
    lines = [(r.turn, r.first, r.last, r.at, codec.VERSION, r.body, r.epoch) for r in rows]
    if connection.dialect.name == "sqlite":
        count = sum(_insert_sqlite(connection, lines[i : i + _MOST]) for i in range(0, len(lines), _MOST))
    else:
        columns = tuple([line[place] for line in lines] for place in range(7))
        count = connection.exec_driver_sql(_INSERT_POSTGRESQL, columns).rowcount
    return set() if count == len(rows) else _refused(connection, rows)


def _insert_sqlite(connection: Connection, lines: Sequence[tuple[Any, ...]]) -> int:
    # Few statements for all: each step of one lets go of the interpreter, and must get it back. And of a few
    # sizes only, so that SQLite knows them already.
    count = start = 0
    while start < len(lines):
        size = 1 << ((len(lines) - start).bit_length() - 1)
        part = list(chain.from_iterable(lines[start : start + size]))
        count += run(connection, _insert_many(size), part)[0].rowcount
        start += size
    return count


@cache
def _insert_many(size: int) -> str:
    return _INSERT_SQLITE.format(", ".join([_ROW] * size))


def last(connection: Connection, turn: int, epoch: int | None = None) -> int:
    """The number of the newest event; 0 when there is none, or when this epoch does not own the turn."""
    row = (
        _LAST.row(connection, turn=turn)
        if epoch is None
        else _LAST_OWNED.row(connection, turn=turn, epoch=epoch)
    )
    return row[0] if row else 0


def ends(connection: Connection, numbers: Collection[int]) -> dict[int, int]:
    """The number of the newest event of each of these turns that has any."""
    statement = select(events.c.turn, func.max(events.c.last)).where(events.c.turn.in_(numbers))
    return {turn: end for turn, end in connection.execute(statement.group_by(events.c.turn))}


def stored(connection: Connection, turn: int) -> list[Stored]:
    """The whole log as it is stored: whoever wants the events decodes it, outside of the transaction."""
    rows = _READ.rows(connection, turn=turn, next=1, limit=_ALL)
    return [Stored(row.first, row.at, row.version, bytes(row.body)) for row in rows]


def decoded(rows: Iterable[Stored]) -> Iterator[Envelope]:
    for row in rows:
        yield from codec.decode(row.version, row.body, row.first, row.at)


def read(connection: Connection, turn: int, after: int, limit: int) -> list[Envelope]:
    """Up to about `limit` events strictly after a number, in order, without gaps."""
    found: list[Envelope] = []
    for row in _READ.rows(connection, turn=turn, next=after + 1, limit=limit):
        found += codec.decode(row.version, bytes(row.body), row.first, row.at)
        if found[-1].seq - after >= limit:
            break
    return [item for item in found if item.seq > after]


def starts(connection: Connection, turn: int, after: int = 0) -> list[tuple[int, RunStarted]]:
    """Where the attempts after a number begin: the number of each `RunStarted`, and the event."""
    found = _READ.rows(connection, turn=turn, next=after + 1, limit=_ALL)
    rows = (codec.starts(row.version, bytes(row.body), row.first, row.at) for row in found)
    items = chain.from_iterable(rows)
    return [(seq, event) for seq, _, event in items if isinstance(event, RunStarted) and seq > after]


def pack(connection: Connection, turn: int, epoch: int) -> None:
    """Put the rows of an ended turn together into few compressed ones. Readers cannot tell."""
    hold(connection, turn, epoch)
    rows = _LOOSE.rows(connection, turn=turn)
    if len(rows) < 2:
        return
    packed = [_packed(turn, part) for part in _parts(rows)]
    _DELETE_LOOSE.count(connection, turn=turn, begin=rows[0].first, end=rows[-1].first)
    for row in packed:
        _INSERT.count(connection, **row)
    shares.charge(connection, turn)


def _parts(rows: Sequence[Any]) -> Iterator[list[Any]]:
    """Runs of rows without a gap between them, of about as many events as one row should hold."""
    part: list[Any] = []
    for row in rows:
        if part and (row.first != part[-1].last + 1 or row.last - part[0].first >= _PACK):
            yield part
            part = []
        part.append(row)
    yield part


def _packed(turn: int, part: Sequence[Any]) -> dict[str, Any]:
    body = codec.pack([(row.at, bytes(row.body)) for row in part])
    place = {"turn": turn, "first": part[0].first, "last": part[-1].last, "at": part[0].at}
    return place | {"version": codec.PACKED, "body": body}


def _refused(connection: Connection, rows: Sequence[Rows]) -> set[tuple[int, int]]:
    wanted = {(row.turn, row.epoch) for row in rows}
    numbers = {turn for turn, _ in wanted}
    owned = connection.execute(select(turns.c.num, turns.c.epoch).where(turns.c.num.in_(numbers)))
    return wanted - {(row.num, row.epoch) for row in owned}
