"""Large responses that nobody reads, on a running server: they take a limited amount of memory."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Connection

from caesura.core.messages import Message
from caesura.store import conversations, life
from tests.api import raw
from tests.api.reading import until
from tests.api.server import Served
from tests.conformance.rows import settled

MIB = 1024 * 1024
LARGE = "x" * 3 * MIB
PATH = "/api/v2/conversations/large-{}/snapshot"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(Path(tmp_path_factory.mktemp("unread")), unread_bytes_per_person="8MiB") as server:
        for person in ("alice", "bob"):
            server.token(person)
            server.call(server.database.write(_tell, person))
        yield server


def _tell(connection: Connection, person: str) -> None:
    name = f"large-{person}"
    conversations.create(connection, name, person, "assistant")
    turn = life.create(connection, life.New(name, "hi", owner="test", lease_ms=60_000))
    life.settle(connection, [settled(turn, "done", Message("assistant", LARGE))])


def _hold(server: Served, stack: ExitStack) -> socket.socket:
    """A connection whose large response has begun, and is not read."""
    connection = stack.enter_context(raw.connect(server.port, 4096))
    head = f"GET {PATH.format('alice')} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    raw.push(connection, f"{head}Authorization: Bearer {server.token()}\r\n\r\n".encode())
    assert connection.recv(12, socket.MSG_PEEK | socket.MSG_WAITALL) == b"HTTP/1.1 200"
    return connection


def _status(client: httpx.Client, person: str = "alice") -> int:
    return client.get(PATH.format(person)).status_code


def test_unread_bytes_of_one_person_are_limited_and_freed(server: Served) -> None:
    with server.client() as alice, server.client("bob") as bob, ExitStack() as stack:
        held = [_hold(server, stack), _hold(server, stack)]

        refused = alice.get(PATH.format("alice"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_much_unread")
        assert int(refused.headers["Retry-After"]) > 0
        in_a = alice.get("/api/history/large-alice")
        assert (in_a.status_code, list(in_a.json())) == (429, ["detail"])
        assert 'caesura_share_refused_total{limit="too_much_unread"} 2' in alice.get("/metrics").text
        assert alice.get("/api/v2/conversations").status_code == 200
        assert _status(bob, "bob") == 200

        # Memory is freed when a response is read to its end, and when its client is gone.
        answer = raw.first(held[0])
        assert answer.json["turns"][0]["messages"][0]["content"] == LARGE
        until(lambda: _status(alice) == 200)
        held.append(_hold(server, stack))
        assert _status(alice) == 429
        held[1].close()
        held[2].close()
        until(lambda: _status(alice) == 200)


def test_a_response_that_is_not_read_is_not_in_memory_twice(server: Served) -> None:
    with ExitStack() as stack:
        _hold(server, stack)
        connections = list(server._server.server_state.connections)
        assert connections
        waiting = [connection.transport.get_write_buffer_size() for connection in connections]
        assert max(waiting) <= 256 * 1024


def test_one_response_is_sent_however_small_the_bound_is(tmp_path: Path) -> None:
    with Served(tmp_path, unread_bytes_per_person=1) as server, server.client() as alice:
        server.call(server.database.write(_tell, "alice"))
        for _ in range(3):
            assert alice.get(PATH.format("alice")).json()["turns"][0]["messages"][0]["content"] == LARGE
        assert alice.get("/openapi.json").status_code == 200
