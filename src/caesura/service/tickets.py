"""Tickets: a ticket lets one person open one stream, once, on any node."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from caesura.core.errors import Unauthenticated
from caesura.store import keys, sessions, users
from caesura.store.database import Database


class Tickets:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def spend(self, user_id: str, ticket_id: str, stamp: str, session: str = "") -> None:
        """Use the ticket up. `Unauthenticated` if it was used before, if its owner is gone, or if the token
        or session with which the ticket was requested is no longer valid."""
        try:
            await self._database.write_lightly(_spend, user_id, ticket_id, stamp, session)
        except IntegrityError as error:
            raise Unauthenticated("the ticket was used") from error


def _spend(connection: Connection, user_id: str, ticket_id: str, stamp: str, session: str) -> None:
    user = users.get(connection, user_id)
    if user is None or user.stamp != stamp or (session and sessions.ended(connection, [session])):
        raise Unauthenticated("the ticket is not valid")
    # No client can send a key with a tab in it, so this is nobody's Idempotency-Key.
    keys.keep(connection, user_id, f"ticket\t{ticket_id}", "", None, None)
