"""A confirmation waits for so many seconds by the database's clock, then it is gone."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from caesura.core.interrupt_state import Session as Place
from caesura.core.interrupt_state import checkpoint_id
from caesura.core.interrupts import Confirmation
from tests.api.reading import until
from tests.api.server import Served
from tests.api.superagent.session import Session, of, said

_EPOCH, _DAY = 2440587.5, 86_400_000


class Clock:
    """The clock of every SQLite database in this process: `stop` sets it to a time, `go` lets it run on."""

    def __init__(self) -> None:
        self._stopped: int | None = None

    def stop(self, milliseconds: int) -> None:
        self._stopped = milliseconds

    def go(self) -> None:
        self._stopped = None

    def julian(self, _: str) -> float:
        now = time.time() * 1000 if self._stopped is None else self._stopped
        return now / _DAY + _EPOCH


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()

    def connected(connection: sqlite3.Connection, _: object) -> None:
        connection.create_function("julianday", 1, clock.julian)

    event.listen(Engine, "connect", connected)
    yield clock
    event.remove(Engine, "connect", connected)


def test_a_confirmation_can_be_given_until_its_time_is_over(tmp_path: Path, clock: Clock) -> None:
    with Served(tmp_path) as server, server.client() as client:
        in_time, late = Session.new(client), Session.new(client)
        for session in (in_time, late):
            session.chat("delete the old rows")
        expiry = expires_at(in_time), expires_at(late)
        clock.stop(expiry[0] - 1)
        assert in_time.waiting()["interrupted"] is True
        assert said(in_time.resume(confirm=True))
        clock.stop(expiry[1])
        assert late.waiting() == {"interrupted": False}
        refused = late.decide({"confirm": True})
        text = f"no pending interrupt for session: {late.session_id}"
        assert (refused.status_code, refused.json()) == (409, {"error": text})
        assert said(late.chat("echo on")) == "on"
        clock.go()


def test_it_waits_as_long_as_the_agent_says(tmp_path: Path, clock: Clock) -> None:
    with Served(tmp_path) as server, server.client() as client:
        asked = 1_700_000_000_000
        clock.stop(asked)
        session = Session.new(client)
        session.chat("delete the old rows")
        assert expires_at(session) == asked + 300_000
        clock.go()


def test_an_expired_confirmation_is_closed_and_the_stream_says_so(session: Session) -> None:
    hasty = Session.new(session.client, "hasty")
    asked = hasty.chat("delete the old rows")
    until(lambda: hasty.waiting() == {"interrupted": False})
    until(lambda: hasty.turns()[-1]["status"] == "stopped")
    (closed,) = of(hasty.join(asked[-1].id), "progress")
    assert closed == {"status": "stopped", "reason": "timeout"}
    assert hasty.decide({"confirm": True}).status_code == 409


def expires_at(session: Session) -> int:
    """When the question expires that the session shows."""
    shown, place = session.state()["checkpoint_id"], Place(session.agent_id, session.session_id)
    found = session.client.get("/api/v2/interrupts").json()["interrupts"]
    named = {checkpoint_id(place, [Confirmation(item["id"])]): item["expires_at"] for item in found}
    return int(named[shown])
