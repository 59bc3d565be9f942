"""kill -9 of an engine while a graph works in which another graph remembers earlier turns.

The turn goes on as if nothing had happened: the graph inside is not left out, nothing is done twice, and
nothing is said twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests import effort
from tests.chaos.engine_life import Lives, Orders
from tests.chaos.engine_scene import Place, in_lanes, look, traces
from tests.chaos.kills import Kills
from tests.chaos.memory_graphs import TEXTS

pytestmark = pytest.mark.timeout(600)

MESSAGES = ("one", "two", "three")


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with Lives() as lives:
        yield lives


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[Place]]:
    with in_lanes(tmp_path) as files:
        yield files


def orders_of(how: str, file: Place) -> Orders:
    return replace(file.orders(how), messages=MESSAGES)


async def check(how: str, orders: Orders) -> None:
    """The turns have ended as those that nobody kills."""
    found = await look(orders)
    told = [[text for text in turn.texts if text] for turn in found]
    assert told == [[text.format(number) for text in TEXTS[how]] for number in (1, 2, 3)], orders
    calls = 2 if how == "twice" else 1
    for number, turn in enumerate(found, 1):
        # If the outcome of a call is unknown, the person was asked, and chose to make it again.
        times = calls + len(turn.unknown)
        assert traces(orders).count(f"jot {number}") in (calls, times), orders
        results = [message.content for message in turn.row.messages or () if message.role == "tool"]
        assert results.count(f"jotted {number}") == calls, orders


@pytest.mark.parametrize("how", ["node", "invoked"])
async def test_after_a_kill_a_graph_that_remembers_is_not_left_out_and_says_nothing_twice(
    lives: Lives, files: Sequence[Place], how: str
) -> None:
    orders = orders_of(how, files[0])
    for place in ("call 2", "told 3"):
        (Path(orders.folder) / "die").write_text(place)
        assert await asyncio.to_thread(lives.run, orders) is None, place
    assert await asyncio.to_thread(lives.run, orders) is not None
    await check(how, orders)


@pytest.mark.skipif(not effort.thorough(), reason="takes minutes")
@pytest.mark.parametrize("how", TEXTS)
async def test_after_a_kill_at_any_commit_of_three_turns_a_graph_that_remembers_goes_on(
    lives: Lives, files: Sequence[Place], how: str
) -> None:
    async def on(orders: Orders) -> None:
        assert await asyncio.to_thread(lives.run, orders) is not None
        await check(how, orders)

    assert await Kills(lives, files, lambda file: orders_of(how, file), on).everywhere("commit") >= 60
