"""Reading a turn's log, on every backend: a read that is interrupted anywhere and continued equals the
whole."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import aclosing

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import make_url

from caesura.core import events as ev
from caesura.core.interrupts import Option, Question, Questions
from caesura.log import WINDOW, Log
from caesura.store import conversations, life
from caesura.store.database import Database
from tests.conformance.rows import make_turn
from tests.log.reading import check, followed, places, rest, stored, word, words, write

ASKED = Questions("int-1", questions=(Question("?", (Option("Yes", "yes"),)),), expires_at=5)
WHOLE: list[ev.Event] = [
    ev.RunStarted("demo", 1),
    ev.ModelStarted(1, "demo", "model"),
    ev.ReasoningDelta(1, "嗯"),
    ev.TextDelta(1, "Hel"),
    ev.TextDelta(1, "lo\0"),
    ev.ModelFinished(1, ({"id": "c1", "name": "look", "args": {"at": [1, None]}},), {"input": 3}, "stop"),
    ev.ToolStarted("c1", "look", {"at": [1, None]}, "demo"),
    ev.ToolFinished("c1", "look", "found", "ok", "demo"),
    ev.ArtifactChanged("a1", 2, "update"),
    ev.Interrupted((ASKED,)),
    ev.SegmentEnded(),
    ev.RunStarted("demo", 2, "resume"),
    ev.InterruptClosed("int-1", "answered", {"decision": "answers", "answers": ["yes"]}),
    ev.ModelStarted(2, "sub", parent="c1"),
    ev.TextVoided(2),
    ev.Failed("no", "model", "err-1", True),
    ev.Stopped("user"),
    ev.Finished(),
    ev.TitleChanged("A title"),
    ev.SegmentEnded(),
]


@pytest.fixture
def beside(database_url: str) -> Iterator[Engine]:
    """A separate connection to the same rows."""
    url = make_url(database_url)
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    yield engine
    engine.dispose()


async def test_a_read_interrupted_after_any_event_and_continued_equals_the_whole(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    last = len(WHOLE)
    stream = await log.open(turn.num, 1)
    live = [asyncio.create_task(followed(log, turn.num, k, last)) for k in range(last)]
    await asyncio.sleep(0)
    for event in WHOLE:
        stream.put(event)
        await rest()
    await stream.commit()
    whole = await live[0]
    assert [envelope.event for envelope in whole] == WHOLE
    for k, reader in enumerate(live):
        assert await reader == whole[k:]
    await _assert_same_after_every_event(log, turn.num, whole)
    await log.pack(turn.num, 1)
    await _assert_same_after_every_event(log, turn.num, whole)
    await _assert_same_after_every_event(Log(database), turn.num, whole)


async def test_a_log_is_the_same_however_it_was_split_into_commits(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    for event in WHOLE:
        stream.put(event)
        if random.random() < 0.5:
            await stream.commit()
    await stream.commit()
    whole = await stored(log, turn.num)
    assert [envelope.event for envelope in whole] == WHOLE
    for limit in (1, 2, 3, 7):
        found = await log.read(turn.num, 0, limit)
        assert found == whole[:limit]
        assert await log.read(turn.num, 5, limit) == whole[5 : 5 + limit]


async def test_any_few_events_can_be_read_from_anywhere(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    for last in (1, 2, 3, 7, 8, 12):
        await stream.commit(*(word(turn.num, seq) for seq in range(stream.last + 1, last + 1)))
    for after in range(13):
        for limit in range(1, 13):
            found = await log.read(turn.num, after, limit)
            assert places(found) == list(range(after + 1, min(after + limit, 12) + 1))


async def test_a_log_of_many_windows_is_read_whole_from_anywhere(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    last = 5 * WINDOW
    stream = await log.open(turn.num, 1)
    for start in range(1, last, 100):
        await stream.commit(*(word(turn.num, seq) for seq in range(start, min(start + 100, last + 1))))
    cursors = [0, 1, 99, 100, 101, WINDOW, last - 1]
    await asyncio.gather(*(check(log, turn.num, last, cursor) for cursor in cursors))
    await log.pack(turn.num, 1)
    await asyncio.gather(*(check(log, turn.num, last, cursor) for cursor in cursors))


async def test_packing_changes_nothing_for_readers(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    readers = [asyncio.create_task(check(log, turn.num, 600, cursor)) for cursor in (0, 7, 300)]
    for last in (200, 400, 600):
        await write(stream, last)
        readers += [asyncio.create_task(check(log, turn.num, 600, last - 150))]
        await log.pack(turn.num, 1)
    await asyncio.gather(*readers)


async def test_an_old_epoch_cannot_pack(database: Database) -> None:
    log, turn = Log(database), await make_turn(database, lease_ms=-1)
    await log.append(turn.num, 1, words(1, 5))
    await log.append(turn.num, 1, words(6, 9))
    await database.write(life.claim, turn.num, "node-2", 60_000)
    with pytest.raises(Exception, match="taken over"):
        await log.pack(turn.num, 1)
    await log.pack(turn.num, 2)
    assert places(await stored(log, turn.num)) == list(range(1, 10))


async def test_a_cursor_ahead_of_the_log_waits_for_it(database: Database) -> None:
    log, turn = Log(database, poll=0.05), await make_turn(database)
    stream = await log.open(turn.num, 1)
    ahead = asyncio.create_task(check(log, turn.num, 20, 12))
    await write(stream, 10)
    assert not ahead.done()
    await write(stream, 20)
    assert await ahead == 20


async def test_readers_may_come_and_go_at_any_time(database: Database) -> None:
    """Many turns, each with readers that stay, come late, leave half-way and come back."""
    log = Log(database)
    streams = [await log.open((await make_turn(database)).num, 1) for _ in range(8)]
    last = 400
    async with asyncio.TaskGroup() as group:
        for stream in streams:
            group.create_task(write(stream, last))
            group.create_task(check(log, stream.turn, last))
            for _ in range(4):
                group.create_task(_come_and_go(log, stream.turn, last))
    for stream in streams:
        assert places(await stored(log, stream.turn)) == list(range(1, last + 1))
    assert not log._tails


async def test_a_slow_reader_gets_all_events_and_delays_nobody(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    release = asyncio.Event()

    async def wait() -> None:
        await release.wait()

    slow = asyncio.create_task(check(log, turn.num, 5000, pause=wait))
    quick = asyncio.create_task(check(log, turn.num, 5000))
    await asyncio.sleep(0)
    for start in range(1, 5000, 50):
        await stream.commit(*(word(turn.num, seq) for seq in range(start, start + 50)))
    assert await quick == 5000
    assert not slow.done()
    release.set()
    assert await slow == 5000


async def test_every_event_a_reader_got_is_on_disk_at_that_moment(database: Database, beside: Engine) -> None:
    log = Log(database)
    streams = [await log.open((await make_turn(database)).num, 1) for _ in range(4)]
    newest = text("SELECT max(last) FROM events WHERE turn = :turn")

    async def look_up(turn: int) -> None:
        async with aclosing(log.follow(turn)) as found:
            async for envelopes in found:
                with beside.connect() as connection:
                    last = connection.execute(newest, {"turn": turn}).scalar()
                assert last is not None
                assert last >= envelopes[-1].seq
                if envelopes[-1].seq == 100:
                    return

    async with asyncio.TaskGroup() as group:
        for stream in streams:
            group.create_task(look_up(stream.turn))
            group.create_task(look_up(stream.turn))
            group.create_task(write(stream, 100))


async def test_a_commit_is_on_disk_when_it_returns(database: Database, beside: Engine) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    newest = text("SELECT max(last) FROM events WHERE turn = :turn")
    for seq in range(1, 30):
        await stream.commit(word(turn.num, seq), durable=seq % 2 == 0)
        with beside.connect() as connection:
            assert connection.execute(newest, {"turn": turn.num}).scalar() == seq


async def test_a_cancelled_reader_leaves_nothing_in_memory(database: Database) -> None:
    log, turn = Log(database, poll=0.001), await make_turn(database)
    stays = asyncio.create_task(check(log, turn.num, 1))
    for _ in range(50):
        reader = asyncio.create_task(check(log, turn.num, 1))
        await asyncio.sleep(0.002)
        reader.cancel()
        await asyncio.wait([reader])
    (tail,) = log._tails.values()
    assert tail.readers == 1
    assert len(tail._waiting) <= 1
    await log.append(turn.num, 1, [word(turn.num, 1)])
    await stays
    assert not log._tails


async def _come_and_go(log: Log, turn: int, last: int) -> None:
    """Read in pieces, each from where the last piece ended."""
    seen = 0
    while seen < last:
        seen = await check(log, turn, min(last, seen + random.randint(1, 100)), seen)
        await rest()
        after = random.randint(0, seen - 1)
        assert places(await log.read(turn, after, 10))[0] == after + 1


async def _assert_same_after_every_event(log: Log, turn: int, whole: list[ev.Envelope]) -> None:
    for k in range(len(whole) + 1):
        assert await stored(log, turn, k) == whole[k:]
        assert await followed(log, turn, k, len(whole)) == whole[k:]


async def test_a_reader_of_a_deleted_turn_ends_also_if_another_process_deleted_it(database: Database) -> None:
    here, there, turn = Log(database, poll=0.02), Log(database), await make_turn(database)
    await here.append(turn.num, 1, [ev.TextDelta(1, "word")])
    async with asyncio.timeout(60), aclosing(here.follow(turn.num)) as reader:
        assert len(await anext(reader)) == 1
        await database.write(conversations.remove, turn.conversation_id, turn.user_id)
        (there if database.shared else here).forget(turn.num)
        assert [batch async for batch in reader] == []
        assert [batch async for batch in here.follow(turn.num, 1)] == []  # also for a reader that comes now
    await here.close()
    await there.close()


async def test_a_reader_that_comes_after_the_end_gets_all_events(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    await log.append(turn.num, 1, [ev.TextDelta(1, "word")])
    await log.close()
    async with asyncio.timeout(60):
        found = [item.seq async for batch in log.follow(turn.num) for item in batch]
    assert found == [1]
