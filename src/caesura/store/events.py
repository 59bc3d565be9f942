"""Rows of events: each holds a run of consecutive events of one turn. Written only through the log."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import chain, repeat
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, bindparam, delete, func, insert, select

from caesura.core import codec
from caesura.core.events import Envelope, RunStarted
from caesura.store import shares
from caesura.store.fence import NONE_REFUSED, Refused, hold, refused
from caesura.store.schema import events, turns
from caesura.store.statements import Prepared, run, savepoint, send

#: A packed row has about this many events, of about this many bytes before compression.
_PACK, _PACK_BYTES = 512, 256 * 1024
#: More events, and more bytes, than any log has.
_ALL, _ALL_BYTES = 1 << 30, 1 << 62

#: The fence is part of the insert: a row is inserted only if its epoch owns the turn.
_INSERT_SQLITE = (
    "INSERT INTO events (turn, first, last, at, version, body)"
    " SELECT n.column1, n.column2, n.column3, n.column4, n.column5, n.column6"
    " FROM (VALUES {}) AS n JOIN turns t ON t.num = n.column1 AND t.epoch = n.column7"
)
_ROW = "(?, ?, ?, ?, ?, ?, ?)"
#: At most this many rows in one statement: SQLite accepts 32,766 values.
_MOST = 2_048
#: If somebody else has locked a turn, its events are left out.
_INSERT_POSTGRESQL = (
    "WITH held AS (SELECT num, epoch FROM turns WHERE num = ANY(%s::bigint[])"
    " ORDER BY num FOR NO KEY UPDATE SKIP LOCKED)"
    " INSERT INTO events (turn, first, last, at, version, body)"
    " SELECT n.turn, n.first, n.last, n.at, n.version, n.body FROM held t"
    " JOIN unnest(%s::bigint[], %s::int[], %s::int[], %s::bigint[], %s::smallint[], %s::bytea[], %s::int[])"
    " AS n(turn, first, last, at, version, body, epoch) ON t.num = n.turn AND t.epoch = n.epoch"
    " RETURNING turn"
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
    """A row of a log, as read."""

    first: int
    at: int
    version: int
    body: bytes


# Built once: building a statement costs more than running it.
_OF = events.c.turn == bindparam("turn")
_NEWEST = select(events.c.last).where(_OF).order_by(events.c.first.desc()).limit(1)
_LAST = Prepared(_NEWEST)
_LAST_OWNED = Prepared(_NEWEST.where(events.c.turn == turns.c.num, turns.c.epoch == bindparam("epoch")))
#: The row that holds the next event has the largest `first` at or before it.
_BEGIN = select(func.max(events.c.first)).where(_OF, events.c.first <= bindparam("next"))
_STORED = (events.c.first, events.c.at, events.c.version, events.c.body)
_WITHIN = (
    _OF,
    events.c.first >= func.coalesce(_BEGIN.scalar_subquery(), 0),
    events.c.first <= bindparam("final"),
)
_READ = Prepared(select(*_STORED).where(*_WITHIN).order_by(events.c.first))


def _bounded() -> Select[Any]:
    """For PostgreSQL, which sends all rows that it finds: no rows after those that have enough bytes."""
    total = func.sum(func.length(events.c.body)).over(order_by=events.c.first, rows=(None, 0))
    before = (total - func.length(events.c.body)).label("before")
    found = select(*_STORED, before).where(*_WITHIN).subquery()
    rows = select(found.c.first, found.c.at, found.c.version, found.c.body)
    return rows.where(found.c.before < bindparam("size", type_=BigInteger)).order_by(found.c.first)


_READ_BOUNDED = Prepared(_bounded())
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


def insert_fenced(connection: Connection, rows: Sequence[Rows]) -> Refused:
    """Insert the rows whose epoch still owns the turn, unless the turn is locked. Returns those that were
    refused."""
    lines = [(r.turn, r.first, r.last, r.at, codec.VERSION, r.body, r.epoch) for r in rows]
    wanted = {(row.turn, row.epoch) for row in rows}
    if connection.dialect.name == "sqlite":
        count = _insert_sqlite(connection, lines)
        return NONE_REFUSED if count == len(rows) else refused(connection, wanted)
    inserted = [row.turn for row in send(connection, _INSERT_POSTGRESQL, _arrays(lines)).rows]
    return NONE_REFUSED if len(inserted) == len(rows) else refused(connection, wanted, set(inserted))


def _arrays(lines: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
    """The columns as PostgreSQL array literals: the driver is far slower at converting lists."""
    *numbers, bodies, epochs = zip(*lines, strict=True)
    turn, *others = (_array(map(str, column)) for column in numbers)
    body = _array(f'"\\\\x{value.hex()}"' for value in bodies)
    return (turn, turn, *others, body, _array(map(str, epochs)))


def _array(items: Iterable[str]) -> str:
    return f"{{{','.join(items)}}}"


def _insert_sqlite(connection: Connection, lines: Sequence[tuple[Any, ...]]) -> int:
    if len(lines) > _MOST:
        with savepoint(connection):
            return sum(_insert_sqlite(connection, lines[i : i + _MOST]) for i in range(0, len(lines), _MOST))
    # One statement for all rows: each statement releases the interpreter lock and must get it back. Only a
    # few sizes are used, so that SQLite has them cached. Empty rows, which match no turn, fill them up.
    size = _size_for(len(lines))
    values = chain(chain.from_iterable(lines), repeat(None, 7 * (size - len(lines))))
    return run(connection, _insert_many(size), list(values))[0].rowcount


def _size_for(count: int) -> int:
    """The next size that is used: at most an eighth larger."""
    step = 1 << max(count.bit_length() - 4, 0)
    return -(-count // step) * step


@cache
def _insert_many(size: int) -> str:
    return _INSERT_SQLITE.format(", ".join([_ROW] * size))


def last(connection: Connection, turn: int, epoch: int | None = None) -> int:
    """The number of the newest event; 0 if there is none, or if this epoch does not own the turn."""
    row = (
        _LAST.row(connection, turn=turn)
        if epoch is None
        else _LAST_OWNED.row(connection, turn=turn, epoch=epoch)
    )
    return row[0] if row else 0


def ends(connection: Connection, numbers: Collection[int]) -> dict[int, int]:
    """The number of the newest event of each of these turns. Turns without events are left out."""
    statement = select(events.c.turn, func.max(events.c.last)).where(events.c.turn.in_(numbers))
    return {turn: end for turn, end in connection.execute(statement.group_by(events.c.turn))}


def stored(connection: Connection, turn: int, size: int = _ALL_BYTES) -> list[Stored]:
    """The log as stored, from its beginning, about `size` bytes of it. Callers decode the events outside of
    the transaction."""
    found: list[Stored] = []
    with closing(_rows(connection, turn, 0, _ALL, size)) as rows:
        for row in rows:
            found.append(row)
            size -= len(row.body)
            if size <= 0:
                break
    return found


def decoded(rows: Iterable[Stored]) -> Iterator[Envelope]:
    for row in rows:
        yield from codec.decode(row.version, row.body, row.first, row.at)


def read(connection: Connection, turn: int, after: int, limit: int) -> list[Envelope]:
    """At most about `limit` events strictly after the event `after`, in order, without gaps."""
    return window(connection, turn, after, limit, _ALL_BYTES)[0]


def window(
    connection: Connection, turn: int, after: int, limit: int, size: int
) -> tuple[list[Envelope], int]:
    """As `read`, with at most about `size` bytes, but at least one row. Also returns the size in bytes."""
    found: list[Envelope] = []
    held = 0
    with closing(_rows(connection, turn, after, limit, size)) as rows:
        for row in rows:
            decoded, more = codec.measured(row.version, row.body, row.first, row.at)
            found += decoded
            held += more
            if held >= size or found[-1].seq - after >= limit:
                break
    return [item for item in found if item.seq > after], held


def _rows(
    connection: Connection, turn: int, after: int, limit: int, size: int
) -> Generator[Stored, None, None]:
    """The rows that hold the events after a number, one by one."""
    where = {"turn": turn, "next": after + 1, "final": after + limit}
    if connection.dialect.name == "sqlite":
        rows = _READ.each(connection, **where)
    else:
        rows = _READ_BOUNDED.each(connection, **where, size=size)
    for first, at, version, body in rows:
        yield Stored(first, at, version, bytes(body))


def starts(
    connection: Connection, turn: int, after: int = 0, final: int = _ALL
) -> list[tuple[int, RunStarted]]:
    """Each `RunStarted` after one number and up to another, with its own number."""
    found = _READ.each(connection, turn=turn, next=after + 1, final=final)
    rows = (codec.starts(version, bytes(body), first, at) for first, at, version, body in found)
    items = chain.from_iterable(rows)
    return [(seq, event) for seq, _, event in items if isinstance(event, RunStarted) and after < seq <= final]


def pack(connection: Connection, turn: int, epoch: int) -> None:
    """Combine the rows of an ended turn into few compressed ones. Readers see no difference."""
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
    """Runs of rows without gaps, each of about as many events and bytes as one packed row should hold."""
    part: list[Any] = []
    size = 0
    for row in rows:
        size += len(row.body)
        full = part and (row.last - part[0].first >= _PACK or size > _PACK_BYTES)
        if full or (part and row.first != part[-1].last + 1):
            yield part
            part, size = [], len(row.body)
        part.append(row)
    yield part


def _packed(turn: int, part: Sequence[Any]) -> dict[str, Any]:
    body = codec.pack([(row.at, bytes(row.body)) for row in part])
    place = {"turn": turn, "first": part[0].first, "last": part[-1].last, "at": part[0].at}
    return place | {"version": codec.PACKED, "body": body}
