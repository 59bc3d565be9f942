"""Tokens: signed credentials of a person. One fixed algorithm; each kind has an audience of its own."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import Any

import jwt

from caesura.core.errors import Unauthenticated
from caesura.store.users import stamp

_ALGORITHM = "HS256"
_ISSUER = "caesura"
_ACCESS = "caesura:access"
_SHORTEST = 32
#: The viewer of all requests, where there are no tokens.
ONE_VIEWER = "-"
#: How many verified tokens are cached: verifying one takes longer than all other checks of a request.
_REMEMBERED = 1_000


@dataclass(frozen=True, slots=True)
class Access:
    """`stamp` changes with the person's password, which makes older tokens invalid. `viewer` tells the
    log-ins of the person apart."""

    user_id: str
    stamp: str
    viewer: str = ONE_VIEWER


class Tokens:
    def __init__(self, secret: str, hours: float = 24.0) -> None:
        if len(secret.encode()) < _SHORTEST:
            raise ValueError(f"a key for tokens has at least {_SHORTEST} bytes")
        self._secret = secret
        self.seconds = int(hours * 3600)
        self._verified: dict[str, tuple[Access, int]] = {}

    def issue(self, user_id: str, password_hash: str) -> str:
        return self.sign(_ACCESS, self.seconds, sub=user_id, stamp=stamp(password_hash))

    def read(self, token: str) -> Access:
        """The owner of the token. The caller must check the stamp every time."""
        access, ends = self._verified.get(token, (None, 0))
        if access is not None and time.time() < ends:
            return access
        claims = self.verify(token, _ACCESS, "stamp")
        access = Access(claims["sub"], str(claims["stamp"]), _viewer(token))
        if len(self._verified) >= _REMEMBERED:
            self._verified.clear()
        self._verified[token] = access, int(claims["exp"])
        return access

    def sign(self, audience: str, seconds: int, **claims: Any) -> str:
        now = int(time.time())
        standard = {"iss": _ISSUER, "aud": audience, "iat": now, "exp": now + seconds}
        return jwt.encode(standard | claims, self._secret, _ALGORITHM)

    def verify(self, token: str, audience: str, *required: str) -> dict[str, Any]:
        """The claims of a token for this audience. Raises `Unauthenticated` if it is not valid."""
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._secret,
                algorithms=[_ALGORITHM],
                audience=audience,
                issuer=_ISSUER,
                # The clock of the node that signed it may be ahead of this node's.
                options={"require": ["exp", "iat", "sub", *required], "verify_iat": False},
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated("the token is not valid") from error
        if not isinstance(claims["iat"], int):
            raise Unauthenticated("the token is not valid")
        return claims


def _viewer(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()[:8]
