"""Several processes on one database: only one writes to a turn, all may read it."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable

import pytest_asyncio
from sqlalchemy import Connection

from caesura.core.errors import Fenced, Unavailable
from caesura.log import Log, Stream
from caesura.store import life
from caesura.store.database import Database, P, T, Work
from caesura.store.open import open_database
from tests.conformance.rows import make_turn
from tests.log.flaky import Flaky
from tests.log.reading import check, followed, places, stored, word, write

NEVER = 3600.0


class Post:
    """Wake-ups between logs of this process."""

    def __init__(self, neighbours: list["Post"]) -> None:
        self.told = 0
        self._neighbours = neighbours
        neighbours.append(self)

    def listen(self, heard: Callable[[int], None]) -> None:
        self._heard = heard

    def tell(self, turns: Iterable[int]) -> None:
        for turn in turns:
            self.told += 1
            for other in self._neighbours:
                if other is not self:
                    other._heard(turn)


@pytest_asyncio.fixture
async def nodes(postgres_url: str) -> AsyncIterator[tuple[Database, Database]]:
    """Two nodes' connections to one database."""
    first, second = await open_database(postgres_url), await open_database(postgres_url)
    yield first, second
    await first.close()
    await second.close()


async def test_a_node_that_only_polls_sees_all_events_in_order(nodes: tuple[Database, Database]) -> None:
    writing, reading = Log(nodes[0]), Log(nodes[1], poll=0.02)
    streams = [await writing.open((await make_turn(nodes[0])).num, 1) for _ in range(10)]
    async with asyncio.TaskGroup() as group:
        for stream in streams:
            group.create_task(write(stream, 200))
            group.create_task(check(writing, stream.turn, 200))
            for cursor in (0, 0, 50, 199):
                group.create_task(check(reading, stream.turn, 200, cursor))
    for stream in streams:
        assert await stored(reading, stream.turn) == await stored(writing, stream.turn)


async def test_a_turn_that_moves_between_nodes_reads_as_one_log(nodes: tuple[Database, Database]) -> None:
    """Owners take turns from each other while writing. The next owner writes the events that a fenced owner
    still held. Readers on both nodes, some of them there from the beginning, see one log."""
    logs = [Log(database, poll=0.02) for database in nodes]
    made = [await make_turn(nodes[0], lease_ms=-1) for _ in range(4)]
    last = 150
    async with asyncio.TaskGroup() as group:
        for turn in made:
            for log in logs:
                group.create_task(check(log, turn.num, last))
                group.create_task(check(log, turn.num, last, 40))
            group.create_task(_wander(nodes, logs, turn.num, last))
    for turn in made:
        assert places(await stored(logs[0], turn.num)) == list(range(1, last + 1))


async def test_a_reader_continues_when_another_node_takes_the_turn(nodes: tuple[Database, Database]) -> None:
    here, there = Log(nodes[0], poll=0.05), Log(nodes[1])
    turn = await make_turn(nodes[0], lease_ms=-1)
    stream = await here.open(turn.num, 1)
    reader = asyncio.create_task(check(here, turn.num, 20))
    await write(stream, 10)
    await nodes[1].write(life.claim, turn.num, "node-2", 60_000)
    await write(await there.open(turn.num, 2), 20)
    assert await reader == 20


class Lingering(Flaky):
    """The first write loses its connection after COMMIT was sent, while the server still processes it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.late: list[asyncio.Task[None]] = []

    async def write_statement(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write_lightly(work, *args, **kwargs)

    async def write_lightly(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.late:
            return await self.write(work, *args, **kwargs)
        done = asyncio.Event()
        self.late.append(asyncio.create_task(self._linger(lambda c: work(c, *args, **kwargs), done)))
        await done.wait()
        raise Unavailable

    async def _linger(self, work: Callable[[Connection], object], done: asyncio.Event) -> None:
        def slowly(connection: Connection) -> None:
            work(connection)
            loop.call_soon_threadsafe(done.set)
            connection.exec_driver_sql("SELECT pg_sleep(0.5)")

        loop = asyncio.get_running_loop()
        await self.write(slowly)


async def test_a_commit_that_is_still_under_way_is_not_made_twice(nodes: tuple[Database, Database]) -> None:
    turn = await make_turn(nodes[0])
    lingering = Lingering(nodes[0])
    log = Log(lingering)
    stream = await log.open(turn.num, 1)
    ran: list[str] = []
    await stream.commit(word(turn.num, 1), also=lambda connection: ran.append("once"))
    await write(stream, 3)
    await asyncio.gather(*lingering.late)
    assert places(await stored(log, turn.num)) == [1, 2, 3]
    assert ran == ["once"]


async def test_a_wake_up_delivers_events_of_another_node_without_a_poll(
    nodes: tuple[Database, Database],
) -> None:
    neighbours: list[Post] = []
    posts = Post(neighbours), Post(neighbours)
    here, there = (Log(nodes[k], posts[k], poll=NEVER) for k in (0, 1))
    turn = await make_turn(nodes[0], lease_ms=-1)
    readers = [asyncio.create_task(check(here, turn.num, last)) for last in (20, 30)]
    stream = await here.open(turn.num, 1)
    await write(stream, 10)
    await nodes[1].write(life.claim, turn.num, "node-2", -1)
    await write(await there.open(turn.num, 2), 20)
    assert await readers[0] == 20
    assert posts[1].told > 0
    await nodes[0].write(life.claim, turn.num, "node-1", 60_000)
    await write(await here.open(turn.num, 3), 30)
    assert await readers[1] == 30


async def test_a_running_append_and_a_claim_wait_for_each_other(nodes: tuple[Database, Database]) -> None:
    """In either order, the claim sees every event that was confirmed to the old owner."""
    here, there = Log(nodes[0]), Log(nodes[1])
    for _ in range(30):
        turn = await make_turn(nodes[0], lease_ms=-1)
        writing = asyncio.create_task(_write_until_fenced(await here.open(turn.num, 1)))
        await asyncio.sleep(random.random() / 100)
        claimed = await nodes[1].write(life.claim, turn.num, "node-2", 60_000)
        assert claimed is not None
        fresh = await there.open(turn.num, claimed.epoch)
        assert await writing <= fresh.last
        await fresh.commit(word(turn.num, fresh.last + 1))
        await check(there, turn.num, fresh.last)


async def test_polling_a_quiet_turn_leaves_no_old_waiters(nodes: tuple[Database, Database]) -> None:
    log = Log(nodes[0], poll=0.002)
    turn = await make_turn(nodes[0])
    readers = [asyncio.create_task(check(log, turn.num, 1)) for _ in range(3)]
    await asyncio.sleep(0.3)
    (tail,) = log._tails.values()
    assert len(tail._waiting) <= 3
    await log.append(turn.num, 1, [word(turn.num, 1)])
    await asyncio.gather(*readers)


async def _wander(nodes: tuple[Database, Database], logs: list[Log], turn: int, last: int) -> None:
    written, epoch = 0, 1
    while written < last:
        stream = await logs[epoch % 2].open(turn, epoch)
        writing = asyncio.create_task(write(stream, last))
        await followed(logs[epoch % 2], turn, written, written + 1)
        claimed = await nodes[(epoch + 1) % 2].write(life.claim, turn, f"node-{epoch}", -1)
        assert claimed is not None
        epoch = claimed.epoch
        try:
            await writing
        except Fenced:
            written = (await logs[epoch % 2].open(turn, epoch)).last
        else:
            written = last


async def _write_until_fenced(stream: Stream) -> int:
    """The number of the last word that was confirmed as written."""
    try:
        while True:
            await stream.commit(word(stream.turn, stream.last + 1))
    except Fenced:
        return stream.last
