"""Removing a person, on behalf of the operator: what they have is deleted, or becomes somebody else's.

It works beside a running server. The person is disabled first, so that nothing new begins. Each conversation
is a transaction of its own. A run that loses its turn writes nothing more, and its process stops it with its
next heartbeat. If the removal is cut off, doing it again finishes it.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection

from caesura.core.errors import BadInput, BadUsername, Conflict, NotFound
from caesura.service.people import LOCAL
from caesura.store import conversations, remains, turns, users
from caesura.store.database import Database

#: How often what a person has is looked for. A request that had begun before may add something.
_ROUNDS = 5


class Belongings(NamedTuple):
    conversations: int
    #: How many turns run or wait for an answer.
    live_turns: int


class Removal:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def belongings(self, user_id: str) -> Belongings:
        """What a person has. Raises an error for somebody who cannot be removed."""
        if user_id == LOCAL:
            raise BadUsername(f"{LOCAL!r} is the person of a server without log-in, and cannot be removed")
        return await self._database.read(_belongings, user_id)

    async def remove(self, user_id: str, heir: str | None = None) -> None:
        """Remove a person. Their conversations become the heir's; without an heir they are deleted. Files are
        left: a workspace without a conversation is removed by the next sweep."""
        if heir is not None:
            await self.check(user_id, heir)
        await self.belongings(user_id)
        await self._database.write(users.disable, user_id)
        for _ in range(_ROUNDS):
            for conversation_id in await self._database.read(conversations.of_person, user_id):
                if heir is None:
                    await self._database.write(conversations.remove, conversation_id, user_id)
                    while await self._database.write_lightly(remains.clear, conversation_id):
                        pass
                else:
                    await self._database.write(_give, conversation_id, user_id, heir)
            try:
                return await self._database.write(users.remove, user_id)
            except Conflict:
                continue
        raise Conflict(f"{user_id} gets new conversations all the time: try again")

    async def check(self, user_id: str, heir: str) -> None:
        """Refuse somebody who cannot get what this person has."""
        if heir == user_id:
            raise BadInput(f"{user_id} cannot get their own conversations")
        await self._database.read(_check_heir, heir)


def _belongings(connection: Connection, user_id: str) -> Belongings:
    user = users.get(connection, user_id)
    if user is None:
        raise NotFound(f"user not found: {user_id}")
    return Belongings(user.conversation_count, turns.count_live(connection, user_id))


def _give(connection: Connection, conversation_id: str, user_id: str, heir: str) -> None:
    conversations.give(connection, conversation_id, user_id, heir)
    _check_heir(connection, heir)


def _check_heir(connection: Connection, heir: str) -> None:
    """Refuse somebody who is disabled: they may be about to be removed, with all that they have."""
    user = users.get(connection, heir)
    if user is None:
        raise NotFound(f"user not found: {heir}")
    if user.disabled:
        raise Conflict(f"{heir} is disabled: `caesura user enable {heir}` first, or name somebody else")
