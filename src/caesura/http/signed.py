"""JSON Web Tokens with one fixed algorithm, HMAC with SHA-256. A library for all algorithms loads
`cryptography`, which this one does not need: 9 MB and a twentieth of a start."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from caesura.core import json_data

_HEADER = {"alg": "HS256", "typ": "JWT"}


class Unsigned(ValueError):
    """The text is no token that was signed with this key."""


def encode(claims: Mapping[str, Any], key: str) -> str:
    signed = f"{_packed(_HEADER)}.{_packed(claims)}"
    return f"{signed}.{_signature(signed.encode(), key)}"


def decode(token: str, key: str) -> dict[str, Any]:
    """The claims of a token. Its signature is checked before anything in it is read. Signatures are compared
    as texts, so there is one way to write each."""
    signed, _, signature = token.rpartition(".")
    try:
        fits = hmac.compare_digest(_signature(signed.encode("ascii"), key), signature)
    except (UnicodeEncodeError, TypeError):  # not ASCII
        fits = False
    if not fits or signed.count(".") != 1:
        raise Unsigned
    header, claims = (_unpacked(part) for part in signed.split("."))
    if header.get("alg") != _HEADER["alg"] or "crit" in header:
        raise Unsigned
    return claims


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """The header, the claims and the signature of a token. Nothing of them is checked."""
    header, claims, signature = token.split(".")
    return _unpacked(header), _unpacked(claims), _data(signature)


def _signature(signed: bytes, key: str) -> str:
    return _text(hmac.digest(key.encode(), signed, hashlib.sha256))


def _packed(value: Mapping[str, Any]) -> str:
    return _text(json_data.dumps(value))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unpacked(part: str) -> dict[str, Any]:
    try:
        value = json_data.loads(_data(part))
    except ValueError as error:
        raise Unsigned from error
    if not isinstance(value, dict):
        raise Unsigned
    return value


def _data(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except ValueError as error:
        raise Unsigned from error
