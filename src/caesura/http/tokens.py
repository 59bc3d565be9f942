"""Tokens: signed credentials of a person. One fixed algorithm; each kind has an audience of its own."""

from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Any

from caesura.core import ids, issuers
from caesura.core.errors import Unauthenticated
from caesura.http import signed

_ISSUER = issuers.OWN
_ACCESS = "caesura:access"
_SESSION = "caesura:session"
_SHORTEST = 32
#: The viewer of all requests, where there are no tokens.
ONE_VIEWER = "-"
#: How many verified tokens are cached: verifying one takes longer than all other checks of a request.
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Access:
    """`stamp` changes with the person's password and when they log out everywhere, which makes older tokens
    invalid. `viewer` tells the log-ins of the person apart. `session` is the id of a browser's session, which
    can be ended alone; a token has none. `until` is the second in which it expires."""

    user_id: str
    stamp: str
    viewer: str = ONE_VIEWER
    session: str = ""
    until: int = 0


class Tokens:
    def __init__(self, secret: str, hours: float = 24.0) -> None:
        if len(secret.encode()) < _SHORTEST:
            raise ValueError(f"a key for tokens has at least {_SHORTEST} bytes")
        self._secret = secret
        self.seconds = int(hours * 3600)
        self._verified: dict[tuple[str, str], tuple[Access, int]] = {}

    def issue(self, user_id: str, stamp: str) -> str:
        return self.sign(_ACCESS, self.seconds, sub=user_id, stamp=stamp)

    def issue_session(self, user_id: str, stamp: str, seconds: int | None = None) -> str:
        """What a browser keeps in its cookie. It is no token: the `Authorization` header does not take it. It
        is valid for `seconds` if that is less than usual."""
        valid = self.seconds if seconds is None else min(seconds, self.seconds)
        return self.sign(_SESSION, valid, sub=user_id, stamp=stamp, jti=ids.token())

    def read(self, token: str) -> Access:
        """The owner of the token. The caller must check the stamp every time."""
        return self._read(_ACCESS, token)

    def read_session(self, session: str) -> Access:
        """As `read`, for a session. The caller must also check whether it was ended."""
        return self._read(_SESSION, session, "jti")

    def csrf(self, access: Access) -> str:
        """What a request by cookie must repeat in a header. Another web page cannot know it."""
        key = f"caesura:csrf {self._secret}".encode()
        return hmac.new(key, access.session.encode(), hashlib.sha256).hexdigest()[:32]

    def _read(self, audience: str, token: str, *required: str) -> Access:
        key = audience, token
        access, ends = self._verified.get(key, (None, 0))
        if access is not None and time.time() < ends:
            return access
        claims = self.verify(token, audience, "stamp", *required)
        ends = int(claims["exp"])
        session = str(claims["jti"]) if required else ""
        access = Access(claims["sub"], str(claims["stamp"]), _viewer(token), session, ends)
        if len(self._verified) >= _REMEMBERED:
            self._verified.clear()
        self._verified[key] = access, ends
        return access

    def sign(self, audience: str, seconds: int, **claims: Any) -> str:
        now = int(time.time())
        standard = {"iss": _ISSUER, "aud": audience, "iat": now, "exp": now + seconds}
        return signed.encode(standard | claims, self._secret)

    def verify(self, token: str, audience: str, *required: str) -> dict[str, Any]:
        """The claims of a token for this audience. Raises `Unauthenticated` if it is not valid."""
        try:
            claims = signed.decode(token, self._secret)
        except signed.Unsigned as error:
            raise Unauthenticated("the token is not valid") from error
        if not _holds(claims, audience, required):
            raise Unauthenticated("the token is not valid")
        return claims


def _holds(claims: dict[str, Any], audience: str, required: tuple[str, ...]) -> bool:
    """Whether the claims are complete, meant for this audience, and hold now. When it was issued is not
    compared: the clock of the node that signed it may be ahead of this node's."""
    now = time.time()
    return (
        claims.get("iss") == _ISSUER
        and claims.get("aud") == audience
        and isinstance(claims.get("sub"), str)
        and isinstance(claims.get("jti", ""), str)
        and all(type(claims.get(name, 0)) is int for name in ("exp", "iat", "nbf"))
        and claims.get("exp", 0) > now >= claims.get("nbf", 0)
        and all(claims.get(name) is not None for name in ("iat", *required))
    )


def _viewer(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:8]
