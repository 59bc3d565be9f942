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

from caesura.http import backlog
from caesura.http.protocol import PACE, STEPS, Protocol
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


def test_a_client_that_reads_slowly_is_not_cut_although_the_system_holds_megabytes(server: Served) -> None:
    """The client is about three times as fast as it must be. The system takes more from the server only when
    a third of its buffer is free, which takes longer than a client may read nothing."""
    with connect(server.port, 64 * 1024) as connection:
        connection.sendall(GREEDY[0])
        read = 0
        while read < 600_000:
            read += len(connection.recv(13_000))
            assert len(server._server._connections) == 1
            time.sleep(0.1)


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
    assert (transport.ends, second) == (["abort"], 61)


def test_what_a_client_takes_from_the_system_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    transport, system = Transport(), _system(monkeypatch)
    protocol = _protocol(transport)
    transport.held = PACE
    for second in range(100):
        system.held = LARGE_ENOUGH - second * PACE
        protocol.check(second * 29.0)
    assert transport.ends == []
    for second in range(70):
        protocol.check(2900.0 + second)
    assert transport.ends[0] == "abort"


def test_a_large_step_counts_for_more_time_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    transport, system = Transport(), _system(monkeypatch)
    protocol = _protocol(transport)
    transport.held, system.held = PACE, LARGE_ENOUGH
    protocol.check(0.0)
    system.held -= 3 * PACE
    for second in range(1, 90, 10):
        protocol.check(float(second))
    assert transport.ends == []
    protocol.check(91.0)
    assert transport.ends == ["abort"]
    del transport.ends[:]
    system.held -= 100 * PACE
    protocol.check(100.0)
    protocol.check(100.0 + STEPS * Protocol.silence)
    assert transport.ends == ["abort"]


def test_a_client_that_takes_as_much_as_it_must_in_uneven_steps_is_not_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transport, system = Transport(), _system(monkeypatch)
    protocol = _protocol(transport)
    transport.held, system.held = PACE, LARGE_ENOUGH
    for second in range(1000):
        if second % 40 == 20:
            system.held -= PACE if second == 20 else PACE * 4 // 3
        protocol.check(float(second))
    assert transport.ends == []


def test_a_connection_stays_while_its_client_takes_the_end_of_a_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transport, system = Transport(), _system(monkeypatch)
    protocol = _protocol(transport)
    protocol._active, protocol._due = None, 5.0
    for second in range(5, 100, 5):
        system.held = LARGE_ENOUGH - second * PACE
        protocol.check(float(second))
    assert transport.ends == []
    system.held = 0
    protocol.check(100.0)
    assert transport.ends == ["close"]


def test_the_system_is_more_patient_only_while_the_pace_is_measured(server: Served) -> None:
    with connect(server.port) as connection:
        until(lambda: len(server._server._connections) == 1)
        (protocol,) = server._server._connections._welcome
        found = protocol.transport.get_extra_info("socket")

        def patience() -> float:
            return int(found.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)) / 1000

        assert patience() == 1.5
        connection.sendall(GREEDY[0])
        until(lambda: patience() == 1.5 * STEPS)
        read = 0
        while read < len(LARGE):
            read += len(connection.recv(1 << 20))
        until(lambda: patience() == 1.5)


LARGE_ENOUGH = 200 * PACE


def _system(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The system's buffer, which holds as many bytes as the test says."""
    system = SimpleNamespace(held=0)
    monkeypatch.setattr(backlog, "in_system", lambda transport: system.held)
    return system


class Transport:
    def __init__(self) -> None:
        self.held = 0
        self.ends: list[str] = []

    def get_write_buffer_size(self) -> int:
        return self.held

    def get_extra_info(self, name: str) -> None:
        """There is no socket."""

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
