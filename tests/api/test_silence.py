"""A database that falls silent: no reset, no response. The server reports it, and can be shut down."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from caesura.http import health
from caesura.service import service
from caesura.store import postgres
from tests.api.reading import conversation, follow, send, until
from tests.api.server import SECRET, Served
from tests.client.process import Process
from tests.relay import Relay


def hasty() -> None:
    """Cut a silent connection soon."""
    postgres._LIMIT, postgres._WAIT = 3.0, 3


@contextmanager
def served(folder: Path, **settings: Any) -> Iterator[tuple[Process, httpx.Client]]:
    with (
        Process(folder, **settings) as process,
        httpx.Client(base_url=process.url, timeout=30, trust_env=False) as client,
    ):
        yield process, client


@contextmanager
def relayed(
    folder: Path, postgres_url: str, **settings: Any
) -> Iterator[tuple[Relay, Process, httpx.Client]]:
    """A server process that reaches its database through a relay, and soon cuts a silent connection."""
    with (
        Relay(postgres_url) as relay,
        served(folder, before=hasty, database_url=relay.url, secret=SECRET, **settings) as (process, client),
    ):
        yield relay, process, client


def test_ready_has_its_own_time_limit(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks gets an answer long before a silent connection is cut: here it is never cut."""
    monkeypatch.setattr(health, "_PATIENCE", 0.3)
    monkeypatch.setattr(postgres, "_LIMIT", 3600.0)
    monkeypatch.setattr(service, "_PROBED", 0.0)
    with ExitStack() as after, Relay(postgres_url) as relay:
        server = Served(tmp_path, database_url=relay.url).start()
        after.callback(server.stop)  # without the relay its connections are closed, and nothing hangs
        with server.client(None) as client:
            assert client.get("/ready").status_code == 200
            relay.silence()
            refused = client.get("/ready")
            assert (refused.status_code, refused.json()["detail"]) == (503, "the database takes no writes")


def test_a_silent_database_is_reported_and_does_not_block_the_shutdown(
    tmp_path: Path, postgres_url: str
) -> None:
    with relayed(tmp_path, postgres_url, drain=0.5) as (relay, process, client):
        send(client, conversation(client), "count to 100000 delay=0.01")
        assert client.get("/ready").status_code == 200
        relay.silence()
        time.sleep(1.1)  # a success is remembered for a second
        refused = client.get("/ready")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert client.get("/health").status_code == 200
        assert _listing(client) == 503
        assert process.terminate() == 0


def test_a_node_continues_when_a_silent_database_is_back(tmp_path: Path, postgres_url: str) -> None:
    """Existing connections stay silent, including those of the heartbeat and of readers."""
    with relayed(tmp_path, postgres_url, lease=3.0) as (relay, _, client):
        turn = send(client, conversation(client), "count to 800 delay=0.01")
        time.sleep(2.5)  # at least one heartbeat has made its connection
        relay.silence()
        until(lambda: client.get("/ready").status_code == 503)
        relay.restore()
        until(lambda: client.get("/ready").status_code == 200, 60)
        until(lambda: _listing(client) == 200, 60)
        assert "".join(_words(client, turn["id"])).split() == [*map(str, range(1, 801)), "done."]
        assert client.get("/ready").status_code == 200


def test_a_database_that_takes_no_writes_is_reported(tmp_path: Path, postgres_url: str) -> None:
    """As a primary does that became a standby: it still answers questions."""
    name = urlsplit(postgres_url).path.removeprefix("/")

    def read_only(value: str) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {value}')
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    with served(tmp_path, database_url=postgres_url, secret=SECRET) as (_, client):
        try:
            read_only("on")
            until(lambda: _listing(client) == 200)
            until(lambda: client.get("/ready").status_code == 503)
            assert _listing(client) == 200
        finally:
            read_only("off")
        until(lambda: client.get("/ready").status_code == 200)


def test_a_sqlite_file_that_takes_no_writes_is_reported(tmp_path: Path) -> None:
    with served(tmp_path) as (_, client):
        [file] = tmp_path.rglob("caesura.db")
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            until(lambda: client.get("/ready").status_code == 503)
            other.execute("ROLLBACK")
        until(lambda: client.get("/ready").status_code == 200)


def _words(client: httpx.Client, turn_id: str) -> list[str]:
    """The text of a reader that reconnects until the turn is over."""
    shown: dict[int, str] = {}
    seen = 0
    while True:
        try:
            for event in follow(client, turn_id, after=seen):
                seen = int(event.id)
                if event.name == "text_delta":
                    shown[event.data["call"]] = shown.get(event.data["call"], "") + event.data["text"]
                elif event.name == "text_voided":
                    shown.pop(event.data["call"], None)
                elif event.name == "finished":
                    return list(shown.values())
        except httpx.HTTPError:
            time.sleep(0.1)


def _listing(client: httpx.Client) -> int:
    return client.get("/api/v2/conversations", timeout=60).status_code
