"""Another service that vouches for people: what the settings say of it, and what its people are called."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from caesura.core import addresses, ids, urls

#: Algorithms with a public key, and those with a shared key, each with the fewest bytes of that key.
PUBLIC = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
SHARED = {"HS256": 32, "HS384": 48, "HS512": 64}
_USUAL_PUBLIC, _USUAL_SHARED = ("RS256", "ES256", "EdDSA"), ("HS256",)
#: The issuer of this server's own tokens.
OWN = "caesura"
_CLAIM = "sub"
LONGEST_ISSUER, LONGEST_SUBJECT = 500, 255
#: The name of a person has at most 50 characters, of which 11 tell people with similar names apart.
_STEM, _MARK, _TRIES = 39, 10, 4


@dataclass(frozen=True, slots=True)
class Issuer:
    """`jwks` is a URL or the path of a file; `key` is a shared key. One of them is given."""

    name: str
    audience: str
    jwks: str | None = None
    key: str | None = field(default=None, repr=False)
    claim: str = _CLAIM
    algorithms: tuple[str, ...] = ()

    @property
    def remote(self) -> bool:
        return self.jwks is not None and is_url(self.jwks)


def issuer(
    prefix: str,
    *,
    name: str | None,
    audience: str | None,
    jwks: str | None,
    key: str | None,
    claim: str,
    algorithms: tuple[str, ...],
) -> Issuer | None:
    """What the settings say whose names begin with `prefix`; None if they name no service. Raises
    `ValueError` with one line."""
    own_claim = claim if claim != _CLAIM else None
    settings = {"ISSUER": name, "AUDIENCE": audience, "JWKS": jwks, "KEY": key, "CLAIM": own_claim}
    given = [setting for setting, value in (settings | {"ALGORITHMS": algorithms}).items() if value]
    if not given:
        return None
    missing = needed(prefix, given)
    if missing or not name or not audience:
        verb = "are" if " and " in missing else "is"
        raise ValueError(f"{missing} {verb} required with {prefix}{given[0]}")
    if jwks is not None and key is not None:
        raise ValueError(f"{prefix}ISSUER needs either {prefix}JWKS or {prefix}KEY")
    if name == OWN or len(name) > LONGEST_ISSUER or not name.isprintable():
        why = f"is what this server calls itself: {OWN}" if name == OWN else "is too long or not printable"
        raise ValueError(f"{prefix}ISSUER {why}")
    if jwks is not None and (fault := _url_fault(jwks)):
        raise ValueError(f"{prefix}JWKS {fault}")
    return Issuer(name, audience, jwks, key, claim, _algorithms(prefix, key, algorithms))


def needed(prefix: str, given: Collection[str] = ()) -> str:
    """The settings without which no other service can vouch for people, besides those that are given."""
    names = [f"{prefix}{setting}" for setting in ("ISSUER", "AUDIENCE") if setting not in given]
    if "JWKS" not in given and "KEY" not in given:
        names.append(f"{prefix}JWKS (or {prefix}KEY)")
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _algorithms(prefix: str, key: str | None, chosen: tuple[str, ...]) -> tuple[str, ...]:
    known = PUBLIC if key is None else tuple(SHARED)
    used = chosen or (_USUAL_PUBLIC if key is None else _USUAL_SHARED)
    for algorithm in used:
        if algorithm not in known:
            source = f"{prefix}JWKS" if key is None else f"{prefix}KEY"
            told = f"{algorithm} cannot be used with {source}, but {', '.join(known)} can"
            raise ValueError(f"{prefix}ALGORITHMS: {told}")
        if key is not None and len(key.encode()) < SHARED[algorithm]:
            raise ValueError(f"{prefix}KEY must have at least {SHARED[algorithm]} bytes for {algorithm}")
    return used


def is_url(text: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def _url_fault(jwks: str) -> str | None:
    if not is_url(jwks):
        return None
    try:
        parts = urlsplit(jwks)
        fits = bool(parts.hostname) and "@" not in jwks.partition("?")[0] and urls.has_host(jwks)
    except ValueError:
        fits = False
    if not fits or parts.scheme not in ("https", "http"):
        return "must be the path of a file, or such as https://login.example.org/keys.json"
    if parts.scheme == "http" and not addresses.is_loopback(parts.hostname or ""):
        return "must be https: over http anybody on the way could put in keys of their own"
    return None


def subject(claim: object) -> str | None:
    """The value of a claim as the name of a person in their own service; None if it can be none."""
    text = str(claim) if type(claim) is int else claim
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_SUBJECT or not text.isprintable():
        return None
    return text


def usernames(issuer: str, subject: str, reserved: str) -> Iterator[str]:
    """Names for a person of another service, best first. Only a subject that is a valid name is used as it
    is. Every other name has a mark at its end, so that `Bob` does not look like `bob`."""
    if ids.is_username(subject) and subject != reserved:
        yield subject
    stem = re.sub(r"[^a-z0-9._]+", "-", subject.lower())[:_STEM].strip("-._") or "person"
    mark = hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()
    yield f"{stem}-{mark[:_MARK]}"
    for _ in range(_TRIES):  # somebody has registered that name
        yield f"{stem}-{secrets.token_hex(_MARK // 2)}"
