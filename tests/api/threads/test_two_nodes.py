"""Two nodes on one database: the readers of a run count, whichever node they are connected to."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.server import Served
from tests.api.threads.thread import Thread, read, said

GRACE = 0.5
#: A node checks three times within this time whether it should stop a run.
LEASE = 6


@pytest.fixture
def clients(tmp_path: Path, postgres_url: str) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    with (
        Served(tmp_path / "a", database_url=postgres_url, disconnect_grace=GRACE, lease=LEASE) as first,
        Served(tmp_path / "b", database_url=postgres_url, disconnect_grace=GRACE, lease=LEASE) as second,
        first.client() as here,
        second.client() as there,
    ):
        yield here, there


def test_a_run_that_is_read_on_another_node_is_not_stopped(
    clients: tuple[httpx.Client, httpx.Client],
) -> None:
    here, there = clients
    thread = Thread.new(here)
    with thread.chatting("count to 400 delay=0.01") as found:
        with thread.at(there).joining() as seen:
            read(seen, 10)
        refused = thread.at(there).send("count to 3")
        assert (refused.status_code, refused.json()["detail"]) == (409, "run in progress")
        assert said(list(found)).endswith("399 400 done.")


def test_a_reader_that_returns_on_another_node_reads_to_the_end(
    clients: tuple[httpx.Client, httpx.Client],
) -> None:
    here, there = clients
    thread = Thread.new(here)
    with thread.chatting("count to 250 delay=0.01") as found:
        read(found, 10)
    assert said(thread.at(there).join()).endswith("249 250 done.")


def test_a_run_is_stopped_once_nobody_reads_it_on_any_node(
    clients: tuple[httpx.Client, httpx.Client],
) -> None:
    here, there = clients
    thread = Thread.new(here)
    with thread.chatting("count to 5000 delay=0.01") as found:
        read(found, 10)
    with thread.at(there).joining() as seen:
        read(seen, 200)
    thread.until_idle()
    assert not thread.history()[-1][1].endswith("5000 done.")
