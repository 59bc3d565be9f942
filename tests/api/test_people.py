"""Registering, logging in, tickets, and the one-person mode."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import jwt
import pytest

from caesura.store import users
from caesura.store.users import stamp
from tests.api.reading import conversation, events, finished, outcome, send
from tests.api.server import _HASH, PASSWORD, SECRET, Served

LOGIN = "/api/auth/login"


def credentials(username: str, password: str = PASSWORD) -> dict[str, str]:
    return {"username": username, "password": password}


def test_a_person_registers_and_logs_in(nobody: httpx.Client) -> None:
    made = nobody.post("/api/auth/register", json=credentials("dora"))
    assert made.status_code == 201
    assert made.json()["user_id"] == "dora"
    assert made.json()["message"]
    token = nobody.post(LOGIN, json=credentials("dora")).json()
    assert token["token_type"] == "bearer"
    assert token["expires_in"] == 24 * 3600
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    assert nobody.get("/api/v2/me", headers=headers).json() == {"user_id": "dora"}


def test_a_name_can_be_registered_once(nobody: httpx.Client, server: Served) -> None:
    server.token("emil")
    taken = nobody.post("/api/auth/register", json=credentials("emil"))
    assert taken.status_code == 400
    assert taken.json() == {"detail": "Username already registered"}


@pytest.mark.parametrize("name", ["", "Alice", "-a", "a b", "a/b", "x" * 51, "é", "a\0"])
def test_an_invalid_name_is_refused(nobody: httpx.Client, name: str) -> None:
    response = nobody.post("/api/auth/register", json=credentials(name))
    assert response.status_code == 400
    assert "username" in response.json()["detail"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"username": 1, "password": "x"}', b'{"username": "a"}']
)
@pytest.mark.parametrize("route", ["register", "login"])
def test_a_malformed_body_is_a_400_that_names_the_fault(
    nobody: httpx.Client, route: str, body: bytes
) -> None:
    response = nobody.post(f"/api/auth/{route}", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert isinstance(response.json()["detail"], str)


def test_the_form_of_the_authorize_button_is_accepted(nobody: httpx.Client, server: Served) -> None:
    server.token("fay")
    form = {**credentials("fay"), "grant_type": "password", "scope": ""}
    assert nobody.post(LOGIN, data=form).json()["token_type"] == "bearer"


def test_a_wrong_password_and_a_wrong_name_look_the_same(nobody: httpx.Client, server: Served) -> None:
    server.token("gil")
    for body in (credentials("gil", "wrong horse"), credentials("nobody-here"), credentials("Not A Name")):
        response = nobody.post(LOGIN, json=body)
        assert response.status_code == 401
        assert response.json() == {"detail": "Incorrect username or password"}
        assert response.headers["www-authenticate"] == "Bearer"


def test_a_new_password_invalidates_the_old_tokens(server: Served, nobody: httpx.Client) -> None:
    old = server.headers("hana")
    assert nobody.get("/api/v2/me", headers=old).status_code == 200
    server.call(server.context.service.people.set_password("hana", "another password"))
    assert nobody.get("/api/v2/me", headers=old).status_code == 401
    assert nobody.post(LOGIN, json=credentials("hana", "another password")).status_code == 200


def test_a_deleted_persons_token_is_invalid_even_for_a_new_person_of_that_name(
    server: Served, nobody: httpx.Client
) -> None:
    old = server.headers("ivan")
    server.call(server.database.write(users.remove, "ivan"))
    assert nobody.get("/api/v2/me", headers=old).status_code == 401
    nobody.post("/api/auth/register", json=credentials("ivan"))
    assert nobody.get("/api/v2/me", headers=old).status_code == 401


# --- tickets


def ticket(client: httpx.Client, path: str) -> str:
    response = client.post("/api/v2/stream-ticket", json={"stream": path})
    assert response.status_code == 201
    assert response.json()["expires_in"] == 60
    found: str = response.json()["ticket"]
    return found


@pytest.fixture
def path(alice: httpx.Client) -> str:
    return f"/api/v2/turns/{finished(alice, 'echo x')['id']}/events"


def test_a_ticket_opens_its_stream_once(alice: httpx.Client, nobody: httpx.Client, path: str) -> None:
    given = ticket(alice, path)
    first = nobody.get(path, params={"ticket": given})
    assert first.status_code == 200
    assert first.headers["content-type"].startswith("text/event-stream")
    again = nobody.get(path, params={"ticket": given})
    assert again.status_code == 401
    assert again.headers["www-authenticate"] == "Bearer"


def test_a_ticket_opens_no_other_stream(alice: httpx.Client, nobody: httpx.Client, path: str) -> None:
    given = ticket(alice, f"/api/v2/turns/{finished(alice, 'echo y')['id']}/events")
    assert nobody.get(path, params={"ticket": given}).status_code == 401


def test_a_ticket_does_not_open_somebody_elses_stream(
    bob: httpx.Client, nobody: httpx.Client, path: str
) -> None:
    assert nobody.get(path, params={"ticket": ticket(bob, path)}).status_code == 404


def test_a_ticket_is_not_accepted_as_a_token_nor_a_token_as_a_ticket(
    alice: httpx.Client, nobody: httpx.Client, server: Served, path: str
) -> None:
    given = ticket(alice, path)
    assert nobody.get("/api/v2/me", headers={"Authorization": f"Bearer {given}"}).status_code == 401
    assert nobody.get("/api/v2/me", params={"ticket": given}).status_code == 401
    for name in ("ticket", "token", "access_token", "jwt", "authorization"):
        assert nobody.get(path, params={name: server.token()}).status_code == 401


def test_an_old_ticket_is_refused(nobody: httpx.Client, path: str) -> None:
    now = int(time.time())
    claims = {"iss": "caesura", "aud": "caesura:stream", "sub": "alice", "stream": path, "jti": "x"}
    claims["stamp"] = stamp(_HASH)
    old = jwt.encode({**claims, "iat": now - 61, "exp": now - 1}, SECRET, "HS256")
    assert nobody.get(path, params={"ticket": old}).status_code == 401


@pytest.mark.parametrize(
    "stream", ["", "x", "http://example.org/api/x", "/api/x#y", "/api/x y", "/docs", None, 5]
)
def test_a_ticket_is_only_for_a_path_of_this_server(alice: httpx.Client, stream: object) -> None:
    assert alice.post("/api/v2/stream-ticket", json={"stream": stream}).status_code == 422


# --- one person


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("alone"), auth="none") as server:
        yield server


def test_in_the_one_person_mode_no_token_is_needed(alone: Served) -> None:
    with alone.client(None) as client:
        assert client.get("/api/v2/me").json() == {"user_id": "local"}
        turn = send(client, conversation(client), "echo hello")
        assert outcome(events(client, turn["id"])).name == "finished"
        stream = f"/api/v2/turns/{turn['id']}/events"
        assert client.get(stream, params={"ticket": ticket(client, stream)}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:8000"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "["},
        {"Host": "[::1"},
        {"Origin": "http://["},
    ],
)
def test_in_the_one_person_mode_no_other_page_is_let_in(alone: Served, headers: dict[str, str]) -> None:
    with alone.client(None) as client:
        assert client.post("/api/v2/conversations", json={}, headers=headers).status_code == 403
        assert client.post("/api/v2/conversations", json={}, headers={"Origin": alone.url}).status_code == 201


def test_in_the_one_person_mode_a_login_is_refused(alone: Served) -> None:
    with alone.client(None) as client:
        assert client.post(LOGIN, json=credentials("local")).status_code == 401


def test_the_secret_is_kept_for_the_next_start(tmp_path: Path) -> None:
    with Served(tmp_path, secret=None) as server, server.client(None) as client:
        client.post("/api/auth/register", json=credentials("jo"))
        token = client.post(LOGIN, json=credentials("jo")).json()["access_token"]
    kept = tmp_path / "data" / "secret"
    assert kept.stat().st_mode & 0o777 == 0o600
    with Served(tmp_path, secret=None) as server, server.client(None) as client:
        response = client.get("/api/v2/me", headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == 200


def test_a_login_needs_no_thread_that_models_and_tools_may_block(server: Served) -> None:
    server.token("alice")
    held = threading.Event()

    async def hold() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(64):
            loop.run_in_executor(None, held.wait, 60)

    server.call(hold())
    try:
        with server.client(None) as nobody:
            found = nobody.post("/api/auth/login", json={"username": "alice", "password": PASSWORD})
        assert found.status_code == 200
    finally:
        held.set()
