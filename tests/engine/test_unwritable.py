"""Rows that the database refuses: their turn fails at once, and other turns continue."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Any

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import DataError

from caesura.core import events as ev
from caesura.store import life
from tests.engine.world import World
from tests.openai_server import Call, Say

NAMES = ["n" * 201, "n" * 10_000, "n\0" * 150, "\ud800" * 201, "名" * 201]


@pytest.mark.parametrize("name", NAMES, ids=["201", "10000", "nul", "surrogate", "wide"])
async def test_a_tool_name_that_no_column_can_store_is_an_error_for_the_model(
    world: World, name: str
) -> None:
    world.agent("tools: [note]")
    world.desk.script(Say("working", (Call(name, {"text": "x"}),)), Say("I see"))
    said = await world.say("go")
    assert said.finished
    ((told, output, status),) = said.results()
    assert (len(told) <= 200, status) == (True, "error")
    assert "note" in output
    row = await world.checked(said.turn)
    assert (row.status, row.epoch) == ("done", 1)


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ("caesura.store.tool_calls.begin", "internal"),
        ("caesura.store.tool_calls.finish", "unwritable"),
        ("caesura.store.life.settle", "unwritable"),
    ],
)
async def test_rows_that_cannot_be_written_fail_only_their_own_turn_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str, code: str
) -> None:
    words = [f"{number} " for number in range(300)]
    world.agent("tools: [note]")
    world.agent("tools: []", name="other", model="openai:other")
    world.desk.script(Say(words, pause=0.002), model="other")
    world.desk.script(Say("working", (Call("note", {"text": "x"}),)), Say("I see"))
    await world.begin("other")
    other = await world.send("count")
    await world.until(other, ev.TextDelta)
    await world.begin()
    genuine = resolve_name(step)

    def write(connection: Connection, about: int | Sequence[life.Settled], *values: Any) -> None:
        numbers = {about} if isinstance(about, int) else {item.turn.num for item in about}
        if numbers != {other.num}:
            _overflow(connection)
        genuine(connection, about, *values)

    monkeypatch.setattr(step, write)
    turn = await world.send("go")
    said = await world.segment(turn)
    assert (said.failure.code, said.failure.retryable) == (code, False)
    row = await world.checked(turn)
    assert (row.status, row.epoch, row.owner) == ("failed", 1, None)
    assert (await world.segment(other)).text == "".join(words)
    assert (await world.checked(other)).epoch == 1


def _overflow(connection: Connection) -> None:
    """Raise the error of a value that does not fit, on either database."""
    bad = "SELECT zeroblob(2000000000)" if connection.dialect.name == "sqlite" else "SELECT 1 / 0"
    with pytest.raises(DataError) as caught:
        connection.exec_driver_sql(bad)
    raise caught.value
