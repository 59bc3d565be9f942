"""Authorization: what a client may send instead of its token."""

import base64
import json
import time
from random import Random

import jwt

from tests.hostile.process import SECRET
from tests.hostile.request import Header

_OTHER = "another secret, which is also long enough to sign with"


def bad(token: str) -> list[tuple[str, tuple[Header, ...]]]:
    """Headers that must be refused, each with a name. `token` is a valid token."""
    claims = jwt.decode(token, options={"verify_signature": False})
    head, body, signature = token.split(".")
    now = int(time.time())
    tokens = {
        "expired": _signed(claims | {"exp": now - 10}),
        "of another audience": _signed(claims | {"aud": "caesura:stream"}),
        "of no audience": _signed({name: value for name, value in claims.items() if name != "aud"}),
        "of another issuer": _signed(claims | {"iss": "somebody"}),
        "without a subject": _signed({name: value for name, value in claims.items() if name != "sub"}),
        "with a subject that is a number": _signed(claims | {"sub": 1}),
        "with a subject that is a list": _signed(claims | {"sub": ["alice"]}),
        "of nobody": _signed(claims | {"sub": "nobody-of-this-name"}),
        "of a name with NUL": _signed(claims | {"sub": "a\x00b"}),
        "of a name with a lone surrogate": _signed(claims | {"sub": "\ud800"}),
        "of a huge name": _signed(claims | {"sub": "x" * 30_000}),
        "with an old stamp": _signed(claims | {"stamp": "0" * 16}),
        "with a stamp that is an object": _signed(claims | {"stamp": {"a": [1]}}),
        "of the future": _signed(claims | {"iat": now + 10_000, "nbf": now + 10_000}),
        "with times that are texts": _signed(claims | {"exp": "soon", "iat": "now"}),
        "with a time that is no number": _signed(claims | {"exp": float("nan")}),
        "under another secret": jwt.encode(claims, _OTHER, "HS256"),
        "under HS512": jwt.encode(claims, SECRET + SECRET, "HS512"),
        "under no algorithm": f"{_part({'alg': 'none', 'typ': 'JWT'})}.{body}.",
        "under no algorithm, signed": f"{_part({'alg': 'none'})}.{body}.{signature}",
        "under an algorithm that is a list": f"{_part({'alg': ['HS256']})}.{body}.{signature}",
        "with a critical header": f"{_part({'alg': 'HS256', 'crit': ['x'], 'x': 1})}.{body}.{signature}",
        "with a deep header": f"{_raw(b'[' * 5000)}.{body}.{signature}",
        "with a header that is no object": f"{_raw(b'[1]')}.{body}.{signature}",
        "with a body that is no object": f"{head}.{_raw(b'[1]')}.{signature}",
        "without a signature": f"{head}.{body}.",
        "with half a signature": f"{head}.{body}.{signature[:10]}",
        "of two parts": f"{head}.{body}",
        "of many parts": ".".join("a" * 200),
        "that is no base64": "!!!.???.###",
        "that is empty": "",
        "that is huge": "x" * 30_000,
    }
    shown = [(f"a token {name}", _bearer(value.encode())) for name, value in tokens.items()]
    right = token.encode()
    return [
        *shown,
        ("no token", ()),
        ("a token that is not ASCII", _bearer(b"\xff\xfe\x80")),
        ("a token in the wrong scheme", ((b"Authorization", b"Basic " + right),)),
        ("a token without a scheme", ((b"Authorization", right),)),
        ("a scheme without a token", ((b"Authorization", b"Bearer"),)),
        ("Basic credentials", ((b"Authorization", b"Basic YTpi"),)),
        ("a token with a comma", _bearer(right + b", Bearer x")),
        ("a token in quotes", _bearer(b'"' + right + b'"')),
        ("a token in a cookie", ((b"Cookie", b"access_token=" + right),)),
        ("a bad token before the right one", _bearer(b"x") + _bearer(right)),
    ]


def any_bad(chance: Random, token: str) -> tuple[str, tuple[Header, ...]]:
    return chance.choice(bad(token))


def good(token: str) -> tuple[Header, ...]:
    return _bearer(token.encode())


def _bearer(value: bytes) -> tuple[Header, ...]:
    return ((b"Authorization", b"Bearer " + value),)


def _signed(claims: dict[str, object]) -> str:
    """A token with these claims. PyJWT would check the claims before signing; here they are signed
    unchecked."""
    return jwt.api_jws.encode(json.dumps(claims).encode(), SECRET, "HS256")


def _part(value: object) -> str:
    return _raw(json.dumps(value).encode())


def _raw(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
