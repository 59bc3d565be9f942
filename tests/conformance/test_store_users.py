"""People, on every backend."""

import asyncio

import pytest

from caesura.core.errors import CaesuraError, Conflict, NotFound, UsernameTaken
from caesura.service.people import People
from caesura.service.removal import Removal
from caesura.store import conversations, users
from caesura.store.database import Database
from tests.conformance.rows import make_conversation, make_user


async def test_a_new_user_is_found_by_name(database: Database) -> None:
    await database.write(users.create, "alice", "secret-hash")
    found = await database.read(users.get, "alice")
    assert found is not None
    assert found[:3] == ("alice", "secret-hash", 0)
    assert found.created_at > 1_700_000_000_000


async def test_an_unknown_user_is_none(database: Database) -> None:
    await make_user(database, "alice")
    assert await database.read(users.get, "bob") is None
    assert await database.read(users.get, "ALICE") is None


async def test_a_name_is_taken_once(database: Database) -> None:
    await database.write(users.create, "alice", "first")
    with pytest.raises(UsernameTaken):
        await database.write(users.create, "alice", "second")
    found = await database.read(users.get, "alice")
    assert found is not None
    assert found.password_hash == "first"


async def test_one_of_many_concurrent_requests_for_a_name_gets_it(database: Database) -> None:
    tries = (database.write(users.create, "alice", f"hash-{number}") for number in range(20))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, UsernameTaken) for outcome in outcomes) == 19
    found = await database.read(users.get, "alice")
    assert found is not None
    assert found.password_hash == f"hash-{outcomes.index(None)}"


async def test_one_of_many_concurrent_first_uses_creates_the_person(database: Database) -> None:
    people = People(database)
    await make_user(database, "carol")
    for subject in ("dora", "carol", "Carol@example.org"):
        found = await asyncio.gather(*(people.vouched("https://a.example", subject) for _ in range(10)))
        assert len({user.id for user in found}) == 1
        assert found[0].id != "carol"
        other = await people.vouched("https://b.example", subject)
        assert other.id != found[0].id
        assert not other.has_password


async def test_an_id_that_somebody_else_has_is_refused_with_their_name(database: Database) -> None:
    people = People(database)
    await make_user(database, "carol")
    other = await people.vouched("https://a.example", "carol")
    with pytest.raises(Conflict, match=f"{other.id} is carol already"):
        await people.link("carol", "https://a.example", "carol")
    assert await people.unlink(other.id)
    assert not await people.unlink(other.id)
    await people.link("carol", "https://a.example", "carol")
    assert (await people.vouched("https://a.example", "carol")).id == "carol"


async def test_somebody_with_conversations_is_not_removed(database: Database) -> None:
    await make_user(database, "alice")
    await make_conversation(database, "alice")
    with pytest.raises(Conflict, match="still has conversations"):
        await database.write(users.remove, "alice")
    await Removal(database).remove("alice")
    assert await database.read(users.get, "alice") is None


async def test_users_are_listed_by_name(database: Database) -> None:
    for name in ("carol", "alice", "bob"):
        await make_user(database, name)
    assert [user.id for user in await database.read(users.listing)] == ["alice", "bob", "carol"]


async def test_a_password_is_replaced(database: Database) -> None:
    await make_user(database, "alice")
    await database.write(users.set_password, "alice", "other")
    found = await database.read(users.get, "alice")
    assert found is not None
    assert found.password_hash == "other"


@pytest.mark.parametrize("work", [lambda c: users.set_password(c, "x", "y"), lambda c: users.remove(c, "x")])
async def test_a_missing_user_cannot_be_changed(database: Database, work: object) -> None:
    assert callable(work)
    with pytest.raises(NotFound, match="user not found: x"):
        await database.write(work)


async def test_a_removed_user_is_gone_and_the_name_is_free(database: Database) -> None:
    await make_user(database, "alice")
    await database.write(users.remove, "alice")
    assert await database.read(users.get, "alice") is None
    await make_user(database, "alice")


async def test_conversations_are_counted(database: Database) -> None:
    await make_user(database, "alice")
    kept = await make_conversation(database, "alice")
    gone = await make_conversation(database, "alice")
    await database.write(conversations.remove, gone, "alice")
    found = await database.read(users.get, "alice")
    assert found is not None
    assert found.conversation_count == 1
    with pytest.raises(CaesuraError):
        await database.write(conversations.create, kept, "alice", "demo")
    found = await database.read(users.get, "alice")
    assert found is not None
    assert found.conversation_count == 1
