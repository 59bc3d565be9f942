"""The throw-away servers themselves."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from redis import Redis as Client
from redis.asyncio import Redis as AsyncClient
from redis.exceptions import ConnectionError as NoConnection

from tests.servers import Missing, Postgres, Redis, binaries, install
from tests.servers.server import DidNotStart, free_port

ROOT = Path(__file__).parents[2]
OWN_SERVERS = """
import time
from tests.servers import Postgres, Redis
for server in [kind.start() for kind in (Postgres, Redis)]:
    print(server.folder, flush=True)
print("ready", flush=True)
time.sleep(600)
"""


def test_each_test_gets_an_empty_database(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        assert _tables(connection) == []
        connection.execute("create table left_behind (id int)")


def test_the_next_test_sees_nothing_of_the_last(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        assert _tables(connection) == []


async def test_an_async_client_connects_to_postgres(postgres_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(postgres_url) as connection:
        cursor = await connection.execute("select current_database()")
        assert await cursor.fetchone() == (postgres_url.rsplit("/", 1)[1],)


def test_a_database_is_dropped_under_open_connections(postgres: Postgres) -> None:
    connection = psycopg.connect(postgres.create_database("held_open"))
    postgres.drop_database("held_open")
    with pytest.raises(psycopg.OperationalError):
        connection.execute("select 1")
    connection.close()


def test_postgres_keeps_its_durability(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url) as connection:
        settings = {
            name: _show(connection, name) for name in ("fsync", "synchronous_commit", "max_connections")
        }
    assert settings == {"fsync": "on", "synchronous_commit": "on", "max_connections": "200"}


def test_postgres_listens_on_the_loopback_only(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url) as connection:
        assert _show(connection, "listen_addresses") == "127.0.0.1"


def test_postgres_keeps_its_rows_and_its_address_over_a_restart(
    postgres: Postgres, postgres_url: str
) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("create table kept (id int)")
    url = postgres.url
    postgres.restart()
    assert postgres.url == url
    with psycopg.connect(postgres_url) as connection:
        assert _tables(connection) == ["kept"]


def test_postgres_keeps_its_committed_rows_over_a_crash(postgres: Postgres, postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("create table kept (id int)")
    postgres.kill()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(postgres_url)
    postgres.restart()
    with psycopg.connect(postgres_url) as connection:
        assert _tables(connection) == ["kept"]


def test_a_test_may_leave_postgres_dead(postgres: Postgres, postgres_url: str) -> None:
    postgres.kill()
    assert not postgres.running


def test_and_the_next_test_finds_it_alive(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        assert _tables(connection) == []


def test_each_test_gets_an_empty_redis(redis_url: str) -> None:
    with Client.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("left", "behind")


def test_the_next_test_sees_no_key_of_the_last(redis_url: str) -> None:
    with Client.from_url(redis_url) as client:
        assert client.dbsize() == 0


async def test_an_async_client_connects_to_redis(redis_url: str) -> None:
    async with AsyncClient.from_url(redis_url) as client:
        assert await client.ping()


def test_redis_is_gone_when_killed_and_back_when_restarted(redis: Redis, redis_url: str) -> None:
    redis.kill()
    with Client.from_url(redis_url) as client, pytest.raises(NoConnection):
        client.ping()
    redis.restart()
    assert redis.url == redis_url
    with Client.from_url(redis_url) as client:
        assert client.ping()


def test_stopping_leaves_no_process_and_no_folder(redis: Redis) -> None:
    with Redis.start() as second:
        assert second.port != redis.port
        assert second.running
    assert not second.folder.exists()
    with pytest.raises(DidNotStart):
        second.restart()
    second.stop()


def test_a_killed_test_run_leaves_no_process_and_no_folder(postgres: Postgres, redis: Redis) -> None:
    with _run_with_own_servers() as (run, folders):
        children = psutil.Process(run.pid).children(recursive=True)
        assert len(children) >= 4
        run.send_signal(signal.SIGKILL)
        run.wait()
        _eventually(lambda: not any(_alive(child) for child in children))
        _eventually(lambda: not any(folder.exists() for folder in folders))


def test_a_killed_keeper_takes_its_server_along(postgres: Postgres, redis: Redis) -> None:
    server = Redis.start()
    keeper = psutil.Process(server._keeper.pid)
    children = keeper.children(recursive=True)
    keeper.kill()
    _eventually(lambda: not any(_alive(child) for child in children))
    server.stop()
    assert not server.folder.exists()


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "_folders", lambda program: iter(()))
    with pytest.raises(Missing, match="initdb was not found"):
        binaries.need("initdb")
    assert install.missing() == list(install.PACKAGES)


def test_services_stay_off_only_while_packages_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / "policy-rc.d"
    monkeypatch.setattr(install, "POLICY", policy)
    with install.services_stay_off():
        assert subprocess.run([policy], check=False).returncode == 101
    assert not policy.exists()


def test_a_machine_with_a_policy_of_its_own_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tmp_path / "policy-rc.d"
    policy.write_text("its own")
    monkeypatch.setattr(install, "POLICY", policy)
    with install.services_stay_off():
        assert policy.read_text() == "its own"
    assert policy.read_text() == "its own"


def test_a_free_port_is_below_the_outgoing_ones() -> None:
    assert 20_000 <= free_port() < 32_000


@pytest.mark.parametrize(
    ("environment", "outcome"),
    [({}, "skipped"), ({"CI": "true"}, "error"), ({"CAESURA_TESTS_REQUIRE_SERVERS": "1"}, "error")],
)
def test_a_missing_server_skips_its_test_alone_but_fails_in_ci(
    tmp_path: Path, environment: dict[str, str], outcome: str
) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "from tests.servers import binaries\n"
        "from tests.conftest import redis, redis_url\n"
        "binaries._folders = lambda program: iter(())\n"
        "def test_redis(redis_url): pass\n"
        "def test_else(): pass\n"
    )
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT}\n")
    ours = ("CI", "CAESURA", "PYTEST")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", str(test)],
        cwd=tmp_path,
        env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "redis-server was not found" in done.stdout
    assert f"1 passed, 1 {outcome}" in done.stdout


def _tables(connection: psycopg.Connection[Any]) -> list[str]:
    rows = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
    return [row[0] for row in rows]


def _show(connection: psycopg.Connection[Any], name: str) -> str:
    row = connection.execute("select current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


@contextmanager
def _run_with_own_servers() -> Iterator[tuple[subprocess.Popen[str], list[Path]]]:
    command = [sys.executable, "-c", OWN_SERVERS]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        try:
            folders = [Path(run.stdout.readline().strip()) for _ in range(2)]
            assert run.stdout.readline() == "ready\n"
            yield run, folders
        finally:
            run.kill()


def _alive(process: psutil.Process) -> bool:
    """An orphan that ended may wait to be buried by a first process that never does."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
