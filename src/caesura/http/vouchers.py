"""Vouchers: tokens of another service that vouches for its people (JSON Web Tokens).

Only the header's `alg` and `kid` are read. What it says of where keys are found (`jku`, `x5u`, `jwk`, `x5c`)
is ignored, and a token with `crit` is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from caesura.core import issuers
from caesura.core.errors import Unauthenticated
from caesura.http import signed
from caesura.http.jwks import Key, KeySet, Spawn

#: Seconds by which the clock of the other service may differ.
LEEWAY = 60
#: Bytes of a token, and how many tokens that were verified are remembered.
_LONGEST, _REMEMBERED = 16 * 1024, 1_000
_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_DIGESTS = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}
_LATEST = 2**53


class Voucher(NamedTuple):
    """Whom the token is of, the milliseconds in which it was issued, and the second in which it expires.
    `viewer` tells the log-ins of the person apart, as far as the service does."""

    issuer: str
    subject: str
    issued_at: int
    until: int
    viewer: str


class Keys(Protocol):
    #: Changes with the keys.
    edition: int

    def keep_fresh(self) -> None:
        """See to it that keys which are no longer good are forgotten in time."""

    async def find(self, id: str | None, algorithm: str) -> Sequence[Key]:
        """The keys that a token with this id and algorithm may be signed with."""


class SharedKey:
    edition = 0

    def __init__(self, key: str, algorithms: Sequence[str]) -> None:
        self._keys = {name: [Key(None, name, _hmac(key.encode(), _DIGESTS[name]))] for name in algorithms}

    def keep_fresh(self) -> None:
        """It never changes."""

    async def find(self, id: str | None, algorithm: str) -> list[Key]:
        """There is only one, whatever the token calls it."""
        return self._keys.get(algorithm, [])


class Vouchers:
    def __init__(self, issuer: issuers.Issuer, keys: Keys) -> None:
        self._issuer, self._keys = issuer, keys
        self._verified: dict[str, Voucher] = {}
        self._edition = keys.edition

    async def read(self, token: str) -> Voucher:
        """Whom the other service vouches for. Raises `Unauthenticated`, or `Unavailable` if the service's
        keys cannot be read. The caller must check whether the person may come in."""
        self._keys.keep_fresh()
        if self._edition != self._keys.edition:
            self._verified.clear()
            self._edition = self._keys.edition
        known = self._verified.get(token)
        if known is not None and time.time() < known.until:
            return known
        voucher = await self._verify(token)
        if len(self._verified) >= _REMEMBERED:
            self._verified.clear()
        self._verified[token] = voucher
        return voucher

    async def _verify(self, token: str) -> Voucher:
        if len(token) > _LONGEST or not _TOKEN.fullmatch(token):
            raise Unauthenticated("the token is not valid")
        try:
            header, claims, signature = signed.parts(token)
        except signed.Unsigned as error:
            raise Unauthenticated("the token is not valid") from error
        if claims.get("iss") == issuers.OWN:  # one of ours, which was refused before
            raise Unauthenticated("the token is not valid")
        if claims.get("iss") != self._issuer.name:  # cheap, and says most: it is checked before the signature
            _refuse("its issuer is not the one that is set")
        algorithm, id = header.get("alg"), header.get("kid")
        if algorithm not in self._issuer.algorithms or "crit" in header or not isinstance(id, str | None):
            _refuse("its header is not accepted")
        voucher = self._voucher(claims)  # before the keys: whether a token has expired needs no key
        content = token.rpartition(".")[0].encode()
        keys = await self._keys.find(id, algorithm)
        if not any(key.verify(content, signature) for key in keys):
            _refuse("its signature is not that of a known key")
        return voucher

    def _voucher(self, claims: dict[str, Any]) -> Voucher:
        now = time.time()
        audience = claims.get("aud")
        if self._issuer.audience not in (audience if isinstance(audience, list) else [audience]):
            _refuse("it is for another audience")
        expires, issued = _moment(claims, "exp"), _moment(claims, "iat")
        if expires <= now - LEEWAY:
            _refuse("it has expired")
        if issued > now + LEEWAY or _moment(claims, "nbf", 0) > now + LEEWAY:
            _refuse("it is not valid yet")
        subject = issuers.subject(claims.get(self._issuer.claim))
        if subject is None:
            _refuse(f"its claim {self._issuer.claim} names nobody")
        session = claims.get("sid")
        log_in = f"{self._issuer.name}\n{subject}\n{session if isinstance(session, str) else ''}"
        viewer = hashlib.sha256(log_in.encode("utf-8", "replace")).hexdigest()[:8]
        return Voucher(self._issuer.name, subject, int(issued * 1000), int(expires) + LEEWAY, viewer)


def vouchers(issuer: issuers.Issuer, spawn: Spawn) -> tuple[Vouchers, KeySet | None]:
    """The vouchers of this service, and its key set, if it has one."""
    if issuer.key is not None:
        return Vouchers(issuer, SharedKey(issuer.key, issuer.algorithms)), None
    keys = KeySet(issuer.jwks or "", issuer.algorithms, spawn)
    return Vouchers(issuer, keys), keys


def _refuse(why: str) -> NoReturn:
    raise Unauthenticated(f"the token is not valid: {why}")


def _moment(claims: dict[str, Any], name: str, missing: float | None = None) -> float:
    found = claims.get(name, missing)
    if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found <= _LATEST:
        return float(found)
    _refuse(f"its {name} is no time" if name in claims else f"it has no {name}")


def _hmac(key: bytes, digest: str) -> Any:
    return lambda content, signature: hmac.compare_digest(hmac.digest(key, content, digest), signature)
