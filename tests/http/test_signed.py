"""Our JSON Web Tokens beside those of a library."""

import base64
import hashlib
import hmac
import json

import jwt
import pytest

from caesura.http import signed

KEY = "k" * 32
CLAIMS = {"sub": "ann ✓", "exp": 2**40, "list": [1, None, "x"]}


def made(header: bytes, claims: bytes) -> str:
    """A token with a right signature, whatever is in it."""
    text = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (header, claims))
    signature = hmac.digest(KEY.encode(), text.encode(), hashlib.sha256)
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def test_a_library_reads_our_tokens_and_we_read_its() -> None:
    assert jwt.decode(signed.encode(CLAIMS, KEY), KEY, algorithms=["HS256"]) == CLAIMS
    assert signed.decode(jwt.encode(CLAIMS, KEY, "HS256"), KEY) == CLAIMS


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "é.é.é",
        "\udc80.a.b",
        jwt.encode(CLAIMS, "o" * 32, "HS256"),
        jwt.encode(CLAIMS, "k" * 64, "HS512"),
        jwt.encode(CLAIMS, "", "none"),
        f"{signed.encode(CLAIMS, KEY)}=",
        f" {signed.encode(CLAIMS, KEY)}",
        f"x.{signed.encode(CLAIMS, KEY)}",
        made(b'{"alg":"none"}', b"{}"),
        made(b'{"alg":"HS256","crit":["b64"]}', b"{}"),
        made(b"[]", b"{}"),
        made(b'{"alg":"HS256"}', b"[]"),
        made(b'{"alg":"HS256"}', b"\xff"),
        made(b'{"alg":"HS256"}', b"[" * 100_000),
    ],
)
def test_anything_else_is_refused(token: str) -> None:
    with pytest.raises(signed.Unsigned):
        signed.decode(token, KEY)


def test_a_token_whose_claims_were_changed_is_refused() -> None:
    header, _, signature = signed.encode(CLAIMS, KEY).split(".")
    other = base64.urlsafe_b64encode(json.dumps({"sub": "bob"}).encode()).decode().rstrip("=")
    with pytest.raises(signed.Unsigned):
        signed.decode(f"{header}.{other}.{signature}", KEY)
    assert signed.decode(made(b'{"alg":"HS256"}', b'{"sub":"bob"}'), KEY) == {"sub": "bob"}
