"""How long a connection may stay open: a client that does not use its connection loses it."""

import math
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import Response

from caesura.http.protocol import PACE, Protocol
from tests.api.raw import GET, connect, first, push, rest
from tests.api.reading import until
from tests.api.server import Served

LARGE = b"x" * (32 << 20)
POST = b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\n"
LOGIN = POST + b"Content-Length: 10000\r\n\r\n{"
HALF = b"GET /health HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("server"), request_timeout=1.5, stream_ttl=1.5) as server:

        async def large() -> Response:
            return Response(LARGE, media_type="application/json")

        server.app.add_api_route("/large", large)
        yield server


#: What is sent first, and what is sent repeatedly after it.
SITTERS: dict[str, tuple[bytes, bytes]] = {
    "nothing": (b"", b""),
    "empty lines": (b"", b"\r\n"),
    "an empty line after an answer": (GET, b""),
    "empty lines after an answer": (GET, b"\r\n"),
    "half a request": (HALF, b""),
    "a header that grows": (HALF + b"x: ", b"y"),
    "headers without end": (HALF, b"x: y\r\n"),
    "a URL that grows": (b"GET /", b"y"),
    "half a request after an answer": (GET + HALF, b""),
    "a slow body": (LOGIN, b" "),
    "a slow body in chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"1\r\n \r\n"),
    "a chunk extension that grows": (POST + b"Transfer-Encoding: chunked\r\n\r\n1;", b"y"),
    "trailers without end": (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"x: y\r\n"),
    "a body that nobody reads": (HALF + b"Content-Length: 10000\r\n\r\n", b" "),
    "a body that never comes": (POST + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n", b""),
    "HTTP/1.0": (b"GET /health HTTP/1.0\r\n", b"x: y\r\n"),
    "after a refusal": (b"BREW / HTTP/1.1\r\n\r\n", b"y"),
    "after an upgrade": (HALF + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n", b"\x81\x00"),
}


def test_a_client_that_keeps_sending_a_few_bytes_loses_its_connection(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack:
        sitting = {}
        for name, (begin, again) in SITTERS.items():
            connection = stack.enter_context(connect(server.port))
            connection.sendall(begin)
            if begin.startswith(GET):
                first(connection)
                connection.sendall(b"\r\n")
            connection.settimeout(0)
            sitting[name] = (connection, again)
        end = time.monotonic() + 60
        while sitting and time.monotonic() < end:
            sitting = {name: item for name, item in sitting.items() if not _closed(*item)}
            time.sleep(0.1)
        assert not sitting
    until(lambda: len(server._server._connections) == 0)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def _closed(connection: socket.socket, again: bytes) -> bool:
    """Whether the server has closed the connection. More is sent on each call."""
    try:
        if not connection.recv(65536):
            return True
    except BlockingIOError:
        pass
    except ConnectionError:
        return True
    push(connection, again)
    return False


@pytest.mark.parametrize("last", [b"", HALF, GET])
def test_a_half_closed_connection_is_closed(server: Served, last: bytes) -> None:
    with connect(server.port) as connection:
        connection.sendall(last)
        connection.shutdown(socket.SHUT_WR)
        rest(connection)


#: Requests for far more data than the system buffers for a client that reads nothing.
GREEDY = [
    b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /large HTTP/1.0\r\n\r\n",
    b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 20,
    b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 30,
    b"GET /docs/files/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n" * 5,
]


def test_a_client_that_does_not_read_its_response_is_disconnected(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connect(server.port, 4096)) for _ in GREEDY]
        until(lambda: len(server._server._connections) == len(GREEDY))
        for connection, requests in zip(held, GREEDY, strict=True):
            connection.sendall(requests)
        until(lambda: len(server._server._connections) == 0, 60)
        assert max(len(rest(connection)) for connection in held) < len(LARGE) // 4
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_client_that_reads_its_response_slowly_gets_all_of_it() -> None:
    transport = Transport()
    protocol = _protocol(transport)
    for second in range(100):
        transport.held = LARGE_ENOUGH - second * PACE
        protocol.check(second * 29.0)
    assert transport.ends == []


def test_a_client_that_reads_only_a_few_bytes_is_disconnected() -> None:
    transport = Transport()
    protocol = _protocol(transport)
    for second in range(100):
        transport.held = LARGE_ENOUGH - second
        protocol.check(float(second))
        if transport.ends:
            break
    assert (transport.ends, second) == (["abort"], 30)


LARGE_ENOUGH = 200 * PACE


class Transport:
    def __init__(self) -> None:
        self.held = 0
        self.ends: list[str] = []

    def get_write_buffer_size(self) -> int:
        return self.held

    def close(self) -> None:
        self.ends.append("close")

    def abort(self) -> None:
        self.ends.append("abort")


def _protocol(transport: Any) -> Protocol:
    protocol = Protocol.__new__(Protocol)
    protocol.transport, protocol._due = transport, math.inf
    active = SimpleNamespace(chunked_encoding=True, response_complete=False, scope={"extensions": {}})
    protocol._active = active  # type: ignore[assignment]
    return protocol
