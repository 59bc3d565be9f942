"""The cost of the log, counted rather than timed."""

import asyncio
import gc
import tracemalloc
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from contextvars import Context
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple, Unpack

import pytest

from caesura.log import Log
from caesura.store.database import Database, P, Work
from caesura.store.open import open_database
from caesura.store.sqlite import Sqlite
from tests.conformance.rows import make_turn
from tests.log.flaky import Flaky
from tests.log.reading import check, places, stored, word

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
MEGABYTE = 1 << 20


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts its callbacks and timers."""

    steps = 0
    timers = 0

    def call_soon(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        self.steps += 1
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        self.timers += 1
        return super().call_at(when, callback, *args, context=context)


def test_a_lone_token_waits_for_no_timer(tmp_path: Path) -> None:
    async def run(loop: CountingLoop) -> int:
        database = Sqlite(tmp_path / "caesura.db")
        log, turn = Log(database), await make_turn(database)
        stream = await log.open(turn.num, 1)
        reader = log.follow(turn.num)
        waiting = asyncio.create_task(_next(reader))
        await asyncio.sleep(0.05)
        assert log._tails[turn.num]._waiting
        before = loop.timers
        stream.put(word(turn.num, 1))
        assert places(await waiting) == [1]
        timers = loop.timers - before
        await reader.aclose()
        await database.close()
        return timers

    assert _counted(run) == 0


async def test_a_lone_token_waits_for_no_poll(postgres_url: str) -> None:
    database = await open_database(postgres_url)
    log, turn = Log(database, poll=3600), await make_turn(database)
    stream = await log.open(turn.num, 1)
    reader = asyncio.create_task(check(log, turn.num, 1))
    await asyncio.sleep(0.05)
    stream.put(word(turn.num, 1))
    await reader
    await database.close()


class Counting(Flaky):
    """Counts the queries of the rows."""

    looks = 0

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self.looks += 1
        return await super().read(work, *args, **kwargs)


async def test_a_reader_that_comes_with_its_run_does_not_query_the_rows(database: Database) -> None:
    """The reader is there before the run's first step, as when a message is answered."""
    counting = Counting(database)
    log, turn = Log(counting, poll=3600), await make_turn(database)

    async def run() -> None:
        stream = log.begin(turn.num, 1)
        with log.live(stream):
            await stream.commit(word(turn.num, 1))

    running = asyncio.create_task(run())
    await check(log, turn.num, 1)
    await running
    assert counting.looks == 0


async def test_a_reader_polls_rarely_while_the_writer_is_in_this_process(postgres_url: str) -> None:
    database = await open_database(postgres_url)
    counting = Counting(database)
    log, turn = Log(counting, poll=0.02), await make_turn(database)
    looks: list[int] = []
    for held in (log.live(log.begin(turn.num, 1)), nullcontext()):
        with held:
            reader = asyncio.create_task(_next(log.follow(turn.num)))
            before = counting.looks
            await asyncio.sleep(1)
            looks.append(counting.looks - before)
            reader.cancel()
    await database.close()
    assert looks[0] < looks[1] / 2


async def test_a_reader_polls_at_the_usual_rate_after_the_writer_has_ended(postgres_url: str) -> None:
    database = await open_database(postgres_url)
    log, other, turn = Log(database, poll=0.05), Log(database), await make_turn(database)
    with log.live(log.begin(turn.num, 1)):
        reader = asyncio.create_task(check(log, turn.num, 1))
        await asyncio.sleep(0.05)
        assert log._tails[turn.num]._waiting
    await other.append(turn.num, 1, [word(turn.num, 1)])
    await asyncio.wait_for(reader, 60)
    await database.close()


def test_idle_readers_cost_a_writer_and_its_other_readers_no_step(tmp_path: Path) -> None:
    async def run(idle: int, loop: CountingLoop) -> int:
        database = Sqlite(tmp_path / f"{idle}.db")
        log, turn = Log(database), await make_turn(database)
        stream = await log.open(turn.num, 1)
        await stream.commit(word(turn.num, 1))
        sleepers = [log.follow(turn.num) for _ in range(idle)]
        for sleeper in sleepers:
            assert places(await anext(sleeper)) == [1]
        reader = asyncio.create_task(check(log, turn.num, 300, pause=_no_pause))
        before = loop.steps
        for seq in range(2, 301):
            await stream.commit(word(turn.num, seq))
        await reader
        steps = loop.steps - before
        for sleeper in sleepers:
            await sleeper.aclose()
        await database.close()
        return steps

    alone = _counted(lambda loop: run(0, loop))
    among_many = _counted(lambda loop: run(500, loop))
    assert among_many < alone * 2  # no extra step for each idle reader


@pytest.mark.parametrize("readers", [1, 300])
async def test_idle_readers_cost_under_a_megabyte(tmp_path: Path, readers: int) -> None:
    database = Sqlite(tmp_path / "caesura.db")
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    await stream.commit(word(turn.num, 1))
    sleepers = [log.follow(turn.num) for _ in range(readers)]
    for sleeper in sleepers:
        await anext(sleeper)
    tracemalloc.start()
    for start in range(2, 100_002, 1000):
        await stream.commit(*(word(turn.num, seq) for seq in range(start, start + 1000)))
    gc.collect()
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < MEGABYTE
    assert places(await anext(sleepers[-1]))[0] == 2
    for sleeper in sleepers:
        await sleeper.aclose()
    await check(log, turn.num, 100_001, 99_000)
    await database.close()


async def test_a_log_that_nobody_reads_keeps_nothing_in_memory(tmp_path: Path) -> None:
    database = Sqlite(tmp_path / "caesura.db")
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    for start in range(1, 1000, 100):
        await stream.commit(*(word(turn.num, seq) for seq in range(start, start + 100)))
    assert not log._tails
    assert len(await stored(log, turn.num)) == 1000
    await database.close()


def _counted(run: Callable[[CountingLoop], Awaitable[T]]) -> T:
    async def main() -> T:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, CountingLoop)
        return await run(loop)

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        return runner.run(main())


async def _next(reader: Any) -> Any:
    return await anext(reader)


async def _no_pause() -> None:
    pass
