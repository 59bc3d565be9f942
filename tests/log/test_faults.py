"""Storage that really fails: within its patience the log recovers by itself, after that the caller gets an
error."""

import asyncio
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from caesura.core.errors import Unavailable
from caesura.log import Log, Stream
from caesura.store import users
from caesura.store.database import Database
from caesura.store.open import open_database
from caesura.store.sqlite import Sqlite
from tests.conformance.rows import make_turn, make_user
from tests.log.reading import check, places, stored, word, write
from tests.servers import Postgres

LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "caesura.db"


@pytest_asyncio.fixture
async def sqlite(path: Path) -> AsyncIterator[Sqlite]:
    database = Sqlite(path, busy_timeout=0.01)
    yield database
    await database.close()


@pytest_asyncio.fixture
async def shared(postgres_url: str) -> AsyncIterator[Database]:
    database = await open_database(postgres_url)
    yield database
    await database.close()


@pytest.fixture(params=["locked", "full"])
def away(request: pytest.FixtureRequest, path: Path) -> AbstractContextManager[None]:
    """Meanwhile nothing can be written: another process holds the file, or the disk is full."""
    return _locked(path) if request.param == "locked" else _full(path)


async def test_a_log_waits_for_its_storage(sqlite: Sqlite, away: AbstractContextManager[None]) -> None:
    log = Log(sqlite, patience=20)
    streams = await _streams(log, sqlite)
    readers = [asyncio.create_task(check(log, stream.turn, 60)) for stream in streams]
    await asyncio.gather(*(write(stream, 30) for stream in streams))
    with away:
        writing = [asyncio.create_task(write(stream, 60)) for stream in streams]
        await asyncio.sleep(0.2)
        assert not any(task.done() for task in [*writing, *readers])
        assert [len(await stored(log, stream.turn)) for stream in streams] == [30] * 5
    await asyncio.gather(*writing, *readers)
    await _assert_whole(log, streams, 60)


async def test_storage_that_stays_unavailable_is_reported(
    sqlite: Sqlite, away: AbstractContextManager[None]
) -> None:
    log, user = Log(sqlite, patience=0.1), await make_user(sqlite)
    streams = await _streams(log, sqlite)
    await asyncio.gather(*(write(stream, 30) for stream in streams))
    with away:
        await _assert_unavailable(streams, user)
    await _assert_nothing_half_done(sqlite, user)
    await _go_on(log, streams, 60)


async def test_a_file_that_may_not_grow_is_reported(sqlite: Sqlite) -> None:
    """SQLite's own error for a full disk, after which SQLite rolls back by itself."""
    log, user = Log(sqlite, patience=0), await make_user(sqlite)
    streams = await _streams(log, sqlite)
    await asyncio.gather(*(write(stream, 30) for stream in streams))
    await sqlite.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count=1"))
    commits = [stream.commit(word(stream.turn, 31), also=_fill(user)) for stream in streams]
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {Unavailable}
    await sqlite.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count=1073741823"))
    await _assert_nothing_half_done(sqlite, user)
    await _go_on(log, streams, 60)


@pytest.mark.parametrize("crash", [False, True])
async def test_a_log_waits_for_postgres_to_come_back(
    postgres: Postgres, shared: Database, crash: bool
) -> None:
    log = Log(shared, patience=60, poll=0.05)
    streams = await _streams(log, shared)
    readers = [
        asyncio.create_task(check(log, stream.turn, 200, after)) for stream in streams for after in (0, 7)
    ]
    writing = [asyncio.create_task(write(stream, 200, _slowly)) for stream in streams]
    await asyncio.sleep(0.05)
    if crash:
        await asyncio.to_thread(postgres.kill)
    await asyncio.to_thread(postgres.restart)
    await asyncio.gather(*writing, *readers)
    await _assert_whole(log, streams, 200)


async def test_a_postgres_that_stays_unavailable_is_reported(postgres: Postgres, shared: Database) -> None:
    log, user = Log(shared, patience=0.1, poll=0.05), await make_user(shared)
    streams = await _streams(log, shared)
    await asyncio.gather(*(write(stream, 30) for stream in streams))
    await asyncio.to_thread(postgres.kill)
    await _assert_unavailable(streams, user)
    with pytest.raises(Unavailable):
        await log.open(streams[0].turn, 1)
    with pytest.raises(Unavailable):
        await check(log, streams[0].turn, 31)
    await asyncio.to_thread(postgres.restart)
    await _assert_nothing_half_done(shared, user)
    await _go_on(log, streams, 60)


async def _streams(log: Log, database: Database) -> list[Stream]:
    return [await log.open((await make_turn(database)).num, 1) for _ in range(5)]


async def _assert_unavailable(streams: list[Stream], user: str) -> None:
    for stream in streams[1:]:
        stream.put(word(stream.turn, 31))
    commits = [streams[0].commit(word(streams[0].turn, 31), also=_fill(user))]
    commits += [stream.commit() for stream in streams[1:]]
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {Unavailable}
    for stream in streams:
        with pytest.raises(Unavailable):
            stream.put(word(stream.turn, 32))


async def _assert_nothing_half_done(database: Database, user: str) -> None:
    found = await database.read(users.get, user)
    assert found is not None
    assert found.password_hash == "hash"


async def _go_on(log: Log, streams: list[Stream], last: int) -> None:
    fresh = [await log.open(stream.turn, 1) for stream in streams]
    assert [stream.last for stream in fresh] == [30] * len(fresh)
    await asyncio.gather(*(write(stream, last) for stream in fresh))
    await _assert_whole(log, fresh, last)


async def _assert_whole(log: Log, streams: list[Stream], last: int) -> None:
    for stream in streams:
        assert places(await stored(log, stream.turn)) == list(range(1, last + 1))
        await check(log, stream.turn, last)


def _fill(user: str) -> Callable[[Connection], None]:
    """Write more than fits on the existing pages."""
    return lambda connection: users.set_password(connection, user, "x" * 100_000)


async def _slowly() -> None:
    await asyncio.sleep(0.001)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Another process holds the file for writing."""
    command = [sys.executable, "-S", "-c", LOCKER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as locker:
        assert locker.stdin is not None
        assert locker.stdout is not None
        assert locker.stdout.readline() == b"locked\n"
        yield
        locker.stdin.close()


@contextmanager
def _full(path: Path) -> Iterator[None]:
    """No file of this process can grow beyond the current size of the write-ahead log."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.with_name(path.name + "-wal").stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
