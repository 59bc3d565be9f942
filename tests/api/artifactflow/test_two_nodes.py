"""Two nodes on one PostgreSQL: a run is read, decided on and cancelled on either."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.artifactflow.message import LIVE, Message, kinds, last, said, sent
from tests.api.server import Served


@pytest.fixture
def clients(tmp_path: Path, postgres_url: str) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    with (
        Served(tmp_path / "a", database_url=postgres_url) as first,
        Served(tmp_path / "b", database_url=postgres_url) as second,
        first.client() as here,
        second.client() as there,
    ):
        yield here, there


def test_a_run_is_read_resumed_and_cancelled_on_another_node(
    clients: tuple[httpx.Client, httpx.Client],
) -> None:
    here, there = clients
    message = Message.send(here, "write a.txt + write b.txt")
    asked = message.at(there).read()
    assert asked == message.read()
    for number, event in enumerate(asked[:-1]):
        assert message.at(there).read(event.id) == asked[number + 1 :]
    resumed = message.at(there).resume(approved=False)
    assert kinds(resumed)[-1] == "complete"
    assert message.read(asked[-1].id) == resumed
    assert message.decide(approved=True).status_code == 409

    running = message.then("wait 600 seconds")
    busy = sent(there, "echo x", conversation_id=message.conversation_id)
    assert (busy.status_code, busy.json()["detail"]) == (409, "run in progress")
    beside = message.at(there).then("echo beside", parent_message_id=message.id)
    assert said(beside.read()) == "beside"
    assert running.shown()["status"] in LIVE
    assert running.at(there).cancel(message_id=running.id) is True
    assert last(running.at(there).read(), "complete")["cancelled"] is True
    assert here.delete(f"/api/v1/chat/{message.conversation_id}").status_code == 204
    assert there.get(message.url).status_code == 404
