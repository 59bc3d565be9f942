"""Stream tickets: EventSource cannot send headers, and a token does not belong in a URL."""

from __future__ import annotations

from caesura.core import ids
from caesura.core.errors import Unauthenticated
from caesura.http.tokens import Tokens
from caesura.service import tickets

SECONDS = 60
_AUDIENCE = "caesura:stream"


class Tickets:
    """A ticket opens one stream, for one person, once."""

    def __init__(self, tokens: Tokens, spent: tickets.Tickets) -> None:
        self._tokens, self._spent = tokens, spent

    def issue(self, user_id: str, stream: str) -> str:
        return self._tokens.sign(_AUDIENCE, SECONDS, sub=user_id, stream=stream, jti=ids.token())

    async def redeem(self, ticket: str, stream: str) -> str:
        """Whose ticket it was."""
        claims = self._tokens.verify(ticket, _AUDIENCE, "stream", "jti")
        if claims["stream"] != stream:
            raise Unauthenticated("the ticket is for another stream")
        user_id = str(claims["sub"])
        await self._spent.spend(user_id, str(claims["jti"]))
        return user_id
