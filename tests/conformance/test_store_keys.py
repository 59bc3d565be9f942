"""Idempotency keys, on every backend."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection, update
from sqlalchemy.exc import IntegrityError

from caesura.core.errors import KeyReused
from caesura.store import conversations, keys, schema
from caesura.store.database import Database
from tests.conformance.rows import make_conversation, make_user

PRINT = keys.fingerprint("POST", "/chat", {"message": "hi"})


def test_a_fingerprint_tells_requests_apart() -> None:
    assert keys.fingerprint("POST", "/chat", {"message": "hi"}) == PRINT
    assert keys.fingerprint("POST", "/chat", {"message": "ho"}) != PRINT
    assert keys.fingerprint("POST", "/chat/x", {"message": "hi"}) != PRINT
    assert len(keys.fingerprint(b"\xff", "\ud800", float("nan"), 2**80)) == 64


async def test_a_new_key_has_no_response(database: Database) -> None:
    assert await database.write(keys.find, "alice", "k", PRINT) is None


async def test_the_same_request_gets_the_same_response(database: Database) -> None:
    await make_user(database, "alice")
    await database.write(keys.keep, "alice", "k", PRINT, {"id": "conv-1", "list": [1]}, None)
    for _ in range(2):
        assert await database.write(keys.find, "alice", "k", PRINT) == {"id": "conv-1", "list": [1]}


async def test_another_request_under_the_same_key_is_refused(database: Database) -> None:
    await make_user(database, "alice")
    await database.write(keys.keep, "alice", "k", PRINT, "answer", None)
    with pytest.raises(KeyReused):
        await database.write(keys.find, "alice", "k", keys.fingerprint("other"))
    assert await database.write(keys.find, "alice", "k", PRINT) == "answer"


async def test_a_key_of_one_person_is_not_seen_by_another(database: Database) -> None:
    for name in ("alice", "bob"):
        await make_user(database, name)
        await database.write(keys.keep, name, "k", keys.fingerprint(name), name, None)
    for name in ("alice", "bob"):
        assert await database.write(keys.find, name, "k", keys.fingerprint(name)) == name


async def test_a_key_is_forgotten_after_a_day(database: Database) -> None:
    await make_user(database, "alice")
    for name, age in (("fresh", 0), ("nearly", keys.KEPT_MS - 60_000), ("old", keys.KEPT_MS)):
        await database.write(keys.keep, "alice", name, PRINT, name, None)
        await database.write(_age, name, age)
    assert await database.write(keys.find, "alice", "old", keys.fingerprint("other")) is None
    await database.write(keys.keep, "alice", "old", PRINT, "again", None)
    assert await database.write(keys.find, "alice", "old", PRINT) == "again"
    assert await database.write(keys.find, "alice", "nearly", PRINT) == "nearly"
    await database.write(_age, "old", keys.KEPT_MS)
    assert await database.write(keys.forget_old) == 1
    assert await database.write(keys.find, "alice", "fresh", PRINT) == "fresh"


async def test_a_key_is_deleted_with_its_conversation(database: Database) -> None:
    await make_user(database, "alice")
    conversation_id = await make_conversation(database, "alice")
    await database.write(keys.keep, "alice", "k", PRINT, "answer", conversation_id)
    await database.write(conversations.remove, conversation_id, "alice")
    assert await database.write(keys.find, "alice", "k", PRINT) is None


async def test_one_of_many_concurrent_equal_requests_does_the_work(database: Database) -> None:
    await make_user(database, "alice")

    def work(connection: Connection, number: int) -> Any:
        found = keys.find(connection, "alice", "k", PRINT)
        if found is None:
            conversations.create(connection, f"c{number}", "alice", "demo")
            keys.keep(connection, "alice", "k", PRINT, number, f"c{number}")
        return number if found is None else found

    tries = (database.write(work, number) for number in range(20))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    lost = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert [repr(e) for e in lost if not isinstance(e, IntegrityError)] == []
    page = await database.read(conversations.page, "alice", 100)
    assert len(page.items) == page.total == 1
    winner = await database.write(keys.find, "alice", "k", PRINT)
    assert page.items[0].id == f"c{winner}"
    assert {outcome for outcome in outcomes if isinstance(outcome, int)} == {winner}


def _age(connection: Connection, key: str, age: int) -> None:
    at = schema.now_ms() - age
    connection.execute(update(schema.keys).where(schema.keys.c.key == key).values(created_at=at))
