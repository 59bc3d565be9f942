"""Stream tickets: EventSource cannot send headers, and a token does not belong in a URL."""

from __future__ import annotations

from caesura.core import ids
from caesura.core.errors import Unauthenticated
from caesura.http.tokens import ONE_VIEWER, Access, Tokens
from caesura.service import tickets

SECONDS = 60
_AUDIENCE = "caesura:stream"


class Tickets:
    """A ticket opens one stream, for one person, once. It becomes invalid with the token it was issued
    for."""

    def __init__(self, tokens: Tokens, spent: tickets.Tickets) -> None:
        self._tokens, self._spent = tokens, spent

    def issue(self, access: Access, stream: str) -> str:
        holder = {"sub": access.user_id, "stamp": access.stamp, "viewer": access.viewer}
        return self._tokens.sign(_AUDIENCE, SECONDS, **holder, stream=stream, jti=ids.token())

    async def redeem(self, ticket: str, stream: str) -> Access:
        """Use up the ticket, and return the access of its owner."""
        claims = self._tokens.verify(ticket, _AUDIENCE, "stamp", "stream", "jti")
        if claims["stream"] != stream:
            raise Unauthenticated("the ticket is for another stream")
        viewer = str(claims.get("viewer", ONE_VIEWER))  # older versions do not name it
        access = Access(str(claims["sub"]), str(claims["stamp"]), viewer)
        await self._spent.spend(access.user_id, str(claims["jti"]), access.stamp)
        return access
