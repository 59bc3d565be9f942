"""Stream tickets: EventSource cannot send headers, and a token does not belong in a URL."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from caesura.core import ids
from caesura.core.errors import Unauthenticated
from caesura.http.root import below
from caesura.http.tokens import ONE_VIEWER, Access, Tokens
from caesura.service import tickets

SECONDS = 60
_AUDIENCE = "caesura:stream"
#: Parameters that do not name a stream: they say from where and in which form it is read.
_HOW = frozenset({"ticket", "after", "a2ui"})


class Tickets:
    """A ticket opens one stream, for one person, once. It becomes invalid with the token it was issued
    for."""

    def __init__(self, tokens: Tokens, spent: tickets.Tickets, root: str = "") -> None:
        self._tokens, self._spent, self._root = tokens, spent, root

    def issue(self, access: Access, stream: str) -> str:
        holder = {"sub": access.user_id, "stamp": access.stamp, "viewer": access.viewer}
        given, _, query = stream.partition("?")
        path = below(self._root, given)
        if access.session:
            holder["session"] = access.session
        return self._tokens.sign(_AUDIENCE, SECONDS, **holder, stream=_name(path, query), jti=ids.token())

    async def redeem(self, ticket: str, path: str, query: str) -> Access:
        """Use up the ticket, and return the access of its owner."""
        claims = self._tokens.verify(ticket, _AUDIENCE, "stamp", "stream", "jti")
        if claims["stream"] != _name(path, query):
            raise Unauthenticated("the ticket is for another stream")
        viewer = str(claims.get("viewer", ONE_VIEWER))  # older versions do not name it
        session = str(claims.get("session", ""))
        access = Access(str(claims["sub"]), str(claims["stamp"]), viewer, session)
        await self._spent.spend(access.user_id, str(claims["jti"]), access.stamp, session)
        return access


def _name(path: str, query: str) -> str:
    """A stream by its path and, where a path has several streams, by the parameters that name one."""
    named = sorted((name, value) for name, value in parse_qsl(query) if name not in _HOW)
    return f"{path}?{urlencode(named)}" if named else path
