"""Many streams at once, on every backend: one commit carries what all of them have ready."""

import asyncio

import pytest
from sqlalchemy.exc import IntegrityError

from caesura.core import codec
from caesura.log import Log
from caesura.store import events
from caesura.store.database import Database
from tests.conformance.rows import make_turn
from tests.log.flaky import Flaky
from tests.log.reading import check, word, write


async def test_batches_grow_with_the_load(database: Database) -> None:
    counting = Flaky(database)
    log = Log(counting)
    streams = [await log.open((await make_turn(database)).num, 1) for _ in range(40)]
    async with asyncio.TaskGroup() as group:
        for stream in streams:
            group.create_task(write(stream, 100))
            group.create_task(check(log, stream.turn, 100))
    assert counting.writes < 40 * 100 / 20


async def test_a_stream_that_puts_much_at_once_commits_once(database: Database) -> None:
    counting = Flaky(database)
    log, turn = Log(counting), await make_turn(database)
    stream = await log.open(turn.num, 1)
    for seq in range(1, 1001):
        stream.put(word(turn.num, seq))
    await stream.commit()
    assert counting.writes == 1
    await check(log, turn.num, 1000)


async def test_a_busy_stream_does_not_keep_another_waiting(database: Database) -> None:
    """Each flush takes events from every stream that has some."""
    counting = Flaky(database)
    log = Log(counting)
    busy = await log.open((await make_turn(database)).num, 1)
    lone = await log.open((await make_turn(database)).num, 1)
    many = [asyncio.create_task(busy.commit(word(busy.turn, seq))) for seq in range(1, 101)]
    await asyncio.sleep(0)
    before = counting.writes
    await lone.commit(word(lone.turn, 1))
    assert counting.writes - before <= 3
    await asyncio.gather(*many)
    await check(log, busy.turn, 100)


@pytest.mark.parametrize("count", [1, 7, 16, 17, 33, 300, 2_048, 2_049])
async def test_any_number_of_rows_is_written_completely_or_not_at_all(database: Database, count: int) -> None:
    turn = await make_turn(database)

    def rows(first: int) -> list[events.Rows]:
        said = {seq: codec.encode([word(turn.num, seq)]) for seq in range(first, first + count)}
        return [events.Rows(turn.num, 1, seq, seq, 5, body) for seq, body in said.items()]

    await database.write_statement(events.insert_fenced, rows(1))
    with pytest.raises(IntegrityError):
        await database.write_statement(events.insert_fenced, [*rows(count + 1), *rows(1)[-1:]])
    assert await database.read(events.last, turn.num) == count
    await check(Log(database), turn.num, count)
