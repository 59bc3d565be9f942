"""Who may register, the limits of bodies, and what a new password invalidates, on a running server."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from caesura.service.people import People
from caesura.store import users
from caesura.store.database import Database
from caesura.store.open import open_database
from tests.api.reading import conversation, send
from tests.api.server import PASSWORD, Served

REGISTER, LOGIN = "/api/auth/register", "/api/auth/login"


def credentials(username: str, **more: str) -> dict[str, str]:
    return {"username": username, "password": PASSWORD, **more}


# --- who may register


def test_a_closed_server_registers_nobody(tmp_path: Path) -> None:
    with Served(tmp_path, registration="closed") as server, server.client(None) as client:
        refused = client.post(REGISTER, json=credentials("alice"))
        assert refused.status_code == 403
        assert refused.json()["detail"].startswith("registration is closed")
        assert server.call(server.context.service.people.listing()) == []


def test_in_the_one_person_mode_nobody_registers(tmp_path: Path) -> None:
    with Served(tmp_path, auth="none", registration="open") as server, server.client(None) as client:
        assert client.post(REGISTER, json=credentials("alice")).status_code == 403


def test_an_invite_lets_one_of_many_register(tmp_path: Path, database_url: str) -> None:
    served = Served(tmp_path, registration="invite", database_url=database_url)
    with served as server, server.client(None) as client:
        assert "invite is needed" in client.post(REGISTER, json=credentials("alice")).json()["detail"]
        wrong = client.post(REGISTER, json=credentials("alice", invite="wrong"))
        assert (wrong.status_code, "not valid" in wrong.json()["detail"]) == (403, True)
        server.token("taken")
        code = server.call(server.context.service.people.invite(7))
        taken = client.post(REGISTER, json=credentials("taken", invite=code))
        assert (taken.status_code, taken.json()["detail"]) == (400, "Username already registered")
        with ThreadPoolExecutor(5) as pool:
            bodies = [credentials(f"new-{n}", invite=code) for n in range(5)]
            codes = [
                made.status_code for made in pool.map(lambda body: client.post(REGISTER, json=body), bodies)
            ]
        assert sorted(codes) == [201, 403, 403, 403, 403]


def test_nobody_registers_as_the_person_of_the_one_person_mode(nobody: httpx.Client) -> None:
    refused = nobody.post(REGISTER, json=credentials("local"))
    assert refused.status_code == 400
    assert "must not be 'local'" in refused.json()["detail"]


# --- how much may be sent


@pytest.mark.parametrize("route", [REGISTER, LOGIN])
def test_a_body_over_16_kib_is_refused_before_it_is_parsed(nobody: httpx.Client, route: str) -> None:
    fits, over = (b"{" + b" " * (size - 1) for size in (16 * 1024, 16 * 1024 + 1))
    kind = {"Content-Type": "application/json"}

    def pieces(body: bytes) -> Iterator[bytes]:
        yield from (body[start : start + 1000] for start in range(0, len(body), 1000))

    assert nobody.post(route, content=fits, headers=kind).status_code == 400
    for content in (over, pieces(over)):
        refused = nobody.post(route, content=content, headers=kind)
        assert refused.status_code == 413
        assert refused.headers["connection"] == "close"


@pytest.mark.parametrize("route", [REGISTER, LOGIN])
def test_multipart_forms_are_not_parsed(nobody: httpx.Client, server: Served, route: str) -> None:
    server.token("fay")
    parts = {f"field-{n}": (None, "") for n in range(100)}
    refused = nobody.post(
        route, files=parts | {name: (None, value) for name, value in credentials("fay").items()}
    )
    assert refused.status_code == 400
    assert "application/json" in refused.json()["detail"]


@pytest.mark.parametrize(
    "form",
    [
        "&".join(f"field-{n}=x" for n in range(500)),
        "username=%ff&password=x",
        "username=" + "x" * 2000 + "&password=x",
        "username=fay",
    ],
)
def test_forms_are_bounded(nobody: httpx.Client, form: str) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert nobody.post(LOGIN, content=form, headers=kind).status_code == 400


def test_a_body_that_any_web_page_may_send_here_registers_nobody(nobody: httpx.Client) -> None:
    """For any web page a browser sends text and forms to other servers. For JSON it sends a preflight request
    first."""
    body = '{"username": "mallory", "password": "correct horse"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert nobody.post(REGISTER, content=body, headers={"Content-Type": kind}).status_code == 400


# --- who tries too often


def test_an_ipv6_network_is_one_address(tmp_path: Path) -> None:
    served = Served(tmp_path, rate_logins="2/hour", trusted_proxies="127.0.0.0/8")
    with served as server, server.client(None) as client:

        def attempt(address: str) -> int:
            headers = {"X-Forwarded-For": address}
            return client.post(LOGIN, json=credentials("nobody"), headers=headers).status_code

        assert [attempt(f"2001:db8:1:2::{n}") for n in range(1, 4)] == [401, 401, 429]
        assert attempt("2001:db8:1:3::1") == 401
        assert 'caesura_requests_refused_total{kind="logins"} 1.0' in client.get("/metrics").text


def test_the_body_of_an_address_over_its_limit_is_not_read(tmp_path: Path) -> None:
    with Served(tmp_path, rate_logins="1/hour") as server, server.client(None) as client:
        codes = [client.post(LOGIN, content=b"{").status_code for _ in range(12)]
        assert codes == [400] * 10 + [429] * 2


# --- what a new password ends


@pytest.mark.parametrize("change", ["password", "removal"])
def test_another_process_ends_tokens_and_tickets_at_once(
    tmp_path: Path, database_url: str, change: str
) -> None:
    async def elsewhere() -> None:
        other = await open_database(database_url, beside=True)
        if change == "password":
            await People(other).set_password("alice", "another password")
        else:
            await other.write(users.remove, "alice")
        await other.close()

    with Served(tmp_path, database_url=database_url) as server, server.client("alice") as client:
        stream = "/api/v2/turns/turn-none/events"
        tickets = [
            client.post("/api/v2/stream-ticket", json={"stream": stream}).json()["ticket"] for _ in "12"
        ]
        with server.client(None) as nobody:
            assert nobody.get(stream, params={"ticket": tickets[0]}).status_code == 404
            assert client.get("/api/v2/me").status_code == 200
            asyncio.run(elsewhere())
            assert client.get("/api/v2/me").status_code == 401
            assert nobody.get(stream, params={"ticket": tickets[1]}).status_code == 401
            assert client.post("/api/v2/stream-ticket", json={"stream": stream}).status_code == 401


@pytest.mark.parametrize("by", ["token", "ticket"])
def test_an_open_stream_is_cut_when_the_password_changes(tmp_path: Path, by: str) -> None:
    with Served(tmp_path, sse_ping_interval=0.1) as server, server.client("alice") as client:
        turn = send(client, conversation(client), "write hello.py: print(1)")
        path = f"/api/v2/turns/{turn['id']}/events"
        ticket = client.post("/api/v2/stream-ticket", json={"stream": path}).json()["ticket"]
        with (
            server.client("alice" if by == "token" else None) as reader,
            server.client("bob") as bob,
            reader.stream("GET", path, params={"ticket": ticket} if by == "ticket" else {}) as stream,
        ):
            lines = stream.iter_lines()
            while next(lines) != ": ping":
                pass
            server.call(_set(server.database, "bob"))
            while next(lines) != ": ping":
                pass
            server.call(_set(server.database, "alice"))
            with pytest.raises(httpx.RemoteProtocolError):
                list(lines)
            assert bob.get("/api/v2/me").status_code == 401


async def _set(database: Database, name: str) -> None:
    await database.write(users.set_password, name, "another hash")


def test_a_refusal_has_its_code_in_a_header(tmp_path: Path) -> None:
    """The body below /api/auth has no place for it."""
    with Served(tmp_path) as server, httpx.Client(base_url=server.url) as client:
        assert client.post(REGISTER, json=credentials("alice")).status_code == 201
        for given, code in (
            (credentials("alice"), "username_taken"),
            (credentials("Not A Name"), "bad_username"),
            (credentials("bob") | {"password": "short"}, "bad_password"),
        ):
            refused = client.post(REGISTER, json=given)
            assert (refused.status_code, refused.headers["x-error-code"]) == (400, code)
            assert set(refused.json()) == {"detail"}
