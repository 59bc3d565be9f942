"""A connected or connecting client keeps its run, however slow the storage is. A client that leaves does
not."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tests.api.reading import conversation, follow, until
from tests.api.server import Served
from tests.api.slow_storage import PATIENCE, Held, hold_before, hold_disk
from tests.api.threads.thread import Thread, read

T = TypeVar("T")
GRACE = 0.1
#: A message whose answer takes longer than any test here.
LONG = "count to 20000 delay=0.005"


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """A thread pool that outlives the servers: their end releases the waiting clients."""
    with ThreadPoolExecutor(8) as pool:
        yield pool


@pytest.fixture
def slow(tmp_path: Path, database_url: str, pool: ThreadPoolExecutor) -> Iterator[Served]:
    with Served(tmp_path / "server", database_url=database_url, disconnect_grace=GRACE) as server:
        yield server


@pytest.fixture
def patient(tmp_path: Path, database_url: str, pool: ThreadPoolExecutor) -> Iterator[Served]:
    with Served(tmp_path / "server", database_url=database_url, disconnect_grace=600) as server:
        yield server


@pytest.fixture
def thread(slow: Served) -> Iterator[Thread]:
    with slow.client() as client:
        yield Thread.new(client)


class Reader:
    """A client in a separate thread. It joins, or sends a message, and reads until it is asked to leave."""

    def __init__(
        self, server: Served, thread: Thread, pool: ThreadPoolExecutor, message: str | None = None
    ) -> None:
        self.pieces = 0
        self._left = threading.Event()
        self.done: Future[None] = pool.submit(self._read, server, thread, message)

    def leave(self) -> None:
        self._left.set()
        self.done.result(PATIENCE)

    def _read(self, server: Served, thread: Thread, message: str | None) -> None:
        with server.client() as client:
            mine = thread.at(client)
            with mine.joining() if message is None else mine.chatting(message) as found:
                for _ in found:
                    self.pieces += 1
                    if self._left.is_set():
                        return


def test_a_double_click_does_not_stop_the_run_of_the_first_click(
    patient: Served, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with patient.client() as client:
        thread = Thread.new(client)
        disk = hold_disk(patient, monkeypatch)
        first = Reader(patient, thread, pool, LONG)
        disk.until_reached()
        second = pool.submit(thread.send, LONG)
        if not patient.database.shared:  # there it waits for the first request of the same person
            until(second.done)
        disk.release()
        assert second.result(PATIENCE).status_code == 409
        until(lambda: first.pieces > 20)
        assert thread.status()["running"]
        assert [role for role, _ in thread.history()].count("user") == 1
        assert thread.stop()
        first.leave()


def left_while(thread: Thread, join: Held, come: Callable[[], T]) -> T:
    """The thread's only reader leaves while a request to join, which `come` sends, waits for the storage.
    Returns what `come` returns."""
    with thread.chatting(LONG) as found:
        read(found, 3)
        coming = come()
        join.until_reached()
    return coming


def test_a_disk_that_is_slower_than_the_grace_does_not_stop_the_run(
    slow: Served, thread: Thread, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = hold_disk(slow, monkeypatch)
    first = Reader(slow, thread, pool, LONG)
    disk.until_reached()
    time.sleep(GRACE * 3)
    assert thread.status()["running"]
    disk.release()
    until(lambda: first.pieces > 20)
    assert thread.status()["running"]
    first.leave()
    thread.until_idle()


def test_a_reader_that_returns_on_slow_storage_keeps_the_run_until_it_leaves_again(
    slow: Served, thread: Thread, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = hold_before(slow, monkeypatch, "read", "_join")
    back = left_while(thread, join, lambda: Reader(slow, thread, pool))
    time.sleep(GRACE * 3)
    assert thread.status()["running"]
    join.release()
    until(lambda: back.pieces > 3)
    assert thread.status()["running"]
    back.leave()
    thread.until_idle()
    assert "20000" not in thread.history()[-1][1]


def test_a_reader_that_failed_to_return_does_not_keep_the_run(
    slow: Served, thread: Thread, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = hold_before(slow, monkeypatch, "read", "_join")
    back = left_while(thread, join, lambda: pool.submit(_join, slow, thread))
    time.sleep(GRACE * 3)
    assert thread.status()["running"]
    join.refuse()
    assert back.result(PATIENCE) == 503
    thread.until_idle()


def test_a_reader_that_returns_while_the_stop_waits_keeps_the_run(
    slow: Served, thread: Thread, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = hold_before(slow, monkeypatch, "write", "Engine.stop")
    with thread.chatting(LONG) as found:
        read(found, 3)
    stop.until_reached()
    back = Reader(slow, thread, pool)
    until(lambda: back.pieces > 3)
    stop.release()
    seen = back.pieces
    until(lambda: back.pieces > seen + 50)
    assert thread.status()["running"]
    back.leave()
    thread.until_idle()


def test_another_persons_request_for_the_thread_does_not_keep_the_run(
    slow: Served, thread: Thread, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    join = hold_before(slow, monkeypatch, "read", "_join")
    other = left_while(thread, join, lambda: pool.submit(_join, slow, thread, "bob"))
    thread.until_idle()
    join.release()
    assert other.result(PATIENCE) == 403


def test_a_repeated_request_on_slow_storage_keeps_the_run_of_the_first(
    patient: Served, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with patient.client() as client:
        url, key = f"/api/v2/conversations/{conversation(client)}/turns", {"Idempotency-Key": "click"}
        sent = {"content": LONG, "on_disconnect": "stop"}
        turn = client.post(url, json=sent, headers=key).json()["id"]
        again = hold_before(patient, monkeypatch, "write_ahead")
        found = follow(client, turn)
        for _ in range(3):
            next(found)
        second = pool.submit(_post, patient, url, sent, key)
        again.until_reached()
        monkeypatch.setattr(patient.context.service.presence, "_grace", GRACE)
        found.close()  # type: ignore[attr-defined]
        time.sleep(GRACE * 3)
        again.release()
        repeated = second.result(PATIENCE).json()
        assert (repeated["id"], repeated["status"]) == (turn, "running")
        until(lambda: client.get(f"/api/v2/turns/{turn}").json()["status"] == "stopped")


def test_many_concurrent_clicks_with_one_key_make_one_turn(slow: Served, pool: ThreadPoolExecutor) -> None:
    with slow.client() as client:
        made = conversation(client)
        url, key = f"/api/v2/conversations/{made}/turns", {"Idempotency-Key": "click"}
        clicks = [pool.submit(_post, slow, url, {"content": "echo x"}, key) for _ in range(8)]
        answers = [click.result(PATIENCE) for click in clicks]
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json()["id"] for answer in answers}) == 1
        assert len(client.get(f"/api/v2/conversations/{made}").json()["turns"]) == 1


def _join(server: Served, thread: Thread, user_id: str = "alice") -> int:
    with server.client(user_id) as client:
        return client.get(f"/api/chat/{thread.id}/stream").status_code


def _post(server: Served, url: str, body: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    with server.client() as client:
        return client.post(url, json=body, headers=headers)
