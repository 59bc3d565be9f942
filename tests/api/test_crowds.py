"""Crowds: connections and streams over the limits, and exhausted file descriptors."""

import ipaddress
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from caesura.http.connections import EXPLAINED, Connections, Standing
from tests.api.raw import GET, Answer, connect, first, push, rest
from tests.api.reading import conversation, send, until
from tests.api.server import Served
from tests.api.test_serve import PROGRAM, environment, ready

ASK = b"GET /api/v2/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


# --- one address


def test_the_connections_of_an_address_are_limited(tmp_path: Path) -> None:
    with Served(tmp_path, connections_per_address=3) as server, ExitStack() as stack:
        held = [stack.enter_context(connect(server.port)) for _ in range(3)]
        for connection in held:
            connection.sendall(ASK)
            assert first(connection).status == 401
        with connect(server.port) as fourth:
            fourth.sendall(ASK)
            refused = first(fourth)
            assert (refused.status, refused.json) == (
                429,
                {"detail": "too many connections from this address"},
            )
            assert int(refused.headers["retry-after"]) > 0
            assert rest(fourth) == b""
        with connect(server.port) as fifth:
            fifth.sendall(GET)
            health = first(fifth)
            assert (health.status, health.headers["connection"]) == (200, "close")
        held[0].close()
        until(lambda: len(server._server._connections) == 2)
        with server.client(None) as client:
            text = client.get("/metrics").text
        assert "caesura_connections_open 3.0" in text
        assert 'caesura_connections_refused_total{bound="address"} 2.0' in text


def test_the_connections_of_a_trusted_proxy_are_not_limited(tmp_path: Path) -> None:
    with (
        Served(tmp_path, connections_per_address=2, trusted_proxies="127.0.0.0/8") as server,
        ExitStack() as stack,
    ):
        held = [stack.enter_context(connect(server.port)) for _ in range(10)]
        for connection in held:
            connection.sendall(ASK)
            assert first(connection).status == 401


class Held:
    """A connection that is only counted."""

    def __init__(self) -> None:
        self.transport: Any = self
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True

    def check(self, now: float) -> None:
        raise AssertionError("these tests sweep nothing")


def _enter(connections: Connections, *hosts: str) -> list[Standing]:
    return [connections.enter(Held(), host) for host in hosts]


def test_an_ipv6_network_counts_as_one_address() -> None:
    connections = Connections(100, 2)
    first_, other = ipaddress.ip_network("2001:db8:0:1::/64"), ipaddress.ip_network("2001:db8:0:2::/64")
    assert _enter(connections, *(str(first_[n]) for n in (1, 2, 2**40))) == [
        Standing.WELCOME,
        Standing.WELCOME,
        Standing.GREEDY,
    ]
    assert _enter(connections, str(other[1])) == [Standing.WELCOME]


def test_ipv4_within_ipv6_counts_as_ipv4() -> None:
    connections = Connections(100, 2)
    assert _enter(connections, "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.2") == [
        Standing.WELCOME,
        Standing.WELCOME,
        Standing.GREEDY,
        Standing.WELCOME,
    ]


def test_one_address_never_takes_more_than_half_of_all() -> None:
    assert Connections(20, 1000).each == 10


def test_a_connection_that_ends_makes_room() -> None:
    connections = Connections(100, 1)
    held = Held()
    assert connections.enter(held, "192.0.2.1") is Standing.WELCOME
    connections.leave(held)
    assert _enter(connections, "192.0.2.1") == [Standing.WELCOME]
    assert len(connections) == 1


def test_the_oldest_refused_connections_are_cut() -> None:
    """A health check that has just arrived is answered, however many others wait."""
    connections = Connections(2, 2)
    _enter(connections, "192.0.2.1", "192.0.2.2")
    crowd = [Held() for _ in range(EXPLAINED + 5)]
    for number, held in enumerate(crowd):
        assert connections.enter(held, f"198.51.100.{number}") is Standing.CROWDED
    assert [held.aborted for held in crowd] == [True] * 5 + [False] * EXPLAINED
    assert len(connections) == 2 + EXPLAINED


# --- one person


def test_the_streams_of_a_person_are_limited(tmp_path: Path) -> None:
    with (
        Served(tmp_path, streams_per_person=2) as server,
        server.client("alice") as alice,
        server.client("bob") as bob,
        ExitStack() as stack,
    ):
        turn = send(alice, conversation(alice, agent="approval-agent"), "write hello.py: print(1)")
        url = f"/api/v2/turns/{turn['id']}/events"
        held = [stack.enter_context(alice.stream("GET", url)) for _ in range(2)]
        assert [stream.status_code for stream in held] == [200, 200]
        refused = alice.get(url)
        assert refused.status_code == 429
        assert refused.json()["error"] == {"code": "too_many_requests", "message": "too many open streams"}
        assert int(refused.headers["retry-after"]) > 0
        thread = alice.post("/api/sessions").json()["thread_id"]
        refused = alice.post(f"/api/chat/{thread}", json={"message": "echo x"})
        assert (refused.status_code, refused.json()) == (429, {"detail": "too many open streams"})
        assert alice.get(f"/api/history/{thread}").json()["messages"] == []  # nothing was started
        theirs = bob.post("/api/sessions").json()["thread_id"]
        assert bob.post(f"/api/chat/{theirs}", json={"message": "echo x"}).status_code == 200
        held[0].close()
        until(lambda: len(server.context.streams) == 1)
        assert alice.post(f"/api/chat/{thread}", json={"message": "echo x"}).status_code == 200
        assert server.context.streams._people == {"alice": 1}


def test_concurrent_requests_do_not_get_more_streams(tmp_path: Path) -> None:
    with Served(tmp_path, streams_per_person=3) as server, ExitStack() as stack:
        with server.client() as client:
            turn = send(client, conversation(client, agent="approval-agent"), "write hello.py: print(1)")
        head = f"GET /api/v2/turns/{turn['id']}/events HTTP/1.1\r\nHost: x\r\n"
        asked = f"{head}Authorization: Bearer {server.token()}\r\n\r\n".encode()
        held = [stack.enter_context(connect(server.port)) for _ in range(20)]
        for connection in held:
            connection.sendall(asked)
        statuses = [connection.recv(12) for connection in held]
        assert statuses.count(b"HTTP/1.1 200") == 3
        assert statuses.count(b"HTTP/1.1 429") == 17


# --- descriptors


def _status(url: str) -> int:
    try:
        return httpx.get(url, timeout=30, trust_env=False).status_code
    except httpx.TransportError:
        return 0


def _run_out(pid: int, port: int) -> None:
    """Lower the server's descriptor limit while clients connect."""
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (psutil.Process(pid).num_fds() + 2, usual[1]))
    with ExitStack() as stack:
        for number in range(50):
            push(stack.enter_context(connect(port, host=f"127.0.{number}.1")), b"GET /health HTTP/1.1\r\n")
        until(lambda: _status(f"http://127.0.0.1:{port}/health") == 0)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)


@contextmanager
def limited(folder: Path, soft: int, hard: int) -> Iterator[tuple[int, int]]:
    """A server process with these descriptor limits: its id and its port."""
    env = environment(folder, AUTH="password", LOG_LEVEL="error")
    program = f"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))\n{PROGRAM}"
    port = int(env["CAESURA_PORT"])
    with subprocess.Popen(
        [sys.executable, "-c", program], env=env, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as client:
                ready(process, client)
            yield process.pid, port
        finally:
            process.send_signal(signal.SIGKILL)


def _asked_in_a_crowd(port: int) -> Answer:
    """On a slow machine some connections of the crowd may time out: then others replace them."""
    for _ in range(10):
        with ExitStack() as stack:
            for number in range(400):
                crowding = stack.enter_context(connect(port, host=f"127.0.{number % 100}.1"))
                push(crowding, b"GET /health HTTP/1.1\r\n")
            with connect(port, host="127.1.1.1") as other:
                other.sendall(ASK)
                answer = first(other)
        if answer.status != 401:
            break
    return answer


def test_descriptors_stay_free_for_health_checks(tmp_path: Path) -> None:
    """Far more connections than descriptors, from many addresses, each with a request that never ends. The
    soft limit, which would be too low for any of them, is raised at the start."""
    with limited(tmp_path, 64, 300) as (pid, port), ExitStack() as stack:
        held = [stack.enter_context(connect(port, host=f"127.0.{number}.1")) for number in range(100)]
        for connection in held:
            connection.sendall(ASK)
        assert {first(connection).status for connection in held} == {401}
        for number in range(400):
            connection = stack.enter_context(connect(port, host=f"127.0.{number % 100}.1"))
            push(connection, b"GET /health HTTP/1.1\r\n")
        for path in ("/health", "/ready", "/health"):
            with connect(port, host="127.1.1.1") as probe:
                probe.sendall(GET.replace(b"/health", path.encode()))
                assert first(probe).status == 200
        refused = _asked_in_a_crowd(port)
        assert refused.status == 503
        assert refused.json == {"detail": "the server has too many connections"}
        assert int(refused.headers["retry-after"]) > 0
        stack.close()
        url = f"http://127.0.0.1:{port}"
        until(lambda: _status(f"{url}/api/v2/me") == 401)
        text = httpx.get(f"{url}/metrics", timeout=30, trust_env=False).text
        _run_out(pid, port)
        until(lambda: _status(f"{url}/api/v2/me") == 401)
        refused_connections = re.search(r'refused_total\{bound="server"\} (\S+)', text)
        assert refused_connections is not None
        assert float(refused_connections[1]) > 0
