"""The edges of the server: bodies, rates, origins, headers, health, metrics, unexpected errors."""

import asyncio
import logging
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from caesura.core.errors import Unauthenticated, Unavailable
from caesura.http import protocol
from caesura.service.conversations import Conversations
from caesura.service.people import People
from tests.api import raw
from tests.api.reading import conversation, events, finished, outcome, send, until
from tests.api.server import PASSWORD, Served

ORIGIN = "https://chat.example.org"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("server"), cors_origins=ORIGIN) as server:
        yield server


# --- bodies


def test_a_body_over_a_mebibyte_is_refused_before_it_is_read(alice: httpx.Client) -> None:
    response = alice.post("/api/v2/conversations", content=b"x" * (1024 * 1024 + 1))
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "too_large"


def test_a_body_without_a_length_is_limited_too(alice: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 65536

    response = alice.post("/api/v2/conversations", content=pieces())
    assert response.status_code == 413


@pytest.mark.parametrize("head", ["Content-Length: 8388608", "Transfer-Encoding: chunked"])
def test_a_client_that_reads_only_when_all_is_sent_sees_why_it_is_refused(server: Served, head: str) -> None:
    token = server.headers("alice")["Authorization"]
    request = f"POST /api/v2/conversations HTTP/1.1\r\nHost: a\r\nAuthorization: {token}\r\n{head}\r\n\r\n"
    body = bytes(8 * 1024 * 1024)
    with raw.connect(server.port) as connection:
        connection.sendall(request.encode())
        connection.sendall(body if "Length" in head else b"800000\r\n%b\r\n0\r\n\r\n" % body)
        seen = b""
        while piece := connection.recv(65536):
            seen += piece
    (answer,) = raw.answers(seen)
    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_a_client_that_never_ends_its_refused_body_is_cut(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "DISCARDED", 4 * 1024 * 1024)
    request = b"POST /api/v2/conversations HTTP/1.1\r\nHost: a\r\nContent-Length: 1099511627776\r\n\r\n"
    with raw.connect(server.port) as connection:
        connection.sendall(request)
        with pytest.raises(ConnectionError):
            connection.sendall(bytes(256 * 1024 * 1024))


def test_a_body_of_just_a_mebibyte_is_read(alice: httpx.Client) -> None:
    url = f"/api/v2/conversations/{conversation(alice)}/turns"
    body = b'{"content": "' + b"x" * (1024 * 1024 - 15) + b'"}'
    response = alice.post(url, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert "262144" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff", b"[" * 100_000, b'"\\ud800"', b'{"title": "\\ud800"}', b"1" * 10_000, b'{"title": NaN}'],
)
def test_invalid_json_does_not_cause_a_500(alice: httpx.Client, body: bytes) -> None:
    response = alice.post("/api/v2/conversations", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in (201, 400, 422), response.text


# --- origins and headers


def test_only_a_listed_page_may_register_somebody(server: Served) -> None:
    with httpx.Client(base_url=server.url) as nobody:
        body = {"username": "page-made", "password": PASSWORD}
        foreign = {"Sec-Fetch-Site": "cross-site"}
        for headers in (
            {"Origin": "https://elsewhere.example"},
            {"Origin": f"{ORIGIN}.evil.example"},
            foreign,
        ):
            assert nobody.post("/api/auth/register", json=body, headers=headers).status_code == 403
        listed = {"Origin": ORIGIN, **foreign}
        assert nobody.post("/api/auth/register", json=body, headers=listed).status_code == 201


def test_a_listed_origin_is_allowed_exactly(alice: httpx.Client) -> None:
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "Authorization"}
    allowed = alice.options("/api/v2/conversations", headers={"Origin": ORIGIN, **preflight})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    for origin in (f"{ORIGIN}.evil.example", "https://example.org", "http://chat.example.org", "null"):
        refused = alice.options("/api/v2/conversations", headers={"Origin": origin, **preflight})
        assert "access-control-allow-origin" not in refused.headers
        answered = alice.get("/api/v2/me", headers={"Origin": origin})
        assert "access-control-allow-origin" not in answered.headers
    assert (
        alice.get("/api/v2/me", headers={"Origin": ORIGIN}).headers["access-control-allow-origin"] == ORIGIN
    )


def test_every_response_carries_the_security_headers(alice: httpx.Client, nobody: httpx.Client) -> None:
    turn = finished(alice, "echo x")
    answers = [
        alice.get("/api/v2/me"),
        alice.get(f"/api/v2/turns/{turn['id']}/events"),
        nobody.get("/api/v2/me"),
        nobody.get("/nowhere"),
        nobody.get("/docs"),
        nobody.post("/api/v2/conversations", content=b"x" * 2_000_000),
    ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-request-id"]
        assert "server" not in answer.headers


def test_a_valid_request_id_is_returned(alice: httpx.Client) -> None:
    assert alice.get("/health", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    strange = alice.get("/health", headers={"X-Request-ID": "x" * 65}).headers["x-request-id"]
    assert re.fullmatch(r"[0-9a-z]{24}", strange)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v2/nowhere", {"error": {"code": "not_found", "message": "Not Found"}}),
        ("/api/nowhere", {"detail": "Not Found"}),
        ("/nowhere", {"detail": "Not Found"}),
    ],
)
def test_an_unknown_path_is_an_error_in_the_form_of_its_api(
    alice: httpx.Client, path: str, body: dict[str, object]
) -> None:
    response = alice.get(path)
    assert response.status_code == 404
    assert response.json() == body


def test_an_unsupported_method_is_reported(alice: httpx.Client) -> None:
    response = alice.put("/api/v2/me")
    assert response.status_code == 405
    assert response.headers["allow"] == "GET"
    assert response.json()["error"]["code"] == "method_not_allowed"


# --- what nobody expected


def test_an_unexpected_error_gives_an_id_that_is_in_the_log_and_nothing_else(
    alice: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(Conversations, "page", broken)
    with caplog.at_level(logging.ERROR):
        response = alice.get("/api/v2/conversations")
    assert response.status_code == 500
    error = response.json()["error"]
    assert error["code"] == "internal"
    assert "secret" not in response.text
    assert any(error["error_id"] in record.getMessage() for record in caplog.records)
    assert "the secret of the house" in caplog.text


def test_unavailable_storage_gives_a_503_with_retry_after(
    alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise Unavailable

    monkeypatch.setattr(Conversations, "page", away)
    response = alice.get("/api/v2/conversations")
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert response.json()["error"]["code"] == "unavailable"


def test_no_log_line_carries_a_query_or_a_token(
    alice: httpx.Client, server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "caesura"):
        alice.get("/api/v2/me", params={"ticket": "very-private"})
        alice.post("/api/auth/login", json={"username": "alice", "password": PASSWORD})
    ours = [record for record in caplog.records if record.name.startswith("caesura")]
    assert any(getattr(record, "path", "") == "/api/v2/me" for record in ours)
    for record in ours:
        text = f"{record.getMessage()} {vars(record)}"
        assert "very-private" not in text
        assert PASSWORD not in text
        assert server.token() not in text


# --- health and metrics


def test_health_and_readiness_need_no_token(nobody: httpx.Client) -> None:
    assert nobody.get("/health").json() == {"status": "ok"}
    assert [nobody.head(path).status_code for path in ("/health", "/ready")] == [200, 200]
    assert nobody.get("/ready").json() == {"status": "ok"}


def test_a_server_whose_database_is_gone_is_not_ready(tmp_path: Path) -> None:
    with Served(tmp_path) as server, server.client(None) as client:
        server.call(server.database.close())
        assert client.get("/health").status_code == 200
        assert client.get("/ready").status_code == 503
        assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize("loop", ["looking for work", "renewing leases"])
def test_a_server_that_starts_no_work_is_not_ready(tmp_path: Path, database_url: str, loop: str) -> None:
    with Served(tmp_path, database_url=database_url) as server, server.client(None) as client:
        supervisor = server.context.service.engine.supervisor
        assert client.get("/ready").status_code == 200
        if loop == "looking for work":
            server.call(_cancel(supervisor._adopting))
        else:
            supervisor._heart._ended.set()
        until(lambda: client.get("/ready").status_code == 503)
        assert "takes up no work" in client.get("/ready").text
        assert client.get("/health").status_code == 200


async def _cancel(task: asyncio.Task[None] | None) -> None:
    assert task is not None
    task.cancel()


def test_metrics_count_what_happened(tmp_path: Path) -> None:
    with Served(tmp_path) as server, server.client() as client:
        finished(client, "count to 10")
        finished(client, "fail")
        finished(client, "write hello.py: print(1)")
        until(lambda: len(server.context.streams) == 0)
        text = client.get("/metrics").text
    values = dict(re.findall(r"^(caesura_\S+) (\S+)$", text, re.MULTILINE))
    assert values['caesura_turns_total{outcome="finished"}'] == "1.0"
    assert values['caesura_turns_total{outcome="failed"}'] == "1.0"
    assert values['caesura_turns_total{outcome="interrupted"}'] == "1.0"
    assert values["caesura_interrupts_waiting"] == "1.0"
    assert values["caesura_turns_queued"] == "0.0"
    assert values["caesura_streams_open"] == "0.0"
    assert float(values['caesura_tokens_total{kind="output"}']) >= 10
    assert float(values["caesura_commit_seconds_count"]) > 0
    assert values["caesura_first_token_seconds_count"] == "2.0"
    assert "caesura_runs_running" in values


def test_the_error_for_a_body_without_a_content_type_says_what_to_send(alice: httpx.Client) -> None:
    for path in ("/api/v2/conversations", f"/api/chat/{conversation(alice)}"):
        told = alice.post(path, content=b'{"message": "hi"}', headers={"Content-Type": "text/plain"})
        assert "the body must be a JSON object, sent with Content-Type: application/json" in told.text


# --- slowness


HALVES = [
    b"",
    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    b"POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n\r\n{",
    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /health HT",
]


def test_a_request_that_never_completes_is_cut(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with (
        Served(tmp_path, request_timeout=2) as server,
        server.client() as client,
        ExitStack() as open_,
    ):
        address = ("127.0.0.1", server.port)
        halves = [open_.enter_context(socket.create_connection(address, 30)) for _ in HALVES]
        for connection, sent in zip(halves, HALVES, strict=True):
            connection.sendall(sent)
        turn = send(client, conversation(client), "count to 80 delay=0.03")
        assert outcome(events(client, turn["id"])).name == "finished"  # a stream takes its time
        for connection in halves:
            with suppress(ConnectionResetError):
                while connection.recv(65536):
                    pass
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


# --- rates


def test_the_requests_of_each_person_are_limited(tmp_path: Path) -> None:
    with (
        Served(tmp_path, rate_requests="5/minute") as server,
        server.client("alice") as alice,
        server.client("bob") as bob,
    ):
        codes = [alice.get("/api/v2/me").status_code for _ in range(7)]
        assert codes == [200] * 5 + [429] * 2
        refused = alice.get("/api/v2/me")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert refused.json()["error"]["code"] == "too_many_requests"
        assert bob.get("/api/v2/me").status_code == 200


def test_runs_have_their_own_limit(tmp_path: Path) -> None:
    with Served(tmp_path, rate_runs="2/minute") as server, server.client() as client:
        finished(client, "echo 1")
        finished(client, "echo 2")
        made = conversation(client)
        url = f"/api/v2/conversations/{made}/turns"
        assert client.post(url, json={"content": "echo 3"}).status_code == 429
        assert client.get(f"/api/v2/conversations/{made}").json()["turns"] == []


def test_attempts_to_log_in_are_limited_by_name(tmp_path: Path) -> None:
    with Served(tmp_path, rate_logins="3/minute") as server, server.client(None) as client:
        for name in ("alice", "bob"):
            server.token(name)
        bad, good = ({"username": "alice", "password": word} for word in ("wrong horse", PASSWORD))
        codes = [client.post("/api/auth/login", json=bad).status_code for _ in range(3)]
        assert codes == [401] * 3
        refused = client.post("/api/auth/login", json=good)
        assert refused.status_code == 429
        assert refused.headers["retry-after"]
        assert refused.json() == {"detail": "Too many requests"}
        other = client.post("/api/auth/login", json={"username": "bob", "password": PASSWORD})
        assert other.status_code == 200


def test_attempts_to_log_in_are_limited_by_address_over_all_names(tmp_path: Path) -> None:
    with Served(tmp_path, rate_logins="1/minute") as server, server.client(None) as client:
        tries = [{"username": f"nobody-{number}", "password": "wrong horse"} for number in range(11)]
        codes = [client.post("/api/auth/login", json=body).status_code for body in tries]
        assert codes == [401] * 10 + [429]


@pytest.mark.parametrize(("proxies", "last"), [("", 429), ("127.0.0.0/8", 401)])
def test_only_a_trusted_proxy_may_forward_an_address(tmp_path: Path, proxies: str, last: int) -> None:
    with (
        Served(tmp_path, rate_logins="2/minute", trusted_proxies=proxies) as server,
        server.client(None) as client,
    ):
        body = {"username": "alice", "password": "wrong horse"}
        codes = [
            client.post("/api/auth/login", json=body, headers={"X-Forwarded-For": f"10.0.0.{n}"}).status_code
            for n in range(3)
        ]
        assert codes == [401, 401, last]


def test_a_login_that_would_wait_too_long_is_refused(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        people = People(server.database)

        async def crowd() -> list[str]:
            tries = [people.authenticate("nobody", "wrong horse") for _ in range(60)]
            return [type(error).__name__ for error in await asyncio.gather(*tries, return_exceptions=True)]

        refused = server.call(crowd())
        assert set(refused) == {"Unauthenticated", "TooManyRequests"}
        with pytest.raises(Unauthenticated):
            server.call(people.authenticate("nobody", "wrong horse"))


def test_registrations_are_limited_by_address(tmp_path: Path) -> None:
    with Served(tmp_path, rate_registrations="2/minute") as server, server.client(None) as client:
        names = [{"username": f"new-{n}", "password": PASSWORD} for n in range(3)]
        codes = [client.post("/api/auth/register", json=name).status_code for name in names]
        assert codes == [201, 201, 429]
