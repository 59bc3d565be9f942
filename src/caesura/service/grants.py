"""Listing and revoking grants: tools that are always allowed in a conversation."""

from __future__ import annotations

from caesura.core.conversations import Grant
from caesura.core.errors import NotFound
from caesura.store import grants
from caesura.store.database import Database


class Grants:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def listing(self, user_id: str, conversation_id: str) -> list[Grant]:
        """The grants on the active branch, sorted by tool name."""
        return await self._database.read(grants.listing, conversation_id, user_id)

    async def revoke(self, user_id: str, conversation_id: str, tool: str) -> None:
        """Revoke the grant for this tool on every branch. No call begins under the grant after this has
        returned."""
        if not await self._database.write(grants.revoke, conversation_id, user_id, tool):
            raise NotFound(f"{tool} is not always allowed in this conversation")
