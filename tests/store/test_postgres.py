"""PostgreSQL: many processes on the same rows, and a server that becomes unavailable."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import Connection

from caesura.core.errors import StartupError, Unavailable
from caesura.core.interrupts import Approval
from caesura.store import interrupts, keys, users
from caesura.store.open import open_database
from caesura.store.postgres import Postgres as Store
from tests.conformance.rows import change_turn, make_conversation, make_turn, make_user
from tests.servers import Postgres
from tests.servers.server import free_port

ANSWER = """
import asyncio, json, sys
from caesura.core.answers import Answer
from caesura.core.errors import AlreadyAnswered
from caesura.store import life
from caesura.store.open import open_database

async def main(url, name):
    database = await open_database(url)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    answers = [Answer("reject", message=f"{name}-{number}") for number in range(10)]
    tries = (database.write(life.answer, "alice", {"int-1": answer}) for answer in answers)
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    won = [answer.message for answer, outcome in zip(answers, outcomes) if outcome is True]
    lost = [outcome.decision["message"] for outcome in outcomes if isinstance(outcome, AlreadyAnswered)]
    print(json.dumps([won, lost]), flush=True)
    await database.close()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest_asyncio.fixture
async def database(postgres_url: str) -> AsyncIterator[Store]:
    database = await Store.open(postgres_url)
    yield database
    await database.close()


async def test_one_of_many_concurrent_answers_from_several_processes_wins(
    database: Store, postgres_url: str
) -> None:
    await make_user(database, "alice")
    turn = await make_turn(database, await make_conversation(database, "alice"))
    await database.write(interrupts.ask, turn.num, "alice", {"g": Approval("int-1")})
    await change_turn(database, turn, status="waiting")
    outcomes = await asyncio.to_thread(_answer_in_processes, postgres_url, 3)
    won = [message for each, _ in outcomes for message in each]
    lost = [message for _, each in outcomes for message in each]
    assert len(won) == 1
    assert lost == won * 29
    answer = (await database.read(interrupts.get, "int-1", "alice")).answer
    assert answer is not None
    assert answer.message == won[0]


async def test_a_key_stored_by_one_connection_during_a_lookup_by_another_is_kept(
    database: Store, postgres_url: str
) -> None:
    other = await Store.open(postgres_url)
    await make_user(database, "alice")
    kept, looked = threading.Event(), threading.Event()

    def keep(connection: Connection) -> None:
        keys.keep(connection, "alice", "k", "print", "first", None)
        kept.set()
        looked.wait(60)

    def look(connection: Connection) -> Any:
        kept.wait(60)
        found = keys.find(connection, "alice", "k", "print")
        looked.set()
        return found

    both = (asyncio.to_thread(database.write_now, keep), asyncio.to_thread(other.write_now, look))
    assert await asyncio.gather(*both) == [None, None]
    await other.close()
    assert await database.write(keys.find, "alice", "k", "print") == "first"


async def test_a_restarted_server_is_unavailable_and_then_works_again(
    postgres: Postgres, database: Store
) -> None:
    await asyncio.gather(*(make_user(database, f"user-{number}") for number in range(10)))
    await asyncio.to_thread(database.write_now, users.listing)
    await asyncio.to_thread(postgres.restart)
    failures = 0
    while True:
        try:
            await database.write(users.create, "after", "hash")
            break
        except Unavailable:
            failures += 1
            assert failures < 20
    assert len(await database.read(users.listing)) == 11
    for _ in range(2):
        try:
            assert len(await asyncio.to_thread(database.write_now, users.listing)) == 11
        except Unavailable:
            continue
    assert len(await asyncio.to_thread(database.write_now, users.listing)) == 11


async def test_a_dead_server_is_unavailable_and_keeps_nothing_half_written(
    postgres: Postgres, database: Store
) -> None:
    def work(connection: Connection) -> None:
        users.create(connection, "half", "hash")
        postgres.kill()
        users.create(connection, "whole", "hash")

    with pytest.raises(Unavailable):
        await database.write(work)
    for attempt in (database.write(users.listing), database.read(users.listing)):
        with pytest.raises(Unavailable):
            await attempt
    with pytest.raises(Unavailable):
        await asyncio.to_thread(database.write_now, users.listing)
    await asyncio.to_thread(postgres.restart)
    assert await database.read(users.listing) == []
    await database.write(users.create, "whole", "hash")


async def test_a_cut_connection_is_unavailable_once(database: Store, postgres_url: str) -> None:
    await database.write(users.create, "before", "hash")
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'caesura'"
        )
    with pytest.raises(Unavailable):
        await database.write(users.create, "lost", "hash")
    await database.write(users.create, "after", "hash")
    assert [user.id for user in await database.read(users.listing)] == ["after", "before"]


async def test_every_connection_gives_up_in_time(database: Store) -> None:
    """A server, a network or another session that does not answer blocks no connection for ever."""
    bounds = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")

    def unbounded(connection: Connection) -> list[str]:
        made: Any = connection.connection.driver_connection
        given = made.info.get_parameters()
        network = [name for name in ("connect_timeout", "tcp_user_timeout") if given.get(name, "0") == "0"]
        shown = {name: connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in bounds}
        return network + [name for name, value in shown.items() if value == "0"]

    assert await database.read(unbounded) == []
    assert await database.write(unbounded) == []
    assert await database.write_lightly(unbounded) == []
    assert await asyncio.to_thread(database.write_now, unbounded) == []


async def test_work_aborted_by_a_deadlock_is_retried(database: Store) -> None:
    names = [await make_user(database), await make_user(database)]
    tries: list[str] = []

    async def change(first: str, second: str) -> None:
        def work(connection: Connection) -> None:
            tries.append(first)
            users.set_password(connection, first, "new")
            connection.exec_driver_sql("SELECT pg_sleep(1)")  # until the other one has locked its first row
            users.set_password(connection, second, "new")

        await database.write(work)

    await asyncio.gather(change(*names), change(*reversed(names)))
    assert sorted(set(tries)) == sorted(names)
    assert len(tries) > 2  # on a busy machine they may meet twice


async def test_an_unreachable_server_stops_the_start_in_one_line_without_the_password() -> None:
    port = free_port()
    with pytest.raises(StartupError) as caught:
        await open_database(f"postgresql://alice:secret@127.0.0.1:{port}/caesura?password=secret")
    message = str(caught.value)
    assert message.startswith(f"postgresql://alice:***@127.0.0.1:{port}/caesura cannot be opened: ")
    assert "Connection refused" in message
    assert "secret" not in message
    assert "\n" not in message


async def test_a_missing_database_stops_the_start_in_one_line(postgres: Postgres, postgres_url: str) -> None:
    with pytest.raises(StartupError, match='database "missing" does not exist') as caught:
        await open_database(postgres.database_url("missing"))
    assert "\n" not in str(caught.value)


async def test_every_commit_is_announced(postgres_url: str) -> None:
    told: list[str] = []
    database = await open_database(postgres_url, after_commit=lambda: told.append("committed"))
    told.clear()
    assert database.shared
    await database.write(users.create, "alice", "hash")
    assert told == ["committed"]
    await database.read(users.listing)
    assert told == ["committed"]
    await database.close()


def _answer_in_processes(url: str, count: int) -> list[tuple[list[str], list[str]]]:
    """The answers won and lost in each process. All processes begin together."""
    running = [_Process(url, f"p{number}") for number in range(count)]
    assert [process.read() for process in running] == ["ready\n"] * count
    for process in running:
        process.write("go\n")
    return [tuple(json.loads(process.finish())) for process in running]


class _Process:
    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-c", ANSWER, *words]
        self._popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self.read = self._popen.stdout.readline
        self._stdin = self._popen.stdin

    def write(self, line: str) -> None:
        self._stdin.write(line)
        self._stdin.flush()

    def finish(self) -> str:
        out, _ = self._popen.communicate()
        return out
