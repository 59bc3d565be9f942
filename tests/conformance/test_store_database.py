"""The database interface, on every backend."""

import asyncio
import time

import pytest
from sqlalchemy import Connection, create_engine, func, insert, select

from caesura.core.errors import BadInput, Unavailable
from caesura.store import schema, users
from caesura.store.database import Database
from caesura.store.open import open_database


def _count(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(schema.users)).scalar_one()


async def test_a_read_sees_the_last_write(database: Database) -> None:
    await database.write(users.create, "a", "hash")
    await database.write_lightly(users.create, "b", password_hash="hash")
    await asyncio.to_thread(database.write_now, users.create, "c", "hash")
    assert await database.read(_count) == 3


async def test_work_that_fails_leaves_nothing(database: Database) -> None:
    def work(connection: Connection) -> None:
        users.create(connection, "a", "hash")
        raise BadInput("on second thought")

    with pytest.raises(BadInput, match="on second thought"):
        await database.write(work)
    with pytest.raises(BadInput, match="on second thought"):
        await database.write_lightly(work)
    with pytest.raises(BadInput, match="on second thought"):
        await asyncio.to_thread(database.write_now, work)
    assert await database.read(_count) == 0


async def test_a_closed_database_refuses_all_work(database_url: str) -> None:
    database = await open_database(database_url)
    await database.close()
    for work in (database.read, database.write, database.write_lightly, database.write_statement):
        with pytest.raises(Unavailable, match="the database is closed"):
            await work(_count)
    with pytest.raises(Unavailable, match="the database is closed"):
        await asyncio.to_thread(database.write_now, _count)


async def test_an_error_in_a_read_reaches_its_caller(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        await database.read(lambda connection: _count(connection) // 0)
    assert await database.read(_count) == 0


async def test_a_read_sees_one_snapshot(database: Database, database_url: str) -> None:
    engine = create_engine(database_url.replace("postgresql:", "postgresql+psycopg:"))

    def work(connection: Connection) -> tuple[int, int]:
        before = _count(connection)
        with engine.begin() as other:
            row = {"id": "new", "password_hash": "x", "created_at": 0, "conversation_count": 0}
            other.execute(insert(schema.users).values(row))
        return before, _count(connection)

    assert await database.read(work) == (0, 0)
    assert await database.read(_count) == 1
    engine.dispose()


async def test_a_failing_write_does_not_affect_concurrent_ones(database: Database) -> None:
    def work(connection: Connection, number: int) -> int:
        users.create(connection, f"user-{number}", "hash")
        if number % 3 == 0:
            raise BadInput(str(number))
        return number

    tries = (database.write(work, number) for number in range(60))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    for number, outcome in enumerate(outcomes):
        assert outcome == number if number % 3 else str(outcome) == str(number)
    found = {user.id for user in await database.read(users.listing)}
    assert found == {f"user-{number}" for number in range(60) if number % 3}


async def test_a_write_whose_caller_is_cancelled_is_complete_or_not_done(database: Database) -> None:
    def work(connection: Connection, number: int) -> None:
        users.create(connection, f"one-{number}", "hash")
        users.create(connection, f"two-{number}", "hash")

    tasks = [asyncio.create_task(database.write(work, number)) for number in range(10)]
    await asyncio.sleep(0.003)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await database.write(users.create, "last", "hash")
    found = {user.id for user in await database.read(users.listing)}
    for number in range(10):
        assert (f"one-{number}" in found) == (f"two-{number}" in found)


async def test_the_databases_clock_runs_in_milliseconds(database: Database) -> None:
    stamp = await database.read(lambda connection: connection.execute(select(schema.now_ms())).scalar_one())
    assert abs(stamp - time.time() * 1000) < 5_000
