"""Tokens of another service: who comes in with them, as whom, and who does not."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from joserfc.jwk import RSAKey

from caesura.core import issuers
from caesura.core.errors import StartupError
from caesura.http import jwks
from caesura.service.removal import Removal
from tests.api.reading import conversation, finished
from tests.api.server import PASSWORD, Served
from tests.login_service import (
    AUDIENCE,
    ISSUER,
    KeyServer,
    claims,
    ec,
    ed,
    key_server,
    public,
    rsa,
    signed,
)

KEY, CURVE, EDWARDS, STRANGER = rsa("first"), ec("curve"), ed("edwards"), rsa("first")
LOGIN: dict[str, Any] = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}


@pytest.fixture(scope="module")
def theirs() -> Iterator[KeyServer]:
    with key_server(public(KEY, CURVE, EDWARDS)) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, theirs: KeyServer) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("server"), jwt_jwks=theirs.url, **LOGIN) as server:
        yield server


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def enter(client: httpx.Client, **changes: Any) -> httpx.Response:
    return client.get("/api/v2/me", headers=bearer(signed(KEY, **changes)))


def name_of(client: httpx.Client, subject: object) -> str:
    response = enter(client, sub=subject)
    assert response.status_code == 200, response.text
    found: str = response.json()["user_id"]
    return found


# --- who comes in


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated:joserfc.errors.SecurityWarning")
@pytest.mark.parametrize(("key", "algorithm"), [(KEY, "RS256"), (CURVE, "ES256"), (EDWARDS, "EdDSA")])
def test_a_person_appears_on_first_use(nobody: httpx.Client, key: RSAKey, algorithm: str) -> None:
    token = signed(key, algorithm, sub=f"carol-{algorithm.lower()}")
    for _ in range(2):
        found = nobody.get("/api/v2/me", headers=bearer(token))
        assert found.json() == {"user_id": f"carol-{algorithm.lower()}"}


def test_every_api_takes_their_tokens(nobody: httpx.Client) -> None:
    nobody.headers.update(bearer(signed(KEY)))
    thread = nobody.post("/api/sessions").json()["thread_id"]
    assert thread.startswith("carol-")
    said = nobody.post(f"/api/chat/{thread}", json={"message": "echo one"})
    assert "event: end" in said.text
    assert nobody.post("/api/v1/chat", json={"content": "echo two"}).status_code == 200
    session = {"agent_id": "assistant", "session_id": "mine"}
    assert nobody.post("/api/v1/chat/stream", json={**session, "message": "echo three"}).status_code == 200
    turn = finished(nobody, "echo four")
    stream = f"/api/v2/turns/{turn['id']}/events"
    ticket = nobody.post("/api/v2/stream-ticket", json={"stream": stream}).json()["ticket"]
    del nobody.headers["authorization"]
    assert nobody.get(stream, params={"ticket": ticket}).status_code == 200
    assert nobody.get(stream, params={"ticket": signed(KEY)}).status_code == 401


def test_a_token_for_several_audiences_is_accepted(nobody: httpx.Client) -> None:
    assert enter(nobody, aud=["other", AUDIENCE]).status_code == 200


def test_clocks_may_differ_a_little(nobody: httpx.Client) -> None:
    now = time.time()
    assert enter(nobody, exp=now - 20, iat=now - 300).status_code == 200
    assert enter(nobody, iat=now + 40, nbf=now + 40).status_code == 200


# --- who does not


def unsigned(header: dict[str, Any], **changes: Any) -> str:
    parts = (json.dumps(part).encode() for part in (header, claims(**changes)))
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


def refused() -> dict[str, str]:
    now = int(time.time())
    pem = KEY.as_pem(private=False)
    confused = unsigned({"alg": "HS256", "kid": "first"}).rstrip(".")
    mac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    forged = base64.urlsafe_b64encode(mac.sign(confused.encode(), pem)).rstrip(b"=").decode()
    good = signed(KEY)
    head, body, signature = good.split(".")
    elsewhere = {"jku": "http://127.0.0.1:1/", "x5u": "http://127.0.0.1:1/"}
    own = {"jwk": STRANGER.as_dict(private=False), "x5c": ["MIIB"]}
    return {
        "none": unsigned({"alg": "none"}),
        "None, with a signature": f"{unsigned({'alg': 'None', 'kid': 'first'})}{signature}",
        "the public key as a shared one": f"{confused}.{forged}",
        "another key of that name": signed(STRANGER),
        "a key that the header brings": signed(STRANGER, header=own),
        "a key that the header says where to find": signed(STRANGER, header=elsewhere),
        "an algorithm that is not allowed": signed(KEY, "PS256"),
        "another key's algorithm": signed(CURVE, "ES256", header={"kid": "first"}),
        "no name of a key, of several": unsigned({"alg": "RS256"}) + signature,
        "critical": signed(KEY, header={"crit": ["b64"], "b64": True}),
        "a number as the key's name": unsigned({"alg": "RS256", "kid": 7}) + signature,
        "expired": signed(KEY, exp=now - 120),
        "no expiry": signed(KEY, exp=None),
        "an expiry that is no number": signed(KEY, exp="tomorrow"),
        "an expiry that is true": signed(KEY, exp=True),
        "an expiry that is too far": signed(KEY, exp=1e300),
        "not yet valid": signed(KEY, nbf=now + 600),
        "issued in the future": signed(KEY, iat=now + 600),
        "no time of issue": signed(KEY, iat=None),
        "another issuer": signed(KEY, iss="https://login.example.org"),
        "our issuer": signed(KEY, iss="caesura", aud="caesura:access", stamp="x"),
        "no issuer": signed(KEY, iss=None),
        "another audience": signed(KEY, aud="chat2"),
        "audiences without ours": signed(KEY, aud=["a", "b"]),
        "no audience": signed(KEY, aud=None),
        "an audience in an object": signed(KEY, aud={"chat": 1}),
        "nobody": signed(KEY, sub=None),
        "an empty name": signed(KEY, sub=""),
        "a list as a name": signed(KEY, sub=["carol"]),
        "a name that is too long": signed(KEY, sub="x" * 256),
        "a name with NUL": signed(KEY, sub="car\0ol"),
        "a name with half a character": signed(KEY, sub="\ud800"),
        "huge": signed(KEY, more="x" * 20_000),
        "changed": f"{head}.{body[:-2]}xx.{signature}",
        "a changed signature": f"{head}.{body}.{'A' * len(signature)}",
        "no signature": f"{head}.{body}.",
        "four parts": f"{good}.x",
        "a line break in it": f"{head}.{body}.{signature[:10]}=={signature[10:]}",
        "deep": f"{head}.{base64.urlsafe_b64encode(b'[' * 8000).decode().rstrip('=')}.{signature}",
        "a header that is a list": f"W10.{body}.{signature}",
    }


def test_nobody_comes_in_with_a_bad_token(nobody: httpx.Client, theirs: KeyServer) -> None:
    assert enter(nobody).status_code == 200
    asked = theirs.asked
    for what, token in refused().items():
        response = nobody.get("/api/v2/me", headers=bearer(token))
        assert response.status_code == 401, what
        assert response.headers["www-authenticate"] == "Bearer", what
        assert nobody.post("/api/auth/session", headers=bearer(token)).status_code == 401, what
    unknown = rsa("unknown")
    expired = nobody.get("/api/v2/me", headers=bearer(signed(unknown, exp=1)))
    assert expired.status_code == 401, "no key makes it good"
    for number in range(50):
        token = unsigned({"alg": "RS256", "kid": f"flood-{number}"}) + "AAAA"
        response = nobody.get("/api/v2/me", headers=bearer(token if number else signed(unknown)))
        assert response.status_code == 401
    assert theirs.asked - asked <= 1 + 60 // 10, "an attacker could flood the other service"


# --- as whom


def test_their_people_are_nobody_who_is_here(server: Served, nobody: httpx.Client) -> None:
    """Somebody has registered the name before."""
    with server.client("bob") as client:
        kept = conversation(client)
    theirs = name_of(nobody, "bob")
    assert theirs.startswith("bob-")
    found = nobody.get(f"/api/v2/conversations/{kept}", headers=bearer(signed(KEY, sub="bob")))
    assert found.status_code == 404
    assert name_of(nobody, "bob") == theirs


def test_nobody_here_becomes_one_of_their_people(nobody: httpx.Client) -> None:
    assert name_of(nobody, "dora") == "dora"
    body = {"username": "dora", "password": PASSWORD}
    assert nobody.post("/api/auth/register", json=body).status_code == 400
    for password in (PASSWORD, "", "!"):
        assert nobody.post("/api/auth/login", json={**body, "password": password}).status_code == 401


def test_each_of_their_people_has_a_name_of_their_own(server: Served, nobody: httpx.Client) -> None:
    theirs = ["frida", "Frida", "FRIDA", "frida@example.org", "frida-example.org", "auth0|123", "auth0-123"]
    theirs += [
        "local",
        "LOCAL",
        "…",
        "女",
        "é",
        "e\u0301",
        "-",
        ".",
        "a" * 50,
        "a" * 51,
        "a" * 255,
        "x y",
        "7",
    ]
    names = [name_of(nobody, subject) for subject in theirs]
    assert len(set(names)) == len(names)
    assert "local" not in names
    assert [name for name in names if name in theirs] == [
        "frida",
        "frida-example.org",
        "auth0-123",
        "a" * 50,
        "7",
    ]
    for name in names:
        assert len(name) <= 50
    assert names == [name_of(nobody, subject) for subject in theirs]
    assert name_of(nobody, "frida@example.org").startswith("frida-example.org-")


def test_a_name_that_an_attacker_has_registered_keeps_nobody_out(
    server: Served, nobody: httpx.Client
) -> None:
    first, second, *_ = issuers.usernames(ISSUER, "gina", "local")
    server.token(first)
    server.token(second)
    given = name_of(nobody, "gina")
    assert given.startswith("gina-")
    assert given != second


# --- signing out


def session_of(client: httpx.Client, headers: dict[str, str]) -> str:
    begun = client.post("/api/auth/session", headers=headers)
    assert begun.status_code == 200
    client.cookies.clear()
    return begun.headers["set-cookie"].partition(";")[0]


def test_signing_out_everywhere_ends_tokens_that_were_issued_before(nobody: httpx.Client) -> None:
    now = int(time.time())
    old = bearer(signed(KEY, sub="hana", iat=now - 1))
    cookie = {"Cookie": session_of(nobody, old)}
    assert nobody.delete("/api/auth/sessions", headers=old).status_code == 204
    ended = nobody.get("/api/v2/me", headers=old)
    assert (ended.status_code, ended.headers["x-error-code"]) == (401, "revoked")
    assert nobody.get("/api/auth/session", headers=cookie).status_code == 401
    assert enter(nobody, sub="hana", iat=now + 30).status_code == 200


def test_a_token_that_is_asked_for_after_signing_out_everywhere_is_accepted(
    server: Served, nobody: httpx.Client
) -> None:
    old = bearer(signed(KEY, sub="greta"))
    assert nobody.delete("/api/auth/sessions", headers=old).status_code == 204
    assert enter(nobody, sub="greta").status_code == 200
    assert nobody.get("/api/v2/me", headers=old).status_code == 401
    own = server.headers("gus")
    assert nobody.delete("/api/auth/sessions", headers=own).status_code == 204
    assert nobody.get("/api/v2/me", headers=own).status_code == 401
    assert nobody.get("/api/v2/me", headers=server.headers("gus")).status_code == 200


def test_a_disabled_person_stays_out(server: Served, nobody: httpx.Client) -> None:
    assert name_of(nobody, "ivan") == "ivan"
    people = server.context.service.people
    server.call(people.disable("ivan"))
    later = int(time.time()) + 30
    assert enter(nobody, sub="ivan", iat=later).status_code == 401
    server.call(people.enable("ivan"))
    assert enter(nobody, sub="ivan", iat=later).status_code == 200


def test_who_was_removed_comes_back_as_somebody_new(server: Served, nobody: httpx.Client) -> None:
    token = bearer(signed(KEY, sub="jo"))
    kept = nobody.post("/api/v2/conversations", json={}, headers=token).json()["id"]
    cookie = {"Cookie": session_of(nobody, token)}
    assert nobody.get("/api/auth/session", headers=cookie).json()["user_id"] == "jo"
    server.call(Removal(server.database).remove("jo"))
    assert nobody.get("/api/auth/session", headers=cookie).status_code == 401
    assert name_of(nobody, "jo") == "jo"
    assert nobody.get("/api/auth/session", headers=cookie).status_code == 401
    assert nobody.get(f"/api/v2/conversations/{kept}", headers=token).status_code == 404


def test_a_page_gets_a_session_for_a_token_that_ends_with_it(server: Served, nobody: httpx.Client) -> None:
    ends = int(time.time()) + 100
    begun = nobody.post("/api/auth/session", headers=bearer(signed(KEY, sub="kim", exp=ends)))
    assert begun.json()["user_id"] == "kim"
    shown = nobody.get("/api/auth/session").json()
    assert ends * 1000 <= shown["expires_at"] <= (ends + 70) * 1000
    told = {"X-CSRF-Token": begun.json()["csrf"]}
    assert nobody.post("/api/v2/conversations", json={}, headers=told).status_code == 201
    nobody.cookies.clear()
    own = nobody.post("/api/auth/session", headers=server.headers("leo"))
    assert own.json()["user_id"] == "leo"
    elsewhere = {**bearer(signed(KEY)), "Sec-Fetch-Site": "cross-site"}
    assert nobody.post("/api/auth/session", headers=elsewhere).status_code == 403


# --- keys, claims and settings


def test_keys_rotate_and_their_server_may_be_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = rsa("second")
    with ExitStack() as stack:
        theirs = stack.enter_context(key_server(public(KEY)))
        server = stack.enter_context(Served(tmp_path, jwt_jwks=theirs.url, **LOGIN))
        client = stack.enter_context(server.client(None))
        server.context.gate._vouchers._keys._pause = 0  # type: ignore[union-attr]
        old = bearer(signed(KEY))
        assert client.get("/api/v2/me", headers=old).status_code == 200
        theirs.status = 503
        assert client.get("/api/v2/me", headers=bearer(signed(second))).status_code == 401
        assert client.get("/api/v2/me", headers=old).status_code == 200
        assert client.get("/api/v2/me", headers=server.headers("own")).status_code == 200
        theirs.status, theirs.body = 200, public(second)
        assert client.get("/api/v2/me", headers=bearer(signed(second))).status_code == 200
        assert client.get("/api/v2/me", headers=old).status_code == 401
        # A token that was verified before is not good for longer than its key.
        monkeypatch.setattr(jwks, "_FRESH", 0)
        good = bearer(signed(second))
        assert client.get("/api/v2/me", headers=good).status_code == 200
        theirs.body = public(KEY)
        latest = time.monotonic() + 60
        while client.get("/api/v2/me", headers=good).status_code != 401:
            assert time.monotonic() < latest


def test_a_good_token_of_a_new_key_is_soon_accepted_whatever_others_send(tmp_path: Path) -> None:
    second = rsa("second")
    with ExitStack() as stack:
        theirs = stack.enter_context(key_server(public(KEY)))
        server = stack.enter_context(Served(tmp_path, jwt_jwks=theirs.url, **LOGIN))
        client = stack.enter_context(server.client(None))
        assert client.get("/api/v2/me", headers=bearer(signed(STRANGER, header={"kid": "junk"}))).is_error
        theirs.body = public(second)
        early = client.get("/api/v2/me", headers=bearer(signed(second)))
        assert early.status_code in (200, 401)  # 200 if this test was paused for ten seconds
        server.context.gate._vouchers._keys._pause = 0  # type: ignore[union-attr]
        assert client.get("/api/v2/me", headers=bearer(signed(second))).status_code == 200


def test_tokens_are_not_thrown_away_while_no_key_is_known(tmp_path: Path) -> None:
    with ExitStack() as stack:
        theirs = stack.enter_context(key_server(public(KEY)))
        theirs.status = 503
        server = stack.enter_context(Served(tmp_path, jwt_jwks=theirs.url, **LOGIN))
        client = stack.enter_context(server.client(None))
        away = client.get("/api/v2/me", headers=bearer(signed(KEY)))
        assert (away.status_code, int(away.headers["retry-after"]) >= 1) == (503, True)


@pytest.mark.parametrize(
    ("content", "said"), [(None, "No such file"), (b"x", "not JSON"), (b'{"keys": []}', "no key for RS256")]
)
def test_a_file_without_keys_stops_the_start(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "keys.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(StartupError, match=f"CAESURA_JWT_JWKS: .*{said}"):
        Served(tmp_path, jwt_jwks=str(file), **LOGIN).start()
