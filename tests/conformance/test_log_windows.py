"""Windows of a log are bounded in events and in bytes, wherever the events come from, and nothing is
missing."""

import asyncio
import gc
import random
from contextlib import aclosing
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from caesura.core import codec
from caesura.core.events import Envelope, Event, RunStarted, TextDelta, ToolFinished
from caesura.log import WINDOW, Log
from caesura.log.log import WINDOW_BYTES
from caesura.log.tail import Tail
from caesura.store import events, schema
from caesura.store.database import Database
from caesura.store.wire import Result, Wire
from tests.conformance.rows import make_turn
from tests.log.reading import PATIENCE, words

MIB = 1024 * 1024


async def test_a_reader_of_large_events_holds_few_bytes_and_misses_nothing(database: Database) -> None:
    """Small, large and very large events, in rows of one and of many: in single rows, in the tail, and
    packed."""
    log, turn = Log(database, poll=0.05), await make_turn(database)
    sizes = random.Random(4).choices([5, 60_000, MIB], [20, 10, 1], k=120)
    said = [_tool(place, "x" * size) for place, size in enumerate(sizes, 1)]
    stream = await log.open(turn.num, 1)
    with log.live(stream):
        live = asyncio.create_task(_followed(log, turn.num, 0, len(said)))
        await asyncio.sleep(0)
        for start in range(0, len(said), 30):
            await stream.commit(*said[start : start + 30])
        assert await live == said
    for packed in (False, True):
        if packed:
            await log.pack(turn.num, 1)
        for after in (0, 1, 59, 119):
            assert await _followed(log, turn.num, after, len(said)) == said[after:]
    await log.close()


def test_the_newest_events_in_memory_are_bounded_in_bytes() -> None:
    tail, size = Tail(), 60_000
    for seq in range(1, 301):
        tail.push([Envelope(seq, 0, _tool(seq, "x" * size))])
        held = sum(1 for before in range(seq) if tail.after(before, 1, size))
        assert 0 < held * size <= 2 * MIB


async def test_no_row_is_larger_than_it_must_be(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    said: list[Event] = [TextDelta(1, "y" * 10_000) for _ in range(600)]
    await log.append(turn.num, 1, said)
    assert await database.read(_largest, turn.num) <= 256 * 1024
    await log.pack(turn.num, 1)
    largest = max(
        codec.measured(row.version, row.body, row.first, row.at)[1]
        for row in await database.read(events.stored, turn.num)
    )
    assert largest <= 300 * 1024
    assert await _followed(log, turn.num, 0, 600) == said
    await log.close()


@pytest.mark.parametrize("after", [0, 300, 511, 512, 1023, 1500])
async def test_a_window_of_a_packed_log_reads_only_the_rows_it_needs(
    database: Database, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    log, turn = Log(database), await make_turn(database)
    await log.append(turn.num, 1, words(1, 2000))
    await log.pack(turn.num, 1)
    taken: list[int] = []
    genuine = events.Stored

    def counted(*values: int) -> events.Stored:
        taken.append(values[0])
        return genuine._make(values)

    monkeypatch.setattr(events, "Stored", counted)
    found = await database.read(events.read, turn.num, after, WINDOW)
    assert [item.seq for item in found[:WINDOW]] == list(range(after + 1, after + WINDOW + 1))
    assert len(taken) <= 2
    await log.close()


async def test_a_window_reads_no_more_rows_than_its_bytes_allow(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL sends every row that a statement finds, whether it is read or not."""
    log, turn = Log(database), await make_turn(database)
    for place in range(1, 41):
        await log.append(turn.num, 1, [_tool(place, "x" * 60_000)])
    sent: list[int] = []
    read = Wire.run

    def count(*args: Any) -> Result:
        result = read(*args)
        sent.append(len(result.rows))
        return result

    monkeypatch.setattr(Wire, "run", count)
    found, size = await database.read(events.window, turn.num, 0, WINDOW, WINDOW_BYTES)
    assert [item.seq for item in found] == [1, 2, 3, 4, 5]
    assert WINDOW_BYTES < size < WINDOW_BYTES + 60_000
    assert sent == ([5] if database.shared else [])
    await log.close()


async def test_the_beginning_of_a_log_is_read_by_bytes(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    for place in range(1, 21):
        await log.append(turn.num, 1, [_tool(place, "x" * 10_000)])
    assert len(await database.read(events.stored, turn.num, 30_000)) == 3
    assert len(await database.read(events.stored, turn.num, 1)) == 1
    assert len(await database.read(events.stored, turn.num)) == 20
    await log.close()


async def _followed(log: Log, turn: int, after: int, last: int) -> list[Event]:
    found: list[Envelope] = []
    async with asyncio.timeout(PATIENCE), aclosing(log.follow(turn, after)) as windows:
        async for window in windows:
            assert len(window) <= WINDOW
            size = sum(codec.size(item.event) for item in window)
            assert size <= WINDOW_BYTES or len(window) == 1
            found += window
            if found[-1].seq == last:
                break
    assert [item.seq for item in found] == list(range(after + 1, last + 1))
    return [item.event for item in found]


async def test_a_waiting_reader_holds_no_events_that_it_has_read(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    mark = 7_654_321
    await log.append(turn.num, 1, [TextDelta(mark, str(number)) for number in range(200)])
    await make_turn(database)  # SQLite's writer keeps a reference to its last write
    async with aclosing(log.follow(turn.num)) as found:
        assert len(await anext(found)) == 200
        waiting = asyncio.ensure_future(anext(found))
        await asyncio.sleep(0.5)
        held = _in_memory(mark)
        await log.append(turn.num, 1, [TextDelta(mark, "more")])
        assert [item.seq for item in await waiting] == [201]
    assert held < 10
    await log.close()


def _in_memory(mark: int) -> int:
    """How many deltas of this call exist in memory, whoever holds them."""
    gc.collect()
    return sum(isinstance(item, TextDelta) and item.call == mark for item in gc.get_objects())


def _tool(place: int, output: str) -> Event:
    return ToolFinished(str(place), "look", output)


def _largest(connection: Connection, turn: int) -> int:
    size = func.max(func.length(schema.events.c.body))
    found: int = connection.execute(select(size).where(schema.events.c.turn == turn)).scalar_one()
    return found


async def test_the_starts_of_attempts_are_found_without_decoding_the_words(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, turn = Log(database), await make_turn(database)
    said = words(1, 4000)
    await log.append(turn.num, 1, [RunStarted("a", 1, "start", 1), *said[:2000]])
    await log.append(turn.num, 1, [RunStarted("a", 1, "adopt", 2), *said[2000:]])
    await log.pack(turn.num, 1)
    decoded: list[int] = []
    genuine = codec.decode

    def counted(version: int, body: bytes, first: int, at: int) -> list[Envelope]:
        decoded.append(first)
        return genuine(version, body, first, at)

    monkeypatch.setattr(codec, "decode", counted)
    found = await database.read(events.starts, turn.num)
    assert [(seq, event.epoch) for seq, event in found] == [(1, 1), (2002, 2)]
    assert len(decoded) == 2
    assert [seq for seq, _ in await database.read(events.starts, turn.num, 0, 2001)] == [1]
    assert [seq for seq, _ in await database.read(events.starts, turn.num, 1)] == [2002]
    await log.close()
