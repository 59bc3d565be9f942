"""The log: what an event costs from `put` to its reader, how long it takes, and what stays on disk."""

from __future__ import annotations

import asyncio
import gc
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, aclosing, closing
from pathlib import Path
from typing import Self

import psycopg
from sqlalchemy import Connection

from bench import places
from bench.measure import Line, Spent, Table, middle, on_loop, percentile, spent
from caesura.core import codec, ids
from caesura.core.events import Event, Finished, SegmentEnded, TextDelta
from caesura.core.turns import Turn
from caesura.log import Log, Stream
from caesura.log.bulk import Bulk
from caesura.store import conversations, life, shares, turns, users
from caesura.store.database import Database
from caesura.store.open import open_database

_WORDS = random.Random(1)
#: About five characters each, and about as repetitive as language is.
TOKENS = [
    " " + "".join(_WORDS.choices("etaoinshrdlucmfwypvbgkqjxz", range(26, 0, -1), k=_WORDS.randint(2, 6)))
    for _ in range(2000)
]
CPU_GOAL = 15.0
BYTES_GOAL = 40.0
_TURN = 500
_TABLE = (
    "CREATE TABLE bare (turn bigint, first int, last int, at bigint, version smallint, body {},"
    " PRIMARY KEY (turn, first))"
)


def run(quick: bool) -> Iterator[Table]:
    with places.sqlite() as url:
        yield on_loop(_deliver("SQLite", url, quick))
    with places.sqlite() as url:
        yield on_loop(_store("SQLite", url, quick))
    with places.postgres() as shared:
        if shared is not None:
            yield on_loop(_deliver("PostgreSQL (without the server's own processor time)", shared, quick))
            yield on_loop(_store("PostgreSQL (without the server's own processor time)", shared, quick))


async def _deliver(where: str, url: str, quick: bool) -> Table:
    table = Table(f"log, put to reader, on {where}; baseline: an asyncio.Queue for each stream")
    database = await open_database(url)
    gc.freeze()  # as the server does
    gc.set_threshold(10_000, 20, 50)
    for streams in (1, 100, 300):
        table.lines += await _throughput(database, streams, quick)
    table.lines += await _paced(database, 300, 100 if quick else 200)
    table.lines += await _beside_endings(database, 300 if quick else 1000)
    table.lines += await _latency(database, 200 if quick else 1000)
    await database.close()
    return table


async def _store(where: str, url: str, quick: bool) -> Table:
    table = Table(f"log, writing, on {where}; baseline: bare inserts of the same rows in one transaction")
    database = await open_database(url)
    rounds, times = (40, 3) if quick else (150, 3)
    ours = await middle(times, lambda: _in_step(database, 100, rounds))
    bare = await middle(times, lambda: spent(asyncio.to_thread(_insert_bare, url, 100 * rounds)))
    per_event = 1e6 / (100 * rounds)
    table.lines += [
        Line(
            "CPU per event, 100 streams and readers, each commit one token of each",
            ours.cpu * per_event,
            bare.cpu * per_event,
            "µs",
        ),
    ]
    await database.close()
    table.lines.append(await _disk(url, 5 if quick else 20))
    return table


async def _throughput(database: Database, streams: int, quick: bool) -> list[Line]:
    events = (12_000 if quick else 45_000) // streams
    times = 3
    ours = await middle(times, lambda: _write_and_read(database, streams, events))
    queue = await middle(times, lambda: spent(_through_queues(streams, events)))
    total = streams * events
    name = f"{streams} stream{'s' if streams > 1 else ''}"
    return [
        Line(f"events a second, {name} always ready", total / ours.wall, total / queue.wall),
        Line(
            f"CPU per event, {name} always ready",
            ours.cpu / total * 1e6,
            queue.cpu / total * 1e6,
            "µs",
            goal=CPU_GOAL if streams == 100 and not database.shared else None,
        ),
    ]


async def _write_and_read(database: Database, streams: int, events: int) -> Spent:
    """Each stream puts its tokens one at a time, letting others go first, and has a reader."""
    log = Log(database)
    opened = await _open(log, database, streams)

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            for stream in opened:
                group.create_task(_read(log, stream.turn, events))
                group.create_task(_write(stream, events))

    return await spent(work())


async def _write(stream: Stream, events: int) -> None:
    for number in range(events):
        stream.put(_token(number))
        await stream.breathe()
    await stream.commit()


async def _read(log: Log, turn: int, events: int) -> None:
    async with aclosing(log.follow(turn)) as pieces:
        async for envelopes in pieces:
            if envelopes[-1].seq == events:
                return


async def _through_queues(streams: int, events: int) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(streams):
            queue: asyncio.Queue[Event] = asyncio.Queue()
            group.create_task(_take(queue, events))
            group.create_task(_give(queue, events))


async def _give(queue: asyncio.Queue[Event], events: int) -> None:
    for number in range(events):
        queue.put_nowait(_token(number))
        await asyncio.sleep(0)


async def _take(queue: asyncio.Queue[Event], events: int) -> None:
    for _ in range(events):
        await queue.get()


async def _in_step(database: Database, streams: int, rounds: int) -> Spent:
    """Every stream has one token ready; the next round begins when all readers have theirs."""
    log = Log(database)
    opened = await _open(log, database, streams)
    arrived = asyncio.Semaphore(0)
    readers = [asyncio.create_task(_count(log, stream.turn, rounds, arrived)) for stream in opened]

    async def work() -> None:
        for number in range(rounds):
            for stream in opened:
                stream.put(_token(number))
            for _ in opened:
                await arrived.acquire()

    found = await spent(work())
    await asyncio.gather(*readers)
    return found


async def _count(log: Log, turn: int, events: int, arrived: asyncio.Semaphore) -> None:
    async with aclosing(log.follow(turn)) as pieces:
        async for envelopes in pieces:
            for _ in envelopes:
                arrived.release()
            if envelopes[-1].seq == events:
                return


async def _paced(database: Database, streams: int, events: int) -> list[Line]:
    """As models speak: a token every 10 ms in each stream. What it costs, how late it is at its reader."""
    log = Log(database)
    opened = await _open(log, database, streams)
    ours: list[float] = []
    theirs: list[float] = []
    with ExitStack() as running:
        for stream in opened:
            running.enter_context(log.live(stream))
        cost = await spent(_speak_through_the_log(log, opened, events, ours))
    bare = await spent(_speak_through_queues(streams, events, theirs))
    per_event = 1e6 / (streams * events)
    name = f"{streams} streams, a token every 10 ms"
    lateness = [
        Line(f"{name}: put to reader, p{p}", percentile(ours, p) * 1e3, percentile(theirs, p) * 1e3, "ms")
        for p in (50, 99)
    ]
    return [Line(f"{name}: CPU per event", cost.cpu * per_event, bare.cpu * per_event, "µs"), *lateness]


async def _speak_through_the_log(log: Log, opened: list[Stream], events: int, late: list[float]) -> None:
    async def write(stream: Stream) -> None:
        async for number in _beats(events):
            stream.put(_token(number))

    async def read(turn: int) -> None:
        async with aclosing(log.follow(turn)) as pieces:
            async for envelopes in pieces:
                now = time.time()
                late.extend(now - envelope.at / 1000 for envelope in envelopes)
                if envelopes[-1].seq == events:
                    return

    async with asyncio.TaskGroup() as group:
        for stream in opened:
            group.create_task(read(stream.turn))
            group.create_task(write(stream))


async def _speak_through_queues(streams: int, events: int, late: list[float]) -> None:
    async def give(queue: asyncio.Queue[float]) -> None:
        async for _ in _beats(events):
            queue.put_nowait(time.perf_counter())

    async def take(queue: asyncio.Queue[float]) -> None:
        for _ in range(events):
            put_at = await queue.get()
            late.append(time.perf_counter() - put_at)

    async with asyncio.TaskGroup() as group:
        for _ in range(streams):
            queue: asyncio.Queue[float] = asyncio.Queue()
            group.create_task(take(queue))
            group.create_task(give(queue))


async def _beats(count: int) -> AsyncIterator[int]:
    """Numbers, one every 10 ms from a random moment on; late ones do not push back those that follow."""
    loop = asyncio.get_running_loop()
    due = loop.time() + random.random() / 100
    for number in range(count):
        await asyncio.sleep(due - loop.time())
        yield number
        due += 0.01


class _Over(Bulk):
    """The rows of a turn that has ended, as the engine writes them."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    @classmethod
    def write_all(cls, connection: Connection, items: Sequence[Self]) -> None:
        life.settle(connection, [life.Settled(item._turn, "done", [], 1, released=True) for item in items])
        shares.charge(connection, *(item._turn.num for item in items))


async def _beside_endings(database: Database, count: int) -> list[Line]:
    """A token every 10 ms in one stream, while the turns of all others end together."""
    log = Log(database)
    (lone,) = await _open(log, database, 1)
    opened = await _open(log, database, count)
    made = await database.read(turns.some, [stream.turn for stream in opened])
    late: list[float] = []
    ended = asyncio.Event()

    async def write() -> None:
        async for number in _beats(1 << 20):
            lone.put(_token(number))
            if ended.is_set():
                return

    async def read() -> None:
        async with aclosing(log.follow(lone.turn)) as pieces:
            async for envelopes in pieces:
                late.extend(time.time() - envelope.at / 1000 for envelope in envelopes)

    reading = asyncio.create_task(read())
    writing = asyncio.create_task(write())
    await asyncio.sleep(0.1)
    streams = {stream.turn: stream for stream in opened}
    took = await spent(
        asyncio.gather(
            *(streams[turn.num].commit(Finished(), SegmentEnded(), also=_Over(turn)) for turn in made)
        )
    )
    ended.set()
    await writing
    await lone.commit()
    reading.cancel()
    name = f"{count} turns that end together"
    return [
        Line(f"{name}: until all have ended", took.wall * 1e3, unit="ms"),
        Line(f"a token every 10 ms beside {name}: put to reader, p99", percentile(late, 99) * 1e3, unit="ms"),
        Line(f"a token every 10 ms beside {name}: put to reader, longest", max(late) * 1e3, unit="ms"),
    ]


async def _latency(database: Database, samples: int) -> list[Line]:
    log = Log(database)
    (stream,) = await _open(log, database, 1)
    queue: asyncio.Queue[float] = asyncio.Queue()
    ours: list[float] = []
    theirs: list[float] = []
    put_at = 0.0

    async def read() -> None:
        async with aclosing(log.follow(stream.turn)) as pieces:
            async for envelopes in pieces:
                ours.append(time.perf_counter() - put_at)
                if envelopes[-1].seq == samples:
                    return

    async def take() -> None:
        for _ in range(samples):
            theirs.append(-await queue.get() + time.perf_counter())

    async with asyncio.TaskGroup() as group:
        group.create_task(read())
        group.create_task(take())
        for number in range(samples):
            await asyncio.sleep(0.002)
            put_at = time.perf_counter()
            stream.put(_token(number))
            await asyncio.sleep(0.002)
            queue.put_nowait(time.perf_counter())
    return [
        Line(
            f"a lone token to its reader, p{p}", percentile(ours, p) * 1e3, percentile(theirs, p) * 1e3, "ms"
        )
        for p in (50, 99)
    ]


async def _disk(url: str, count: int) -> Line:
    """Every token in a commit of its own; the turn is packed when it ends."""
    total = count * _TURN
    grown = await _grown(url, count)
    bare = await asyncio.to_thread(_insert_bare, url, total)
    what = f"on disk for a token, each in a commit of its own, {count} turns of {_TURN}, packed"
    return Line(what, grown / total, bare / total, "bytes", goal=BYTES_GOAL)


async def _grown(url: str, count: int) -> int:
    database = await open_database(url)
    log = Log(database)
    opened = await _open(log, database, count)
    before = _size(url)
    for stream in opened:
        for number in range(_TURN):
            await stream.commit(_token(number))
        await log.pack(stream.turn, 1)
        if database.shared:
            _vacuum(url)  # the server does it by itself before long
    await database.close()
    return _size(url) - before


async def _open(log: Log, database: Database, count: int) -> list[Stream]:
    numbers = [
        number for _ in range(0, count, 100) for number in await database.write(_make, min(count, 100))
    ]
    return [await log.open(number, 1) for number in numbers]


def _make(connection: Connection, count: int) -> list[int]:
    name = ids.token()
    users.create(connection, name, "hash")
    made: list[int] = []
    for _ in range(count):
        place = conversations.create(connection, ids.conversation(), name, "demo")
        made.append(
            life.create(connection, life.New(place.id, "hello", owner="node-1", lease_ms=3_600_000)).num
        )
    return made


def _token(number: int) -> Event:
    return TextDelta(1, TOKENS[number * number % len(TOKENS)])


def _size(url: str) -> int:
    """Of the file and its write-ahead log, or of the table and its index."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        beside = path.with_name(f"{path.name}-wal")
        return path.stat().st_size + (beside.stat().st_size if beside.exists() else 0)
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_total_relation_size('events')").fetchone()
        return int(row[0]) if row else 0


def _vacuum(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM events")


def _insert_bare(url: str, count: int) -> int:
    """Insert one row for each token, and say how large the table is."""
    rows = [(n, 1, 1, 1_700_000_000_000, 1, codec.encode([_token(n)])) for n in range(count)]
    if url.startswith("sqlite"):
        with places.sqlite() as bare, closing(sqlite3.connect(bare.removeprefix("sqlite:///"))) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_TABLE.format("blob") + " WITHOUT ROWID")
            connection.executemany("INSERT INTO bare VALUES (?, ?, ?, ?, ?, ?)", rows)
            connection.commit()
            return _size(bare)
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS bare")
        connection.execute(_TABLE.format("bytea"))
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO bare VALUES (%s, %s, %s, %s, %s, %s)", rows)
        row = connection.execute("SELECT pg_total_relation_size('bare')").fetchone()
        return int(row[0]) if row else 0
