"""kill -9 of an engine at every commit of three turns of a graph in which another graph remembers.

The turn goes on as if nothing had happened: the graph inside is not left out, nothing is done twice, and
nothing is said twice. A usual run has a sample in `test_engine_commits.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests import effort
from tests.chaos.engine_life import Lives, Orders
from tests.chaos.engine_scene import Place, in_lanes
from tests.chaos.kills import Kills
from tests.chaos.memory_graphs import TEXTS
from tests.chaos.memory_scene import check, orders_of

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(not effort.thorough(), reason="takes minutes"),
]


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with Lives() as lives:
        yield lives


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[Place]]:
    with in_lanes(tmp_path) as files:
        yield files


@pytest.mark.parametrize("how", TEXTS)
async def test_after_a_kill_at_any_commit_of_three_turns_a_graph_that_remembers_goes_on(
    lives: Lives, files: Sequence[Place], how: str
) -> None:
    async def on(orders: Orders) -> None:
        assert await asyncio.to_thread(lives.run, orders) is not None
        await check(how, orders)

    assert await Kills(lives, files, lambda file: orders_of(how, file), on).everywhere("commit") >= 60
