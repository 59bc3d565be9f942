"""kill -9 of an engine at every commit, and at every event, of a turn that writes an artifact: each version
is there once, with its event and its result, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from caesura.core import events as ev
from caesura.core.artifacts import Version
from caesura.store import artifacts, events
from tests.accounts import accounts
from tests.chaos.engine_life import CONVERSATION, Lives, Orders, rows_of
from tests.chaos.engine_scene import Place, in_lanes, look
from tests.chaos.kills import WAYS, At, Kills
from tests.conformance.rows import turns_of

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with Lives() as lives:
        yield lives


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Place]]:
    """One for each lane."""
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_urls")
    with in_lanes(tmp_path, url) as places:
        yield places


@pytest.mark.parametrize("at", WAYS)
async def test_after_a_kill_anywhere_each_version_is_there_once(
    lives: Lives, places: Sequence[Place], at: At
) -> None:
    async def on(orders: Orders) -> None:
        await asyncio.to_thread(_assert_whole, orders)
        assert await asyncio.to_thread(lives.run, orders) is not None
        await _assert_ended(orders)

    kills = Kills(lives, places, lambda place: place.orders("writer"), on, step=8)
    assert await kills.everywhere(at) >= 5


def _assert_whole(orders: Orders) -> None:
    """After a kill: as many versions as events and results, and what is stored is counted."""
    engine = rows_of(orders.url)
    with engine.connect() as connection:
        turns = turns_of(connection, CONVERSATION)
        said = [item.event for turn in turns for item in events.read(connection, turn.num, 0, 10_000)]
        changed = [event.version for event in said if isinstance(event, ev.ArtifactChanged)]
        results = [event for event in said if isinstance(event, ev.ToolFinished)]
        assert (
            [version.version for version in _versions(orders)] == changed == list(range(1, len(changed) + 1))
        )
        assert len(results) == len(changed)
        assert all(result.status == "ok" for result in results)


async def _assert_ended(orders: Orders) -> None:
    (found,) = await look(orders)
    changed = [event for event in found.events if isinstance(event, ev.ArtifactChanged)]
    assert [(event.version, event.agent) for event in changed] == [(n, "writer") for n in range(1, 5)]
    versions = await asyncio.to_thread(_versions, orders)
    assert [version.update_type for version in versions] == ["create", "update", "update", "rewrite"]
    assert [version.content for version in versions] in (
        ["a b", "1 b", "1 2", "all new"],
        ["a b", "a 2", "1 2", "all new"],
    )
    assert {version.turn_id for version in versions} == {found.row.id}


def _versions(orders: Orders) -> list[Version]:
    engine = rows_of(orders.url)
    with engine.connect() as connection:
        if not artifacts.of(connection, CONVERSATION):
            return []
        kept, counted = accounts(connection)
        assert kept == counted or not any(turn.ended for turn in turns_of(connection, CONVERSATION))
        entries = artifacts.versions(connection, CONVERSATION, "notes")
        return [artifacts.version(connection, CONVERSATION, "notes", entry.version) for entry in entries]
