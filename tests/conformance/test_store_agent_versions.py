"""Versions of agents as rows, on every backend."""

from __future__ import annotations

import asyncio

from sqlalchemy import func, select

from caesura.store import agent_versions
from caesura.store.agent_versions import MOST
from caesura.store.database import Database
from caesura.store.schema import agent_versions as table


async def test_a_version_is_found_by_its_agent_and_its_version(database: Database) -> None:
    await database.write(agent_versions.keep, "tester", "v1", b"one")
    assert await database.read(agent_versions.get, "tester", "v1") == b"one"
    assert await database.read(agent_versions.get, "tester", "v2") is None
    assert await database.read(agent_versions.get, "other", "v1") is None


async def test_a_version_may_be_kept_again_and_at_the_same_time(database: Database) -> None:
    await asyncio.gather(
        *(database.write(agent_versions.keep, "tester", "v1", b"one") for _ in range(10)),
        *(database.write(agent_versions.keep, "tester", "v2", b"two") for _ in range(10)),
    )
    assert await database.read(agent_versions.get, "tester", "v1") == b"one"
    assert await database.read(agent_versions.get, "tester", "v2") == b"two"


async def test_the_newest_versions_of_each_agent_are_kept(database: Database) -> None:
    await database.write(agent_versions.keep, "other", "v0", b"other")
    for number in range(MOST + 5):
        await database.write(agent_versions.keep, "tester", f"v{number}", b"x")
        await asyncio.sleep(0.002)
        if number == 50:
            await database.write(agent_versions.keep, "tester", "v1", b"x")
            await asyncio.sleep(0.002)
    assert await database.read(agent_versions.get, "other", "v0") == b"other"
    kept = [
        number
        for number in range(MOST + 5)
        if await database.read(agent_versions.get, "tester", f"v{number}")
    ]
    assert kept == [1, *range(6, MOST + 5)]
    counted = select(func.count()).select_from(table)
    assert await database.read(lambda connection: connection.execute(counted).scalar_one()) == MOST + 1
