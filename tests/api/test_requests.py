"""Requests of an attacker: too large, broken, or ambiguous."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import Server as Uvicorn
from uvicorn.server import ServerState

from caesura.http.protocol import LARGEST, MANY, PIECE, QUEUE, Protocol
from tests.api.raw import GET, answers, ask, connect, first, push, rest
from tests.api.server import Served

HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CLOSE = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def connections(server: Served) -> list[Protocol]:
    return list(server._server._connections._welcome)  # type: ignore[arg-type]


# --- size


def _lines(size: int) -> bytes:
    line = b"x: " + b"y" * 1019 + b"\r\n"
    return line * (size // len(line))


@pytest.mark.parametrize(
    "request_",
    [
        HEAD + b"x: " + b"y" * (8 << 20) + b"\r\n\r\n",
        HEAD + b"y" * (8 << 20) + b": x\r\n\r\n",
        HEAD + b"".join(b"x%d: y\r\n" % number for number in range(500_000)) + b"\r\n",
        HEAD + b"x: y\r\n" * (MANY + 1) + b"\r\n",
        HEAD + b"x: " + b"y" * LARGEST + b"\r\n\r\n",
        b"\r\n" * LARGEST + GET,
    ],
    ids=["one value", "one name", "many lines", "too many lines", "just above", "empty lines"],
)
def test_headers_above_the_bound_are_refused(server: Served, request_: bytes) -> None:
    (answer,) = ask(server.port, request_)
    assert answer.status == 431
    assert "headers" in answer.json["detail"]
    assert answer.headers["connection"] == "close"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("way", ["whole", "in pieces"])
def test_bytes_over_the_limit_are_not_kept(server: Served, way: str) -> None:
    """However the bytes are split, at most one piece more than the limit is parsed."""
    before = set(connections(server))
    with connect(server.port) as connection:
        connection.sendall(GET)
        first(connection)
        (protocol,) = set(connections(server)) - before
        value = b"y" * (4 << 20)
        push(connection, HEAD + b"x: ")
        if way == "whole":
            push(connection, value)
        else:
            for start in range(0, len(value), 1000):
                push(connection, value[start : start + 1000])
        assert answers(rest(connection))[0].status == 431
        assert protocol._fed <= LARGEST + PIECE


@pytest.mark.parametrize("size", [LARGEST, 8 << 20])
def test_a_url_above_the_bound_is_refused(server: Served, size: int) -> None:
    url = b"/health?" + b"y" * (size - 8)
    (answer,) = ask(server.port, b"GET " + url + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert answer.status == 414
    assert answer.json == {"detail": f"the URL is over {LARGEST - 1} bytes"}
    assert answer.headers["connection"] == "close"


def test_headers_and_a_url_below_the_bounds_are_read(server: Served) -> None:
    url = b"/health?" + b"y" * (LARGEST - 9)
    request = (
        b"GET " + url + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + _lines(60 * 1024) + b"\r\n"
    )
    (answer,) = ask(server.port, request)
    assert answer.status == 200


@pytest.mark.parametrize(
    "end",
    [
        b"0\r\nx: " + b"y" * (8 << 20) + b"\r\n\r\n",
        b"0\r\n" + b"x: y\r\n" * 1_000_000 + b"\r\n",
        b"1;" + b"y" * (8 << 20) + b"\r\n}\r\n0\r\n\r\n",
    ],
    ids=["one trailer", "many trailers", "a chunk extension"],
)
def test_trailers_and_chunk_extensions_are_bounded(server: Served, end: bytes) -> None:
    (answer,) = ask(server.port, POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", end)
    assert answer.status == 431
    assert answer.headers["connection"] == "close"


def test_trailers_do_not_become_headers(server: Served) -> None:
    head = b"GET /api/v2/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    request = head + b"0\r\nAuthorization: Bearer " + server.token().encode() + b"\r\n\r\n"
    (answer,) = ask(server.port, request)
    assert answer.status == 401


def test_pipelined_requests_are_answered_in_order(server: Served) -> None:
    requests = [
        b"GET /api/v2/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-ID: r%d\r\n\r\n" % number
        for number in range(QUEUE - 2)
    ]
    found = ask(server.port, b"".join(requests) + CLOSE)
    assert [answer.headers["x-request-id"] for answer in found[:-1]] == [f"r{n}" for n in range(QUEUE - 2)]
    assert found[-1].status == 200


def test_pipelined_requests_of_any_size_are_answered(server: Served) -> None:
    """One read returns far more than one piece: the rest waits until it is parsed."""
    body = b'{"username": "' + b"x" * 12_000 + b'"}'
    one = POST + b"Content-Length: %d\r\n\r\n" % len(body) + body
    found = ask(server.port, one * 30 + CLOSE)
    assert [answer.status for answer in found] == [400] * 30 + [200]


def test_too_many_pipelined_requests_are_refused_after_the_responses_before(server: Served) -> None:
    found = ask(server.port, GET * 5000)
    assert {answer.status for answer in found[:-1]} == {200}
    assert found[-1].status == 429
    assert found[-1].headers["connection"] == "close"


def test_a_refusal_waits_for_the_responses_before_it(server: Served) -> None:
    found = ask(server.port, GET + GET + b"GET /health HTTP/9.9\r\n\r\n" + GET)
    assert [answer.status for answer in found] == [200, 200, 400]
    found = ask(server.port, GET + HEAD + b"x: " + b"y" * LARGEST + b"\r\n\r\n")
    assert [answer.status for answer in found] == [200, 431]


def test_a_body_at_fault_is_refused_after_the_responses_before_it(server: Served) -> None:
    found = ask(server.port, GET + POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert [answer.status for answer in found] == [200, 400]


# --- broken requests


BROKEN = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "length twice": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "the same length twice": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two lengths in one": POST + b"Content-Length: 2, 3\r\n\r\n{}",
    "length and chunks": POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
    "chunked is not last": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "an endless length": POST + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "a space before the colon": POST + b"Content-Length : 2\r\n\r\n{}",
    "a folded header": HEAD + b"x: y\r\n z\r\n\r\n",
    "NUL in a header": HEAD + b"x: \0\r\n\r\n",
    "a bare line feed": b"GET /health HTTP/1.1\nHost: 127.0.0.1\n\n",
    "NUL in the path": b"GET /hea\0lth HTTP/1.1\r\nHost: x\r\n\r\n",
    "a control character in the path": b"GET /hea\x01lth HTTP/1.1\r\nHost: x\r\n\r\n",
    "a path that is not ASCII": b"GET /h\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a NUL in disguise": b"GET /api/sessions/%00 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "a new line in disguise": b"GET /api/v2/turns/%0d%0ax HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "an unknown method": b"BREW /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method in small letters": b"get /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT": b"CONNECT example.org:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT to a path": b"CONNECT /health HTTP/1.1\r\nHost: x\r\n\r\n",
    "OPTIONS *": b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an upgrade with a body": POST
    + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: %d\r\n\r\n" % len(GET),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_request_is_refused_and_nothing_after_it_is_read(server: Served, what: str) -> None:
    answer, *more = ask(server.port, BROKEN[what] + GET)
    assert 400 <= answer.status < 500, answer
    assert answer.headers["connection"] == "close"
    assert answer.json
    assert not more


@pytest.mark.parametrize("method", ["PUT", "TRACE", "OPTIONS", "PROPFIND", "HEAD", "PURGE"])
@pytest.mark.parametrize(
    "path", ["/api/v2/me", "/api/sessions", "/metrics", "/docs", "/nowhere", "/api/auth/login"]
)
def test_a_method_that_is_not_served_is_a_4xx(alice: httpx.Client, method: str, path: str) -> None:
    assert 400 <= alice.request(method, path).status_code < 500


@pytest.mark.parametrize("upgrade", [b"websocket", b"h2c"])
def test_a_request_to_upgrade_gets_an_ordinary_response_and_ends_the_connection(
    server: Served, upgrade: bytes
) -> None:
    asked = HEAD + b"Connection: Upgrade\r\nUpgrade: " + upgrade + b"\r\nSec-WebSocket-Version: 13\r\n\r\n"
    (answer,) = ask(server.port, asked + GET)
    assert answer.status == 200
    assert answer.headers["connection"] == "close"


def test_http_1_0_gets_one_response(server: Served) -> None:
    (answer,) = ask(server.port, b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + GET)
    assert answer.status == 200


def test_a_client_that_waits_for_permission_to_send_gets_it(server: Served) -> None:
    with connect(server.port) as connection:
        connection.sendall(POST + b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert answers(rest(connection))[0].status == 400


# --- where responses lead, and what keeps them


def test_no_redirect_uses_the_host_header_of_the_client(alice: httpx.Client) -> None:
    for path in ("/health/", "/api/v2/me/", "/docs/", "/api/sessions/", "//evil.example/", "/docs/files"):
        answer = alice.get(path, headers={"Host": "evil.example"})
        # To the server the path of `//evil.example/` is `/`, where the page is.
        assert answer.status_code == (200 if path.startswith("//") else 404), path
        assert "location" not in answer.headers


def test_only_the_files_of_the_docs_page_may_be_cached(alice: httpx.Client, nobody: httpx.Client) -> None:
    session = alice.post("/api/sessions").json()["thread_id"]
    plain = [
        alice.get("/api/v2/me"),
        nobody.get("/api/v2/me"),
        nobody.get("/nowhere"),
        nobody.get("/metrics"),
        nobody.get("/health"),
        nobody.put("/health"),
        alice.get(f"/api/chat/{session}/stream"),
        alice.delete(f"/api/sessions/{session}"),
        nobody.post("/api/auth/login", content=b"x" * 2_000_000),
    ]
    assert [answer.headers["cache-control"] for answer in plain] == ["no-store"] * len(plain)
    file = nobody.get("/docs/files/swagger-ui.css")
    assert "cache-control" not in file.headers
    assert file.headers["etag"]
    session = alice.post("/api/sessions").json()["thread_id"]
    stream = alice.post(f"/api/chat/{session}", json={"message": "echo x"})
    assert stream.headers["cache-control"] == "no-store, no-transform"


# --- the log


@pytest.mark.parametrize(("how", "address"), [("full", "127.0.0.1"), ("cut", "127.0.0.0/24"), ("none", None)])
def test_the_log_names_the_person_and_the_address(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, address: str | None
) -> None:
    with (
        Served(tmp_path, log_addresses=how) as server,
        server.client("alice") as alice,
        caplog.at_level(logging.INFO, "caesura"),
    ):
        thread = alice.post("/api/sessions").json()["thread_id"]
        alice.post(f"/api/chat/{thread}", json={"message": "echo x"})
        alice.get("/health")
        ask(server.port, b"BREW / HTTP/1.1\r\n\r\n")
    lines = [record for record in caplog.records if hasattr(record, "address")]
    assert [(line.status, getattr(line, "user", None)) for line in lines] == [  # type: ignore[attr-defined]
        (201, "alice"),
        (200, "alice"),
        (200, None),
        (400, None),
    ]
    assert {line.address for line in lines} == {address}


# --- one-person mode


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("local"), auth="none") as server:
        yield server


ROUTES = [
    ("GET", "/metrics"),
    ("POST", "/api/auth/register"),
    ("POST", "/api/auth/login"),
    ("GET", "/docs"),
    ("GET", "/docs/files/swagger-ui.css"),
    ("GET", "/openapi.json"),
    ("GET", "/ready"),
    ("GET", "/api/v2/me"),
    ("GET", "/api/sessions"),
    ("GET", "/nowhere"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_tokens_foreign_host_names_and_origins_are_refused(
    local: Served, method: str, path: str
) -> None:
    with local.client(None) as client:
        rebound = client.request(method, path, headers={"Host": f"evil.example:{local.port}"})
        foreign = client.request(method, path, headers={"Origin": "https://evil.example"})
        assert (rebound.status_code, foreign.status_code) == (403, 403)
        assert client.request(method, path).status_code != 403


def test_health_is_answered_under_any_host_name(local: Served) -> None:
    with local.client(None) as client:
        assert client.get("/health", headers={"Host": "evil.example"}).status_code == 200


def test_with_tokens_the_host_name_does_not_matter(nobody: httpx.Client) -> None:
    for path in ("/metrics", "/docs", "/ready", "/openapi.json"):
        assert nobody.get(path, headers={"Host": "chat.example.org"}).status_code == 200


# --- what is uvicorn's own


def test_uvicorn_still_has_the_private_names_that_are_used() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    protocol = HttpToolsProtocol(Config("os:path", log_config=None), ServerState(), {}, loop)
    for name in ("parser", "pipeline", "cycle", "flow", "headers", "scope", "client", "server_state"):
        assert name in vars(protocol), name
    for name in (
        "on_message_begin",
        "on_url",
        "on_headers_complete",
        "on_body",
        "on_message_complete",
        "on_response_complete",
        "resume_writing",
        "_start_asgi_task",
        "_unset_keepalive_if_required",
    ):
        assert name in vars(HttpToolsProtocol), name
    cycle = set(RequestResponseCycle.__init__.__code__.co_names)
    assert {
        "disconnected",
        "keep_alive",
        "message_event",
        "response_started",
        "response_complete",
        "scope",
    } <= cycle
    assert {"_captured_signals", "_serve", "on_tick"} <= set(dir(Uvicorn)) | set(vars(Uvicorn(Config(""))))
