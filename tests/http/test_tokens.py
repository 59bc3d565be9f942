"""Tokens."""

import time

import jwt
import pytest

from caesura.core.errors import Unauthenticated
from caesura.http.tokens import Tokens
from caesura.store.users import stamp

SECRET = "a secret that is long enough to sign with"


def test_a_token_names_its_owner() -> None:
    tokens = Tokens(SECRET)
    access = tokens.read(tokens.issue("alice", stamp("hash")))
    assert (access.user_id, access.stamp) == ("alice", stamp("hash"))


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32"):
        Tokens("short")


def test_a_token_expires() -> None:
    tokens = Tokens(SECRET, hours=0.5)
    claims = jwt.decode(tokens.issue("alice", stamp("hash")), options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == tokens.seconds == 1800


def test_a_token_of_a_node_whose_clock_is_ahead_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 60)
    token = Tokens(SECRET).issue("alice", stamp("hash"))
    monkeypatch.undo()
    assert Tokens(SECRET).read(token).user_id == "alice"


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é.é.é", "e30.e30.e30", "\0", "." * 10_000])
def test_a_malformed_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthenticated):
        Tokens(SECRET).read(token)


@pytest.mark.parametrize("claim", [{"sub": 5}, {"sub": None}, {"exp": "soon"}, {"iat": "x"}, {"aud": []}])
def test_claims_of_another_kind_are_refused(claim: dict[str, object]) -> None:
    good = {"iss": "caesura", "aud": "caesura:access", "sub": "a", "iat": 1, "exp": 1 << 40, "stamp": "x"}
    token = jwt.encode(good | claim, SECRET, "HS256", sort_headers=True)
    with pytest.raises(Unauthenticated):
        Tokens(SECRET).read(token)
