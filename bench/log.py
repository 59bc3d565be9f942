"""The log: what an event costs from `put` to its reader, how long it takes, and what stays on disk."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import psycopg
from sqlalchemy import Connection, text

from bench import places
from bench.measure import Line, Spent, Table, middle, on_loop, percentile, spent
from caesura.core import codec, ids
from caesura.core.events import Event, TextDelta
from caesura.log import Log, Stream
from caesura.store import conversations, turns, users
from caesura.store.database import Database
from caesura.store.open import open_database

TOKENS = ("Hello", " this", " is a", " word", " or 2")
CPU_GOAL = 15.0
BYTES_GOAL = 40.0
_TABLE = (
    "CREATE TABLE {}events (turn bigint, first int, last int, at bigint, version smallint, body {},"
    " PRIMARY KEY (turn, first))"
)


def run(quick: bool) -> Iterator[Table]:
    with places.sqlite() as url:
        yield on_loop(_deliver("SQLite", url, quick))
        yield on_loop(_store("SQLite", url, quick))
    with places.postgres() as url:
        if url is not None:
            yield on_loop(_deliver("PostgreSQL (without the server's own processor time)", url, quick))
            yield on_loop(_store("PostgreSQL (without the server's own processor time)", url, quick))


async def _deliver(where: str, url: str, quick: bool) -> Table:
    table = Table(f"log, put to reader, on {where}; baseline: an asyncio.Queue for each stream")
    database = await open_database(url)
    for streams in (1, 100, 300):
        table.lines += await _throughput(database, streams, quick)
    table.lines += await _latency(database, 200 if quick else 1000)
    await database.close()
    return table


async def _store(where: str, url: str, quick: bool) -> Table:
    table = Table(f"log, writing, on {where}; baseline: bare inserts of the same rows in one transaction")
    database = await open_database(url)
    rounds, times = (40, 3) if quick else (200, 5)
    ours = await middle(times, lambda: _in_step(database, 100, rounds))
    bare = await middle(times, lambda: spent(asyncio.to_thread(_insert_bare, url, 100 * rounds)))
    per_event = 1e6 / (100 * rounds)
    table.lines += [
        Line(
            "CPU per event, 100 streams ready, one token each a commit, with readers",
            ours.cpu * per_event,
            bare.cpu * per_event,
            "µs",
            goal=None if database.shared else CPU_GOAL,
        ),
        await _disk(database, url, 5 if quick else 20),
    ]
    await database.close()
    return table


async def _throughput(database: Database, streams: int, quick: bool) -> list[Line]:
    events = (12_000 if quick else 60_000) // streams
    times = 3 if quick else 5
    ours = await middle(times, lambda: _write_and_read(database, streams, events))
    queue = await middle(times, lambda: spent(_through_queues(streams, events)))
    total = streams * events
    name = f"{streams} stream{'s' if streams > 1 else ''}"
    return [
        Line(f"events a second, {name}", total / ours.wall, total / queue.wall, more=True),
        Line(f"CPU per event, {name}", ours.cpu / total * 1e6, queue.cpu / total * 1e6, "µs"),
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
        Line(f"a lone token to its reader, p{p}", percentile(ours, p) * 1e3, percentile(theirs, p) * 1e3, "ms")
        for p in (50, 99)
    ]


async def _disk(database: Database, url: str, count: int) -> Line:
    """Every token in a commit of its own; the turn is packed when it ends."""
    log, tokens = Log(database), 500
    opened = await _open(log, database, count)
    await database.write(_settle)
    before = await _size(database, url)
    for stream in opened:
        for number in range(tokens):
            await stream.commit(_token(number))
        await log.pack(stream.turn, 1)
        if database.shared:
            _vacuum(url)  # as the server itself does before long
    await database.write(_settle)
    grown = await _size(database, url) - before
    bare = await asyncio.to_thread(_bare_size, url, count * tokens)
    total = count * tokens
    return Line("on disk for a token, each in a commit of its own, packed", grown / total, bare / total, "bytes", BYTES_GOAL)


async def _size(database: Database, url: str) -> int:
    if database.shared:
        return await database.read(lambda c: c.execute(text("SELECT pg_total_relation_size('events')")).scalar_one())
    path = Path(url.removeprefix("sqlite:///"))
    used = await database.read(lambda c: c.execute(text("PRAGMA page_size")).scalar_one())
    free = 0
    return path.stat().st_size + path.with_name(f"{path.name}-wal").stat().st_size - used * free
