"""A stop that another process requested: the owner finds it in the row, and asks no question after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from caesura.core import events as ev
from caesura.engine import heart
from caesura.engine.interrupts import Interrupts
from caesura.engine.run import Run
from caesura.store import interrupts, life
from caesura.store.database import Database
from tests.engine.world import World, world_over
from tests.openai_server import Call, Desk, Hang, Say
from tests.waiting import until

SEAL = Call("seal", {"text": "b"}, "seal-1")
#: A heartbeat comes only after the end of any test.
LEASE = 3600.0

only_shared = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


@pytest_asyncio.fixture
async def patient(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    """A world without heartbeats."""
    async with world_over(database, tmp_path, desk, lease=LEASE) as world:
        yield world


@only_shared
async def test_the_owner_finds_a_stop_before_its_next_heartbeat(patient: World) -> None:
    patient.agent("tools: []")
    patient.desk.script(Hang(["Once"]))
    turn = await patient.send("tell")
    await patient.until(turn, ev.TextDelta)
    assert await patient.database.write(life.request_stop, turn.num, "user")
    assert (await patient.segment(turn)).outcome == ev.Stopped("user")
    await until(lambda: patient.desk.broken_off == 1)  # the provider's connection is closed, too


@only_shared
async def test_the_owner_keeps_looking_for_stops_after_errors(
    patient: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient.agent("tools: []")
    patient.desk.script(Hang(["Once"]))
    genuine, left = life.stops, [2]

    def stops(connection: Connection, owner: str) -> dict[int, str]:
        if left[0]:
            left[0] -= 1
            raise RuntimeError("a fault of ours")
        return genuine(connection, owner)

    monkeypatch.setattr(life, "stops", stops)
    turn = await patient.send("tell")
    await until(lambda: left == [0])
    assert await patient.database.write(life.request_stop, turn.num, "user")
    assert (await patient.segment(turn)).outcome == ev.Stopped("user")
    assert patient.engine.supervisor.alive


async def test_only_a_process_that_others_can_ask_to_stop_its_turns_looks_for_stops(
    patient: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await patient.engine.drain(0)  # its own heart is silent
    monkeypatch.setattr(heart, "_LOOK", 0.001)
    calls: list[str] = []

    def stops(connection: Connection, owner: str) -> dict[int, str]:
        calls.append(owner)
        return {}

    monkeypatch.setattr(life, "stops", stops)
    for jobs, looks in (({}, False), ({1: object()}, patient.database.shared)):
        beating = heart.Heart(patient.database, "node", 1000, jobs, _unexpected, _unexpected)
        assert not await asyncio.to_thread(beating._rest, 0.01, asyncio.get_running_loop())
        assert bool(calls) is looks


async def test_a_run_that_began_after_the_look_is_not_stopped(patient: World) -> None:
    """Perhaps the turn that was to be stopped ended, and is tried again."""
    patient.agent("tools: []")
    patient.desk.script(Say("hello"))
    turn = await patient.send("tell")
    patient.engine.supervisor._stop_all({}, {turn.num: "user"})
    assert (await patient.segment(turn)).finished


@pytest.mark.parametrize("title", [Say("A title"), Hang()], ids=["titled", "untitled"])
async def test_a_question_is_not_asked_after_a_stop(
    world: World, monkeypatch: pytest.MonkeyPatch, title: Say | Hang
) -> None:
    world.agent("tools: [note, seal]")
    world.desk.title = title
    world.desk.script(Say("May I?", [Call("note", {"text": "a"}, "note-1"), SEAL]), Say("I see"))
    genuine = Interrupts.ask

    async def ask(self: Interrupts, run: Run, *found: Any) -> ev.Interrupted:
        """Another node acknowledges a stop after the run has decided to ask."""
        asked = await genuine(self, run, *found)
        assert await world.database.write(life.request_stop, run.turn.num, "user") == "user"
        return asked

    monkeypatch.setattr(Interrupts, "ask", ask)
    said = await world.say("go")
    assert said.outcome == ev.Stopped("user")
    assert await world.database.read(interrupts.of, said.turn.num) == []
    row = await world.checked(said.turn)
    assert (row.status, row.stop_requested) == ("stopped", None)
    assert [(m.name, m.status) for m in row.messages or () if m.role == "tool"] == [
        ("note", "ok"),
        ("seal", "not_done"),
    ]
    assert (await world.say("and now?")).finished
    assert world.traces() == ["note a"]


def _unexpected(*_: object) -> None:
    raise AssertionError("nothing was found")
