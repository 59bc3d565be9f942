"""What the log does when the storage is unavailable or its replies get lost, on every backend."""

import asyncio
import random
from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from caesura.core.errors import Fenced, Unavailable
from caesura.core.events import ModelFinished, TextDelta
from caesura.http.metrics import Metrics
from caesura.log import Log, Stream
from caesura.log.stream import Batch
from caesura.store import life, users
from caesura.store.database import Database, P, T, Work
from tests.conformance.rows import make_turn, make_user
from tests.log.flaky import Flaky, times
from tests.log.reading import PATIENCE, check, places, said, stored, word, words, write


class Away(Flaky):
    """A database that cannot be read."""

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        raise Unavailable


async def test_a_reader_gets_an_error_when_storage_is_unavailable_however_many_readers_wait(
    database: Database,
) -> None:
    log, turn = Log(Away(database), patience=0.5), await make_turn(database)
    readers = [log.follow(turn.num) for _ in range(200)]
    async with asyncio.timeout(PATIENCE):
        outcomes = await asyncio.gather(*(anext(reader) for reader in readers), return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {Unavailable}


async def test_a_write_to_a_closed_log_fails_and_waits_for_nobody(database: Database) -> None:
    """Code that ignores its cancellation may write when the process has already closed its log."""
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    await write(stream, 3)
    await log.close()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Unavailable, match="the log is closed"):
            await stream.commit(TextDelta(1, "late"))
    assert places(await stored(Log(database), turn.num)) == [1, 2, 3]


async def test_a_commit_whose_reply_got_lost_is_not_written_twice(database: Database) -> None:
    flaky = Flaky(database)
    log, turn = Log(flaky), await make_turn(database)
    stream = await log.open(turn.num, 1)
    reader = asyncio.create_task(check(log, turn.num, 6))
    await asyncio.sleep(0)
    await write(stream, 3)
    flaky.after = times(2)
    await write(stream, 6)
    assert await reader == 6
    assert places(await stored(log, turn.num)) == [1, 2, 3, 4, 5, 6]


async def test_an_also_runs_once_and_its_result_is_not_lost(database: Database) -> None:
    flaky, user = Flaky(database), await make_user(database)
    log, turn = Log(flaky), await make_turn(database)
    stream = await log.open(turn.num, 1)
    ran: list[str] = []

    def also(connection: Connection) -> str:
        users.create(connection, f"{user}-guest", "hash")
        ran.append("once")
        return "the result"

    flaky.after = times(1)
    assert await stream.commit(TextDelta(1, "1"), also=also) == "the result"
    assert ran == ["once"]
    assert said(await stored(log, turn.num)) == ["1"]


async def test_events_that_failed_before_the_commit_are_written_by_the_next_try(database: Database) -> None:
    flaky, user = Flaky(database), await make_user(database)
    log, turn = Log(flaky), await make_turn(database)
    stream = await log.open(turn.num, 1)
    flaky.before = times(2)
    await stream.commit(*words(1, 2), also=lambda c: users.set_password(c, user, "new"))
    assert said(await stored(log, turn.num)) == ["1", "2"]
    found = await database.read(users.get, user)
    assert found is not None
    assert found.password_hash == "new"


async def test_events_of_the_next_owner_are_not_mistaken_for_a_commit_whose_reply_got_lost(
    database: Database,
) -> None:
    """The old owner's write never happened. While it waits to retry, another owner writes those events."""
    flaky = Flaky(database)
    old_log, new_log = Log(flaky, poll=0.05), Log(database)
    turn = await make_turn(database, lease_ms=-1)
    stream = await old_log.open(turn.num, 1)
    await write(stream, 3)
    flaky.before = times(1)
    late = asyncio.create_task(stream.commit(TextDelta(0, "never"), TextDelta(0, "never"), also=_never))
    put = asyncio.create_task(stream.commit(TextDelta(0, "never")))
    await asyncio.sleep(0.01)
    await database.write(life.claim, turn.num, "node-2", 60_000)
    await write(await new_log.open(turn.num, 2), 10)
    for commit in (late, put):
        with pytest.raises(Fenced):
            await commit
    assert isinstance(stream.error, Fenced)
    await check(old_log if database.shared else new_log, turn.num, 10)


async def test_a_group_that_half_landed_is_finished(database: Database) -> None:
    flaky = Flaky(database)
    log = Log(flaky)
    streams = [await log.open((await make_turn(database)).num, 1) for _ in range(5)]
    for _ in range(10):
        flaky.before, flaky.after = times(random.randint(0, 1)), times(random.randint(0, 1))
        commits = (s.commit(word(s.turn, s.last + 1), also=_name(s.turn)) for s in streams)
        assert await asyncio.gather(*commits) == [stream.turn for stream in streams]
    for stream in streams:
        await check(log, stream.turn, 10)


async def _impatient(database: Database) -> tuple[Flaky, Log, Stream, asyncio.Task[int]]:
    """A log that does not wait for storage, a stream with three words, and a reader who waits for nine."""
    flaky = Flaky(database)
    log, turn = Log(flaky, patience=0, poll=0.05), await make_turn(database)
    stream = await log.open(turn.num, 1)
    reader = asyncio.create_task(check(log, turn.num, 9))
    await write(stream, 3)
    return flaky, log, stream, reader


async def test_without_patience_the_caller_gets_an_error_and_a_new_stream_continues(
    database: Database,
) -> None:
    flaky, log, stream, reader = await _impatient(database)
    flaky.before = times(1)
    with pytest.raises(Unavailable):
        await stream.commit(TextDelta(0, "lost"), also=_never)
    with pytest.raises(Unavailable):
        stream.put(TextDelta(0, "lost too"))
    with pytest.raises(Unavailable):
        await stream.commit(TextDelta(0, "lost too"))
    fresh = await log.open(stream.turn, 1)
    assert fresh.last == 3
    await write(fresh, 9)
    assert await reader == 9
    assert places(await stored(log, stream.turn)) == list(range(1, 10))


async def test_the_next_stream_sees_a_commit_that_landed_without_a_reply(database: Database) -> None:
    flaky, log, stream, reader = await _impatient(database)
    flaky.after = times(1)
    with pytest.raises(Unavailable):
        await stream.commit(word(stream.turn, 4), word(stream.turn, 5))
    fresh = await log.open(stream.turn, 1)
    assert fresh.last == 5
    await write(fresh, 9)
    assert await reader == 9


async def test_storage_that_comes_and_goes_leaves_no_gap_and_no_repeat(database: Database) -> None:
    flaky = Flaky(database)
    log = Log(flaky, patience=60)
    streams = [await log.open((await make_turn(database)).num, 1) for _ in range(5)]
    lose = random.Random(7)
    flaky.before = flaky.after = lambda: lose.random() < 0.15
    async with asyncio.TaskGroup() as group:
        for stream in streams:
            group.create_task(write(stream, 60))
            group.create_task(check(log, stream.turn, 60))
            group.create_task(check(log, stream.turn, 60, 20))
    for stream in streams:
        assert places(await stored(log, stream.turn)) == list(range(1, 61))


def _name(turn: int) -> Callable[[Connection], int]:
    return lambda connection: turn


def _never(connection: Connection) -> None:
    raise AssertionError("this must not be reached")


async def test_an_error_in_the_committed_callback_affects_no_stream(database: Database) -> None:
    def broken(seconds: float, batches: object) -> None:
        raise ValueError("a counter takes no negative number")

    log, turn = Log(database, committed=broken), await make_turn(database)
    stream = await log.open(turn.num, 1)
    reader = asyncio.create_task(check(log, turn.num, 6))
    await asyncio.sleep(0)
    await write(stream, 3)
    await write(stream, 6)
    assert await reader == 6
    await log.close()


async def test_a_negative_number_of_tokens_is_not_counted_and_harms_no_commit(database: Database) -> None:
    metrics = Metrics()
    log, turn = Log(database, committed=metrics.committed), await make_turn(database)
    stream = await log.open(turn.num, 1)
    reports = ({"input_tokens": count, "output_tokens": count} for count in (-7, 3))
    await stream.commit(*(ModelFinished(call, (), usage) for call, usage in enumerate(reports)))
    assert len(await log.read(turn.num)) == 2
    for kind in ("input", "output"):
        assert metrics.registry.get_sample_value("caesura_tokens_total", {"kind": kind}) == 3
    await log.close()


async def test_a_flush_that_breaks_off_fails_its_streams_and_no_others(database: Database) -> None:
    log = Log(database)
    one, two = await make_turn(database), await make_turn(database)
    broken, whole = await log.open(one.num, 1), await log.open(two.num, 1)
    publish = log._flusher._publish

    def crash(batch: Batch, outcome: object) -> bool:
        if batch.stream is broken:
            raise RuntimeError("a fault of ours")
        return publish(batch, outcome)

    log._flusher._publish = crash
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Unavailable):
            await broken.commit(word(one.num, 1))
        await write(whole, 3)
    assert places(await stored(log, two.num)) == [1, 2, 3]
    await log.close()


async def test_a_flusher_that_died_is_restarted_by_the_next_word(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    flusher = log._flusher

    async def die() -> None:
        raise RuntimeError("a fault of ours")

    with monkeypatch.context() as patch:
        patch.setattr(flusher, "_flush_all", die)
        stream.put(word(turn.num, 1))
        assert flusher._task is not None
        await asyncio.wait([flusher._task])
        assert isinstance(flusher._task.exception(), RuntimeError)
    async with asyncio.timeout(PATIENCE):
        await stream.commit(word(turn.num, 2))
    assert places(await stored(log, turn.num)) == [1, 2]
    await log.close()
