"""Rows of PostgreSQL that are locked by another session: only the stream that needs such a row waits for
it."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import Connection

from caesura.core.errors import Fenced, Unavailable
from caesura.core.events import Finished
from caesura.core.turns import Turn
from caesura.log import Log, Stream
from caesura.log.append import append
from caesura.store import conversations, fence, life, shares, turns
from caesura.store.database import Database
from caesura.store.open import open_database
from caesura.store.postgres import Postgres
from caesura.store.statements import on_postgres, send
from tests.conformance.rows import make_turn, settled
from tests.log.reading import check, places, stored, word, write

LONG = 60.0
LOCK_TURN = "SELECT num FROM turns WHERE num = %s FOR UPDATE"
LOCK_CONVERSATION = "SELECT id FROM conversations WHERE id = %s FOR UPDATE"


@pytest_asyncio.fixture
async def shared(postgres_url: str) -> AsyncIterator[Database]:
    database = await open_database(postgres_url)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def narrow(postgres_url: str) -> AsyncIterator[Postgres]:
    """A database with only as many connections as two requests need."""
    database = await Postgres.open(postgres_url, pool_size=2)
    yield database
    await database.close()


@asynccontextmanager
async def _held(url: str, statement: str, row: int | str) -> AsyncIterator[psycopg.AsyncConnection]:
    """Another session that locks a row until this ends."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(statement, (row,))
        yield connection
        await connection.rollback()


@pytest.mark.parametrize("with_rows", [False, True])
async def test_a_locked_turn_delays_only_its_own_stream(
    shared: Database, postgres_url: str, with_rows: bool
) -> None:
    log = Log(shared, patience=LONG)
    streams = [await log.open((await make_turn(shared)).num, 1) for _ in range(5)]
    locked, *others = streams
    readers = [asyncio.create_task(check(log, stream.turn, 40)) for stream in streams]
    async with asyncio.timeout(LONG), _held(postgres_url, LOCK_TURN, locked.turn):
        writing = asyncio.create_task(_say(locked, 20, with_rows))
        await asyncio.gather(*(_say(stream, 20, with_rows) for stream in others))
        assert not writing.done()
        assert await stored(log, locked.turn) == []
        await asyncio.gather(*(_say(stream, 40, with_rows) for stream in others), *readers[1:])
        assert await stored(log, locked.turn) == []
    await writing
    await _say(locked, 40, with_rows)
    await asyncio.gather(*readers)
    for stream in streams:
        assert places(await stored(log, stream.turn)) == list(range(1, 41))


async def test_a_locked_conversation_delays_only_its_own_ending(shared: Database, postgres_url: str) -> None:
    log = Log(shared, patience=LONG)
    made = [await make_turn(shared) for _ in range(6)]
    streams = [await log.open(turn.num, 1) for turn in made]
    ran: list[int] = []

    async def end(stream: Stream, turn: Turn) -> None:
        def also(connection: Connection) -> None:
            life.settle(connection, [settled(turn, released=False)])
            shares.charge(connection, turn.num)
            ran.append(turn.num)

        await stream.commit(word(stream.turn, 1), also=also)
        await stream.commit(word(stream.turn, 2))

    async with asyncio.timeout(LONG), _held(postgres_url, LOCK_CONVERSATION, made[0].conversation_id):
        ending = [asyncio.create_task(end(s, t)) for s, t in zip(streams, made, strict=True)]
        await asyncio.gather(*ending[1:])
        assert not ending[0].done()
        assert (await shared.read(turns.get, made[0].id)).status == "running"
        assert await stored(log, made[0].num) == []
    await ending[0]
    assert {(await shared.read(turns.get, turn.id)).status for turn in made} == {"done"}
    assert [places(await stored(log, turn.num)) for turn in made] == [[1, 2]] * 6


async def test_a_heartbeat_that_finds_a_locked_turn_delays_no_stream(
    shared: Database, postgres_url: str
) -> None:
    log = Log(shared, patience=LONG)
    made = [await make_turn(shared) for _ in range(4)]
    numbers = [turn.num for turn in made]
    async with asyncio.timeout(LONG), _held(postgres_url, LOCK_TURN, numbers[-1]):
        beat = asyncio.to_thread(shared.write_now, life.renew, "node-1", numbers, 1_000_000)
        beating = asyncio.create_task(beat)
        await asyncio.sleep(0.2)
        async with asyncio.timeout(LONG / 2):
            await asyncio.gather(*[write(await log.open(num, 1), 10) for num in numbers[:-1]])
        assert await beating == dict.fromkeys(numbers[:-1])
        assert await shared.read(life.held, "node-1", numbers) == dict.fromkeys(numbers)
    rows = [await shared.read(turns.get, turn.id) for turn in made]
    later = [row.lease_until != turn.lease_until for row, turn in zip(rows, made, strict=True)]
    assert later == [True, True, True, False]


async def test_a_stream_whose_turn_is_taken_while_its_row_is_locked_is_fenced(
    shared: Database, postgres_url: str
) -> None:
    log = Log(shared, patience=LONG)
    streams = [await log.open((await make_turn(shared)).num, 1) for _ in range(4)]
    async with asyncio.timeout(LONG), _held(postgres_url, LOCK_TURN, streams[0].turn) as thief:
        await thief.execute("UPDATE turns SET epoch = 2 WHERE num = %s", (streams[0].turn,))
        late = [asyncio.create_task(streams[0].commit(word(0, 1))) for _ in range(2)]
        await asyncio.gather(*(write(stream, 10) for stream in streams[1:]))
        assert not any(task.done() for task in late)
        await thief.commit()
        outcomes = await asyncio.gather(*late, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Fenced] * 2
    assert isinstance(streams[0].error, Fenced)
    assert await stored(log, streams[0].turn) == []
    await asyncio.gather(*(check(log, stream.turn, 10) for stream in streams[1:]))


async def test_requests_that_wait_for_a_row_do_not_block_writing_words_or_claiming_work(
    narrow: Postgres, postgres_url: str
) -> None:
    log = Log(narrow, patience=LONG)
    locked, made = await make_turn(narrow), await make_turn(narrow)
    queued = await make_turn(narrow, owner=None)
    stream = await log.open(made.num, 1)
    async with (
        asyncio.timeout(LONG),
        _held(postgres_url, LOCK_CONVERSATION, locked.conversation_id) as other,
    ):
        requests = [
            asyncio.create_task(narrow.write(conversations.lock, locked.conversation_id)) for _ in range(2)
        ]
        while await _waiting(other) < len(requests):  # noqa: ASYNC110 - only the server knows
            await asyncio.sleep(0.01)
        await stream.commit(word(made.num, 1))
        (claimed,) = await narrow.write_lightly(life.claim_some, "node-2", 60_000, 10)
        assert claimed.num == queued.num
        assert not any(request.done() for request in requests)
    await asyncio.gather(*requests)


async def _waiting(connection: psycopg.AsyncConnection) -> int:
    """How many sessions wait for a lock."""
    found = await connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
    row = await found.fetchone()
    return row[0] if row else 0


async def test_whether_a_commit_has_landed_is_checked_after_the_turn_is_locked(
    narrow: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first try continues on a connection that was cut, and ends just before the second try locks the
    row."""
    made = await make_turn(narrow)
    stream = Stream(made.num, 1, 0, lambda _: None)
    stream.note(word(made.num, 1), also=lambda _: None)
    (batch,) = stream.take()
    genuine = fence.hold_some
    with narrow._blocking.engine.connect() as first:
        on_postgres(first).later("BEGIN")
        assert append(first, [batch]) == [None]

        def hold(connection: Connection, wanted: Collection[tuple[int, int]]) -> fence.Refused:
            send(first, "COMMIT")
            return genuine(connection, wanted)

        monkeypatch.setattr(fence, "hold_some", hold)
        batch.again = True
        assert await narrow.write_lightly(append, [batch]) == [None]
    assert places(await stored(Log(narrow), made.num)) == [1]


async def test_a_row_that_stays_locked_fails_only_its_own_stream(shared: Database, postgres_url: str) -> None:
    log = Log(shared, patience=0.3)
    locked, other = [await log.open((await make_turn(shared)).num, 1) for _ in range(2)]
    async with asyncio.timeout(LONG), _held(postgres_url, LOCK_TURN, locked.turn):
        locked.put(word(locked.turn, 1))
        with pytest.raises(Unavailable):
            await locked.commit(Finished(), also=lambda _: None)
        await write(other, 10)
    with pytest.raises(Unavailable):
        locked.put(word(locked.turn, 1))
    fresh = await log.open(locked.turn, 1)
    assert fresh.last == 0
    await write(fresh, 3)
    await check(log, locked.turn, 3)
    await write(other, 20)


async def _say(stream: Stream, last: int, with_rows: bool) -> None:
    if not with_rows:
        await write(stream, last)
        return
    for seq in range(stream.last + 1, last + 1):
        if seq % 2:
            stream.put(word(stream.turn, seq))
        else:
            await stream.commit(word(stream.turn, seq), also=lambda _: None)
