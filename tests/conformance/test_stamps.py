"""Stamps, and what ends with them, on every backend."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from argon2 import PasswordHasher

from caesura.core.errors import Unauthenticated, Unavailable
from caesura.service.people import People
from caesura.service.stamps import Stamps
from caesura.service.tickets import Tickets
from caesura.store import users
from caesura.store.database import Database
from tests.conformance.rows import make_user

CHEAP: dict[str, Any] = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}


class Counted:
    """A database that counts its reads. They fail on request."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.reads = 0
        self.fails = False

    async def read(self, work: Callable[..., Any], *args: Any) -> Any:
        self.reads += 1
        await asyncio.sleep(0)
        if self.fails:
            raise Unavailable
        return await self._database.read(work, *args)


async def test_a_change_of_password_is_seen_by_the_next_read(database: Database) -> None:
    stamps = Stamps(database)
    assert await stamps.get("alice") is None
    await make_user(database, "alice")
    before = await stamps.get("alice")
    await database.write(users.set_password, "alice", "other")
    assert await stamps.get("alice") == users.stamp("other") != before
    await database.write(users.remove, "alice")
    assert await stamps.get("alice") is None


async def test_requests_that_come_at_once_share_a_read(database: Database) -> None:
    names = [f"name-{number}" for number in range(20)]
    for name in names:
        await database.write(users.create, name, f"hash of {name}")
    counted = Counted(database)
    stamps = Stamps(counted)  # type: ignore[arg-type]
    found = await asyncio.gather(*(stamps.get(name) for name in [*names, "nobody"] * 5))
    assert found == [*(users.stamp(f"hash of {name}") for name in names), None] * 5
    assert counted.reads <= 2
    assert len(await stamps.of([*names, "nobody"] * 60)) == 20


async def test_a_cancelled_request_does_not_affect_others_that_share_its_read(database: Database) -> None:
    await make_user(database, "alice")
    stamps = Stamps(database)
    first, second = asyncio.create_task(stamps.get("alice")), asyncio.create_task(stamps.get("alice"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is not None


async def test_all_requests_that_share_a_failing_read_fail_at_once(database: Database) -> None:
    await make_user(database, "alice")
    counted = Counted(database)
    stamps = Stamps(counted)  # type: ignore[arg-type]
    counted.fails = True
    tries = await asyncio.gather(*(stamps.get("alice") for _ in range(20)), return_exceptions=True)
    assert {type(outcome) for outcome in tries} == {Unavailable}
    assert counted.reads <= 2
    counted.fails = False
    assert await stamps.get("alice") is not None


async def test_a_ticket_from_before_a_password_change_is_refused(database: Database) -> None:
    await database.write(users.create, "alice", "old")
    tickets = Tickets(database)
    await tickets.spend("alice", "first", users.stamp("old"))
    with pytest.raises(Unauthenticated, match="was used"):
        await tickets.spend("alice", "first", users.stamp("old"))
    await database.write(users.set_password, "alice", "new")
    with pytest.raises(Unauthenticated, match="not valid"):
        await tickets.spend("alice", "second", users.stamp("old"))
    with pytest.raises(Unauthenticated):
        await tickets.spend("nobody", "third", users.stamp("old"))


async def test_a_log_in_during_a_password_change_gets_the_old_stamp(database: Database) -> None:
    """The token made from the old stamp is not valid: it was the old password that was right."""

    class Slow(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Any:
            right = super().verify(hash, password)
            database.write_now(users.set_password, "alice", "new")
            return right

    await People(database).add("alice", "correct horse")
    before = await Stamps(database).get("alice")
    user = await People(database, Slow(**CHEAP)).authenticate("alice", "correct horse")
    assert user.stamp == before != await Stamps(database).get("alice")
