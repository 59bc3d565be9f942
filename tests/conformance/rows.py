"""Rows a test starts from: a person, a conversation, a turn."""

from itertools import count
from typing import Any

from caesura.core import ids
from caesura.store import conversations, turns, users
from caesura.store.database import Database

LEASE = 60_000
_numbers = count(1)


async def make_user(database: Database, user_id: str | None = None) -> str:
    """A person, of a name nobody else has unless one is given."""
    name = user_id or f"user-{next(_numbers)}"
    await database.write(users.create, name, "hash")
    return name


async def make_conversation(database: Database, user_id: str | None = None) -> str:
    """A conversation of this person, or of a new one."""
    owner = user_id or await make_user(database)
    conversation = await database.write(conversations.create, ids.conversation(), owner, "demo")
    return conversation.id


async def make_turn(database: Database, conversation_id: str | None = None, **new: Any) -> turns.Turn:
    """A turn of this conversation, or of a new one. It runs under epoch 1 of `owner`, or is queued when
    that is None. The other words are those of `turns.New`."""
    where = conversation_id or await make_conversation(database)
    words: dict[str, Any] = {"content": "hello", "owner": "node-1", "lease_ms": LEASE} | new
    return await database.write(turns.create, turns.New(where, **words))


async def change_turn(database: Database, turn: turns.Turn, **values: Any) -> None:
    """Set columns of a turn, as its owner does."""
    await database.write(lambda connection: turns.change(connection, turn.num, turn.epoch, **values))


async def end_turn(database: Database, turn: turns.Turn, status: turns.Status = "done") -> turns.Turn:
    """End a turn and let go of it."""
    await database.write(turns.end, turn.num, turn.epoch, status)
    await database.write(turns.release, turn.num, turn.epoch)
    return await database.read(turns.get, turn.id)
