"""Tickets: each lets one person open one stream, once, on whichever node the request comes to."""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError

from caesura.core.errors import Unauthenticated
from caesura.store import keys
from caesura.store.database import Database


class Tickets:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def spend(self, user_id: str, ticket_id: str) -> None:
        """Take the ticket, or `Unauthenticated`: it was used before, or its owner is gone."""
        # No client can send a key with a tab in it, so this is nobody's Idempotency-Key.
        key = f"ticket\t{ticket_id}"
        try:
            await self._database.write_lightly(keys.keep, user_id, key, "", None, None)
        except IntegrityError as error:
            raise Unauthenticated("the ticket was used") from error
