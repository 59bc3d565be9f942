"""Rows that tests start from: a person, a conversation, a turn."""

from itertools import count
from typing import Any

from sqlalchemy import Connection, update

from caesura.core import ids
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.store import conversations, life, schema, turns, users
from caesura.store.database import Database

LEASE = 60_000
_numbers = count(1)


async def make_user(database: Database, user_id: str | None = None) -> str:
    """Create a person, with a unique name unless one is given."""
    name = user_id or f"user-{next(_numbers)}"
    await database.write(users.create, name, "hash")
    return name


async def make_conversation(database: Database, user_id: str | None = None) -> str:
    """Create a conversation of this person, or of a new one."""
    owner = user_id or await make_user(database)
    conversation = await database.write(conversations.create, ids.conversation(), owner, "demo")
    return conversation.id


async def make_turn(database: Database, conversation_id: str | None = None, **new: Any) -> Turn:
    """Create a turn in this conversation, or in a new one. It runs under epoch 1 of `owner`, or is queued if
    `owner` is None. The other arguments are those of `life.New`."""
    where = conversation_id or await make_conversation(database)
    words: dict[str, Any] = {"content": "hello", "owner": "node-1", "lease_ms": LEASE} | new
    return await database.write(life.create, life.New(where, **words))


async def change_turn(database: Database, turn: Turn, **values: Any) -> None:
    """Set columns of a turn."""
    await database.write(lambda connection: set_columns(connection, turn.num, **values))


def set_columns(connection: Connection, num: int, **values: Any) -> None:
    connection.execute(update(schema.turns).where(schema.turns.c.num == num).values(**values))


async def end_turn(database: Database, turn: Turn, status: life.Outcome = "done", *messages: Message) -> Turn:
    """End a turn and release it."""
    await database.write(life.settle, [settled(turn, status, *messages)])
    return await database.read(turns.get, turn.id)


def settled(
    turn: Turn, status: life.Outcome = "done", *messages: Message, released: bool = True
) -> life.Settled:
    """A turn that has ended, with these messages."""
    return life.Settled(turn, status, messages, 5, released)


def turns_of(connection: Connection, conversation_id: str) -> list[Turn]:
    """All turns of a conversation, oldest first: the whole tree."""
    every = turns.entries(connection, conversation_id, 0, 1 << 30)
    return turns.some(connection, [entry.num for entry in every])
