"""Invites, on every backend."""

import asyncio

import pytest
from argon2 import PasswordHasher
from sqlalchemy import Connection, select, update

from caesura.core import ids
from caesura.core.errors import CaesuraError, Forbidden, NotFound, UsernameTaken
from caesura.service.people import People
from caesura.store import invites, schema, users
from caesura.store.database import Database

PASSWORD = "correct horse"


@pytest.fixture
def people(database: Database) -> People:
    return People(database, registration="invite")


async def names(database: Database) -> list[str]:
    return [user.id for user in await database.read(users.listing)]


async def test_an_invite_lets_one_person_register(database: Database, people: People) -> None:
    code = await people.invite(7)
    assert await people.register("alice", PASSWORD, code) == "alice"
    with pytest.raises(Forbidden, match="invite is not valid"):
        await people.register("bob", PASSWORD, code)
    assert await names(database) == ["alice"]


async def test_one_of_many_concurrent_uses_of_an_invite_succeeds(database: Database, people: People) -> None:
    code = await people.invite(7)
    tries = (people.register(f"name-{number}", PASSWORD, code) for number in range(10))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    winners = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert len(winners) == 1
    assert sum(isinstance(outcome, Forbidden) for outcome in outcomes) == 9
    assert await names(database) == winners


async def test_a_registration_that_fails_leaves_the_invite_as_it_was(
    database: Database, people: People
) -> None:
    await people.add("taken", PASSWORD)
    code = await people.invite(7)
    with pytest.raises(UsernameTaken):
        await people.register("taken", PASSWORD, code)
    for name, password in (("No Name", PASSWORD), ("local", PASSWORD), ("alice", "short")):
        with pytest.raises(CaesuraError):
            await people.register(name, password, code)
    assert await people.register("alice", PASSWORD, code) == "alice"


async def test_an_invite_expires(database: Database, people: People) -> None:
    code = await people.invite(1)
    await database.write(_age, 24 * 3600 * 1000)
    with pytest.raises(Forbidden):
        await people.register("alice", PASSWORD, code)
    with pytest.raises(Forbidden):
        await database.write(invites.use, code)
    assert await people.invites() == []
    await people.invite(1)
    assert await database.read(_count) == 1  # expired invites are deleted


async def test_the_code_is_not_in_the_database(database: Database, people: People) -> None:
    code = await people.invite(7)
    (row,) = await database.read(lambda c: c.execute(select(schema.invites)).all())
    assert code not in str(row)
    assert code[8:] not in str(row)


async def test_invites_are_listed_and_revoked_by_the_beginning_of_their_code(people: People) -> None:
    first, second = await people.invite(1), await people.invite(7)
    assert {invite.id for invite in await people.invites()} == {first[:8], second[:8]}
    await people.revoke(first[:8])
    await people.revoke(second)
    assert await people.invites() == []
    with pytest.raises(NotFound):
        await people.revoke(first)
    with pytest.raises(Forbidden):
        await people.register("alice", PASSWORD, first)


@pytest.mark.parametrize("wrong", ["", "x", "0" * 32, "\0" * 32, "é" * 32])
async def test_a_wrong_code_is_refused_before_the_password_is_hashed(database: Database, wrong: str) -> None:
    people = People(database, _NoHasher(), registration="invite")
    await database.write(invites.create, ids.invite(), 7)
    with pytest.raises(Forbidden):
        await people.register("alice", PASSWORD, wrong)


async def test_half_a_code_is_not_enough(people: People) -> None:
    code = await people.invite(7)
    for wrong in (code[:8], code[:-1], code[:8] + "0" * 24, f"{code}0", code.upper()):
        with pytest.raises(Forbidden):
            await people.register("alice", PASSWORD, wrong)


class _NoHasher(PasswordHasher):
    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        raise AssertionError("a hash was made")


def _age(connection: Connection, milliseconds: int) -> None:
    table = schema.invites
    connection.execute(update(table).values(expires_at=table.c.expires_at - milliseconds))


def _count(connection: Connection) -> int:
    return len(connection.execute(select(schema.invites)).all())
