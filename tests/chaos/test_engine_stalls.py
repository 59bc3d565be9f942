"""An owner that is paused (SIGSTOP) beyond its lease and resumes writes no stale row."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from caesura.core.errors import StartupError
from caesura.store import schema
from caesura.store.open import open_database
from tests.chaos.engine_life import Lives, Orders, rows_of
from tests.chaos.engine_scene import Place, look, traces

LEASE = 0.6
SAID = "".join(f"{number} " for number in range(60))


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with Lives() as lives:
        yield lives


@pytest.fixture
def shared(tmp_path: Path, postgres_url: str) -> Iterator[Place]:
    with closing(Place(tmp_path, postgres_url)) as place:
        yield place


@pytest.fixture
def file(tmp_path: Path) -> Place:
    return Place(tmp_path, None)


def hasty(place: Place, agent: str) -> Orders:
    return replace(place.orders(agent), lease=LEASE, poll=0.1, alone=False, unknown="reject")


def rows(orders: Orders) -> dict[str, list[Any]]:
    """Every row of every table."""
    engine = rows_of(orders.url)

    def everything(connection: Connection) -> dict[str, list[Any]]:
        tables = schema.metadata.sorted_tables
        return {
            t.name: [tuple(row) for row in connection.execute(select(t).order_by(*t.primary_key))]
            for t in tables
        }

    with engine.connect() as connection:
        found = everything(connection)
    engine.dispose()
    return found


def until(orders: Orders, ready: Callable[[dict[str, list[Any]]], bool]) -> None:
    deadline = time.monotonic() + 60
    while not ready(rows(orders)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def resumed_too_late(lives: Lives, orders: Orders, owner: int) -> None:
    """Pause the owner until another process has ended its turn. Then it resumes, and changes nothing."""
    os.kill(owner, signal.SIGSTOP)
    assert lives.run(orders) is not None
    before = rows(orders)
    os.kill(owner, signal.SIGCONT)
    assert lives.end(owner) is not None
    assert rows(orders) == before


def test_an_owner_paused_during_a_reply_changes_nothing_when_it_resumes(lives: Lives, shared: Place) -> None:
    orders = hasty(shared, "slow")
    owner = lives.start(orders)
    until(orders, lambda found: len(found["events"]) > 1)
    resumed_too_late(lives, orders, owner)
    (found,) = asyncio.run(look(orders))
    assert found.texts == [SAID]
    assert found.row.epoch > 1


def test_an_owner_paused_inside_a_tool_changes_nothing_when_it_resumes(lives: Lives, shared: Place) -> None:
    orders = hasty(shared, "waits")
    owner = lives.start(orders)
    until(orders, lambda found: len(found["tool_calls"]) == 1)
    resumed_too_late(lives, orders, owner)
    (found,) = asyncio.run(look(orders))
    assert found.unknown == {"call-wait"}
    assert traces(orders) == ["wait w"]


def test_a_paused_owner_of_a_sqlite_file_continues_its_own_turn(lives: Lives, file: Place) -> None:
    """Nobody else can open the file, so nobody adopts the turn: the owner itself finds that its lease has
    expired."""
    orders = hasty(file, "slow")
    owner = lives.start(orders)
    until(orders, lambda found: len(found["events"]) > 1)
    os.kill(owner, signal.SIGSTOP)
    with pytest.raises(StartupError, match="in use"):
        asyncio.run(open_database(orders.url))
    time.sleep(2 * LEASE)
    os.kill(owner, signal.SIGCONT)
    assert lives.end(owner) is not None
    (found,) = asyncio.run(look(orders))
    assert found.texts == [SAID]


def test_a_paused_owner_of_a_sqlite_file_does_not_run_a_tool_twice(lives: Lives, file: Place) -> None:
    lease = LEASE / 2
    orders = replace(hasty(file, "tools"), lease=lease)
    owner = lives.start(orders)
    for _ in range(8):
        time.sleep(0.03)
        os.kill(owner, signal.SIGSTOP)
        time.sleep(1.5 * lease)
        os.kill(owner, signal.SIGCONT)
    assert lives.end(owner) is not None
    (found,) = asyncio.run(look(orders))
    for call, effect in {"call-tools-1-note": "note a", "call-tools-1-seal": "seal b"}.items():
        assert traces(orders).count(effect) in ((0, 1) if call in found.unknown else (1,))
