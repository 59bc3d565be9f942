"""Sessions of browsers: signing in by cookie, the check against other web pages, signing out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from caesura.store import sessions, users
from tests.api.reading import conversation, events, follow, send, until
from tests.api.server import PASSWORD, SECRET, Served

SESSION, SESSIONS = "/api/auth/session", "/api/auth/sessions"
COOKIE = "caesura_session"


@contextmanager
def browser(server: Served, name: str = "wanda") -> Iterator[httpx.Client]:
    """A client that has signed in as this person, and sends the cookie and the value against forgery."""
    server.token(name)
    with server.client(None) as client:
        begun = client.post(SESSION, json={"username": name, "password": PASSWORD})
        assert begun.status_code == 200, begun.text
        client.headers["X-CSRF-Token"] = begun.json()["csrf"]
        yield client


@pytest.fixture
def wanda(server: Served) -> Iterator[httpx.Client]:
    with browser(server) as client:
        yield client


def flags(response: httpx.Response) -> dict[str, str]:
    (given,) = response.headers.get_list("set-cookie")
    parts = [part.strip().partition("=") for part in given.split(";")]
    return {name.lower() if place else name: value for place, (name, _, value) in enumerate(parts)}


def test_a_page_learns_how_to_sign_in(nobody: httpx.Client) -> None:
    assert nobody.get("/api/auth/options").json() == {"auth": "password", "registration": "open"}


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(server: Served, nobody: httpx.Client) -> None:
    server.token("wanda")
    begun = nobody.post(SESSION, json={"username": "wanda", "password": PASSWORD})
    found = flags(begun)
    assert {"httponly", "samesite", "path", "max-age", COOKIE} == found.keys()
    assert (found["samesite"], found["path"], found["max-age"]) == ("strict", "/", str(24 * 3600))
    assert begun.json().keys() == {"user_id", "csrf"}
    assert found[COOKIE] not in begun.text


def test_behind_a_trusted_proxy_with_tls_the_cookie_is_secure(tmp_path: Path) -> None:
    with Served(tmp_path, trusted_proxies="127.0.0.1") as server, server.client(None) as client:
        server.token("wanda")
        body = {"username": "wanda", "password": PASSWORD}
        tls = {"X-Forwarded-Proto": "https"}
        found = flags(client.post(SESSION, json=body, headers=tls))
        plain = flags(client.post(SESSION, json=body))
        assert "secure" in found
        assert "secure" not in plain
        # The name itself lets a browser take the cookie from this very host alone, over TLS.
        assert found["path"] == "/"
        assert "domain" not in found
        secure = found[f"__Host-{COOKIE}"]
        client.cookies.clear()
        for name, session, headers, status in [
            (f"__Host-{COOKIE}", secure, tls, 200),
            (COOKIE, plain[COOKIE], {}, 200),
            # The other name may have been set by somebody else.
            (COOKIE, plain[COOKIE], tls, 401),
            (f"__Host-{COOKIE}", secure, {}, 401),
        ]:
            sent = {**headers, "Cookie": f"{name}={session}"}
            assert client.get(SESSION, headers=sent).status_code == status, (name, headers)


def test_a_wrong_password_begins_no_session(server: Served, nobody: httpx.Client) -> None:
    server.token("wanda")
    for body in ({"username": "wanda", "password": "wrong horse"}, {"username": "no-one", "password": "x"}):
        refused = nobody.post(SESSION, json=body)
        assert refused.status_code == 401
        assert refused.json() == {"detail": "Incorrect username or password"}
        assert "set-cookie" not in refused.headers


def test_signing_in_takes_json_alone(server: Served, nobody: httpx.Client) -> None:
    """A form of another site can be sent without asking this server first."""
    server.token("wanda")
    assert nobody.post(SESSION, data={"username": "wanda", "password": PASSWORD}).status_code == 400


def test_every_kind_of_request_works_by_cookie(wanda: httpx.Client) -> None:
    assert wanda.get("/api/v2/me").json() == {"user_id": "wanda"}
    turn = send(wanda, conversation(wanda), "echo hello")
    assert [event.name for event in events(wanda, turn["id"])][-1] == "segment_ended"
    assert wanda.get("/api/v1/chat").status_code == 200
    thread = wanda.post("/api/sessions", json={}).json()
    assert thread


def test_the_session_tells_who_it_is(wanda: httpx.Client) -> None:
    told = wanda.get(SESSION).json()
    assert told["user_id"] == "wanda"
    assert told["csrf"] == wanda.headers["X-CSRF-Token"]
    ends = jwt.decode(wanda.cookies[COOKIE], options={"verify_signature": False})["exp"]
    assert told["expires_at"] == ends * 1000


@pytest.mark.parametrize(
    "headers",
    [
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "0" * 32},
        {"X-CSRF-Token": "é".encode().decode("latin-1")},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_request_of_another_page_changes_nothing(wanda: httpx.Client, headers: dict[str, str]) -> None:
    before = wanda.get("/api/v2/conversations").json()["total"]
    sent = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    for method, path in (("POST", "/api/v2/conversations"), ("DELETE", SESSION), ("DELETE", SESSIONS)):
        body: dict[str, str] | None = {} if method == "POST" else None
        assert wanda.request(method, path, json=body, headers=sent).status_code == 403, path
    assert wanda.get("/api/v2/conversations").json()["total"] == before


def test_the_value_of_another_session_does_not_fit(server: Served, wanda: httpx.Client) -> None:
    with browser(server, "xaver") as other, browser(server) as again:
        for stranger in (other, again):
            headers = {"X-CSRF-Token": stranger.headers["X-CSRF-Token"]}
            assert wanda.post("/api/v2/conversations", json={}, headers=headers).status_code == 403


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}])
def test_the_servers_own_page_is_accepted(
    server: Served, wanda: httpx.Client, headers: dict[str, str]
) -> None:
    own = headers or {"Origin": server.url}
    assert wanda.post("/api/v2/conversations", json={}, headers=own).status_code == 201


def test_another_page_cannot_sign_a_person_in(server: Served, nobody: httpx.Client) -> None:
    server.token("wanda")
    body = {"username": "wanda", "password": PASSWORD}
    refused = nobody.post(SESSION, json=body, headers={"Origin": "https://elsewhere.example"})
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


def test_a_token_counts_more_than_the_cookie(server: Served, wanda: httpx.Client) -> None:
    both = server.headers("yara") | {"X-CSRF-Token": ""}
    assert wanda.get("/api/v2/me", headers=both).json() == {"user_id": "yara"}
    assert wanda.post("/api/v2/conversations", json={}, headers=both).status_code == 201
    wrong = {"Authorization": "Bearer x.y.z"}
    assert wanda.get("/api/v2/me", headers=wrong).status_code == 401


def test_a_session_is_no_token_and_a_token_no_session(server: Served, wanda: httpx.Client) -> None:
    with server.client(None) as client:
        stolen = {"Authorization": f"Bearer {wanda.cookies[COOKIE]}"}
        assert client.get("/api/v2/me", headers=stolen).status_code == 401
        assert client.get("/api/v2/me", headers={"Cookie": f"{COOKIE}={server.token()}"}).status_code == 401
        assert client.get(SESSION, headers=server.headers("wanda")).status_code == 401


@pytest.mark.parametrize("cookie", ["", "x", "x.y.z", '"', "a=b; c", "\xff" * 50, "." * 5000])
def test_a_malformed_cookie_is_refused(nobody: httpx.Client, cookie: str) -> None:
    headers = {b"Cookie": f"{COOKIE}={cookie}".encode("latin-1")}
    assert nobody.get(SESSION, headers=headers).status_code == 401


def test_a_forged_session_is_refused(server: Served, wanda: httpx.Client) -> None:
    claims = jwt.decode(wanda.cookies[COOKIE], options={"verify_signature": False})
    tries: list[dict[str, Any]] = [
        {"exp": 1},
        {"stamp": "x"},
        {"aud": "caesura:access"},
        {"sub": "nobody-of-this-name"},
        {"jti": None},
    ]
    with server.client(None) as client:
        for change in tries:
            made = {name: value for name, value in (claims | change).items() if value is not None}
            cookie = {"Cookie": f"{COOKIE}={jwt.encode(made, SECRET, 'HS256')}"}
            assert client.get(SESSION, headers=cookie).status_code == 401, change


def test_signing_out_ends_this_session_alone(server: Served, wanda: httpx.Client) -> None:
    token = server.headers("wanda")
    kept = wanda.cookies[COOKIE]
    with browser(server) as other, server.client(None) as client:
        ended = wanda.delete(SESSION)
        assert ended.status_code == 204
        assert flags(ended)["max-age"] == "0"
        stolen = {"Cookie": f"{COOKIE}={kept}", "X-CSRF-Token": wanda.headers["X-CSRF-Token"]}
        assert client.get(SESSION, headers=stolen).status_code == 401
        assert client.delete(SESSION, headers=stolen).status_code == 401
        assert other.get(SESSION).status_code == 200
        assert client.get("/api/v2/me", headers=token).status_code == 200


def test_signing_out_everywhere_ends_every_token_and_session(server: Served) -> None:
    with browser(server, "zora") as here, browser(server, "zora") as there, server.client(None) as client:
        token, yaras = server.headers("zora"), server.headers("yara")
        assert here.delete(SESSIONS).status_code == 204
        # A page that is told so forgets the person; one whose session has expired only asks again.
        for answer in (there.get(SESSION), there.get("/api/v2/me"), client.get("/api/v2/me", headers=token)):
            assert answer.status_code == 401
            assert answer.headers["x-error-code"] == "revoked"
        assert there.get("/api/v2/me").json()["error"]["code"] == "revoked"
        assert client.get("/api/v2/me").json()["error"]["code"] == "unauthenticated"
        assert client.get("/api/v2/me", headers=yaras).status_code == 200
        assert client.get("/api/v2/me", headers=server.headers("zora")).status_code == 200
    with browser(server, "zora") as again:
        assert again.get(SESSION).status_code == 200


def test_a_token_signs_out_everywhere_too(server: Served) -> None:
    with browser(server, "zelda") as client, server.client("zelda") as other:
        assert other.delete(SESSIONS).status_code == 204
        assert client.get(SESSION).status_code == 401
        assert other.delete(SESSIONS).status_code == 401


@pytest.mark.parametrize("where", [SESSION, SESSIONS])
def test_open_streams_are_cut_by_signing_out(tmp_path: Path, where: str) -> None:
    with (
        Served(tmp_path, sse_ping_interval=0.2) as server,
        browser(server) as client,
        browser(server) as other,
    ):
        turn = send(client, conversation(client), "write hello.py: print(1)")
        reading = follow(client, turn["id"])
        next(reading)
        watching = follow(other, turn["id"])
        next(watching)
        assert client.delete(where).status_code == 204
        with pytest.raises(httpx.RemoteProtocolError):
            list(reading)
        until(lambda: len(server.context.streams) == (where == SESSION))


def test_a_ticket_ends_with_its_session(server: Served, wanda: httpx.Client) -> None:
    turn = send(wanda, conversation(wanda), "echo x")
    events(wanda, turn["id"])
    path = f"/api/v2/turns/{turn['id']}/events"
    first, second = (
        wanda.post("/api/v2/stream-ticket", json={"stream": path}).json()["ticket"] for _ in range(2)
    )
    with server.client(None) as client:
        assert client.get(path, params={"ticket": first}).status_code == 200
        wanda.delete(SESSION)
        assert client.get(path, params={"ticket": second}).status_code == 401


def test_guessing_by_session_is_as_slow_as_by_token(tmp_path: Path) -> None:
    with Served(tmp_path, rate_logins="2/minute") as server, server.client(None) as client:
        server.token("wanda")
        wrong = {"username": "wanda", "password": "wrong horse"}
        codes = [client.post(path, json=wrong).status_code for path in (SESSION, "/api/auth/login", SESSION)]
        assert codes == [401, 401, 429]


def test_sessions_hold_on_every_node(tmp_path: Path, postgres_url: str) -> None:
    with (
        Served(tmp_path / "a", database_url=postgres_url) as first,
        Served(tmp_path / "b", database_url=postgres_url) as second,
        browser(first) as here,
        browser(first) as other,
        second.client(None) as there,
    ):
        mine, others = (
            {"Cookie": f"{COOKIE}={client.cookies[COOKIE]}", "X-CSRF-Token": client.headers["X-CSRF-Token"]}
            for client in (here, other)
        )
        assert there.get(SESSION, headers=mine).json()["csrf"] == here.headers["X-CSRF-Token"]
        assert here.delete(SESSION).status_code == 204
        assert there.get(SESSION, headers=mine).status_code == 401
        assert there.delete(SESSIONS, headers=others).status_code == 204
        assert other.get(SESSION).status_code == 401


def test_without_log_in_the_session_is_the_only_persons(tmp_path: Path) -> None:
    with Served(tmp_path, auth="none") as server, server.client(None) as client:
        assert client.get("/api/auth/options").json()["auth"] == "none"
        told = client.get(SESSION).json()
        assert (told["user_id"], told["expires_at"]) == ("local", None)
        assert client.delete(SESSION).status_code == 204
        assert client.delete(SESSIONS).status_code == 204
        assert client.get(SESSION).status_code == 200
        foreign = {"Origin": "https://elsewhere.example"}
        assert client.get(SESSION, headers=foreign).status_code == 403


def test_a_person_with_very_many_ended_sessions_is_signed_out_everywhere(server: Served) -> None:
    with browser(server, "vera") as client, browser(server, "vera") as other:

        def fill(connection: Any) -> None:
            for number in range(sessions.MOST):
                sessions.end(connection, "vera", f"made-{number}", 1 << 50)

        server.call(server.database.write(fill))
        assert client.delete(SESSION).status_code == 204
        assert other.get(SESSION).status_code == 401
        assert server.call(server.database.read(sessions.ended, ["made-1", "made-2"])) == set()
        found = server.call(server.database.read(users.get, "vera"))
        assert found is not None
        assert found.log_outs == 1


def test_ended_sessions_are_forgotten_once_they_have_expired(server: Served) -> None:
    server.token("uma")
    for name, ends in (("past", 1), ("future", 1 << 50)):
        server.call(server.database.write(sessions.end, "uma", name, ends))
    server.call(server.database.write(sessions.forget_old))
    assert server.call(server.database.read(sessions.ended, ["past", "future"])) == {"future"}
