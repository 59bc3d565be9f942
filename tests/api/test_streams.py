"""Streams over real sockets: cut and resumed, with several readers, a slow reader, or none."""

import asyncio
import gc
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from caesura.core.turns import Turn
from tests.api.reading import (
    Event,
    conversation,
    events,
    finished,
    follow,
    outcome,
    parse,
    parse_async,
    send,
    until,
)
from tests.api.server import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("server")
    with Served(folder, sse_ping_interval=0.2, stream_ttl=0.6, disconnect_grace=0.2) as server:
        yield server


@contextmanager
def raw(server: Served, turn_id: str, buffer: int | None = None) -> Iterator[socket.socket]:
    """A connection that has requested a turn's events, and reads nothing by itself."""
    with socket.socket() as made:
        if buffer is not None:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        made.settimeout(10)
        made.connect((server.settings.host, server.port))
        path, token = f"/api/v2/turns/{turn_id}/events", server.token()
        made.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        yield made


def test_a_stream_cut_after_every_event_and_joined_again_equals_the_log(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "count to 40 delay=0.002")
    joined: list[Event] = []
    while not joined or joined[-1].name != "segment_ended":
        after = int(joined[-1].id) if joined else 0
        for event in follow(alice, turn["id"], after):
            joined.append(event)
            break
    assert joined == events(alice, turn["id"])
    assert [event.seq for event in joined] == list(range(1, len(joined) + 1))


def test_the_events_after_any_cursor_equal_those_of_the_unbroken_stream(alice: httpx.Client) -> None:
    turn = finished(alice, "write a.txt + write b.txt")
    asked = [item["id"] for item in alice.get("/api/v2/interrupts").json()["interrupts"]]
    answers = {id: {"decision": "approve"} for id in asked}
    alice.post(f"/api/v2/turns/{turn['id']}/answers", json={"answers": answers})
    whole = events(alice, turn["id"])
    for place in range(len(whole)):
        assert events(alice, turn["id"], place) == whole[place:]
        by_query = alice.get(f"/api/v2/turns/{turn['id']}/events", params={"after": place})
        assert list(parse(by_query.iter_lines())) == whole[place:]
    assert alice.get(f"/api/v2/turns/{turn['id']}/events?after={len(whole)}").status_code == 204


def test_the_last_event_id_header_overrides_the_query(alice: httpx.Client) -> None:
    turn = finished(alice, "echo a b c d")
    whole = events(alice, turn["id"])
    url = f"/api/v2/turns/{turn['id']}/events?after=1"
    response = alice.get(url, headers={"Last-Event-ID": str(len(whole) - 1)})
    assert list(parse(response.iter_lines())) == whole[-1:]


def test_a_cursor_beyond_the_end_begins_at_the_newest_segment(alice: httpx.Client) -> None:
    turn = finished(alice, "echo a b c d")
    assert events(alice, turn["id"], 10_000) == events(alice, turn["id"])


@pytest.mark.parametrize("cursor", ["-1", "x", "1.5", str(2**60), "9" * 5000])
def test_a_cursor_that_is_not_a_number_is_refused(alice: httpx.Client, cursor: str) -> None:
    turn = finished(alice, "echo a")
    url = f"/api/v2/turns/{turn['id']}/events"
    assert alice.get(url, headers={"Last-Event-ID": cursor}).status_code == 422
    assert alice.get(url, params={"after": cursor}).status_code == 422


async def test_two_readers_see_the_same(server: Served) -> None:
    async with server.async_client() as client:
        made = (await client.post("/api/v2/conversations", json={})).json()["id"]
        body = {"content": "count to 100 delay=0.001"}
        turn = (await client.post(f"/api/v2/conversations/{made}/turns", json=body)).json()["id"]

        async def read() -> list[Event]:
            async with client.stream("GET", f"/api/v2/turns/{turn}/events") as response:
                return [event async for event in parse_async(response.aiter_lines())]

        first, second, third = await asyncio.gather(read(), read(), read())
        assert first == second == third
        assert first[-1].name == "segment_ended"


def test_the_headers_of_a_stream_tell_proxies_not_to_buffer_it(alice: httpx.Client) -> None:
    turn = finished(alice, "echo a")
    with alice.stream("GET", f"/api/v2/turns/{turn['id']}/events") as response:
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-store, no-transform"
        assert response.headers["x-accel-buffering"] == "no"
        response.read()


def test_an_idle_stream_sends_pings(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "wait 1 seconds")
    with alice.stream("GET", f"/api/v2/turns/{turn['id']}/events") as response:
        lines = list(response.iter_lines())
    assert lines.count(": ping") >= 3
    assert [event.name for event in parse(iter(lines))][-1] == "segment_ended"


def test_a_stream_over_a_question_stays_open_and_goes_on_with_the_answer(
    alice: httpx.Client, server: Served
) -> None:
    turn = finished(alice, "write hello.py: print(1)")
    (asked,) = alice.get("/api/v2/interrupts").json()["interrupts"]
    with server.client() as reader:
        found = follow(reader, turn["id"])
        seen = [next(found)]
        while seen[-1].name != "segment_ended":
            seen.append(next(found))
        alice.post(f"/api/v2/interrupts/{asked['id']}/answer", json={"decision": "approve"})
        seen += list(found)
    assert [event.data["cause"] for event in seen if event.name == "run_started"] == ["start", "resume"]
    assert outcome(seen).name == "finished"


def test_waiting_readers_do_not_keep_the_messages_of_their_turn_in_memory(
    alice: httpx.Client, server: Served
) -> None:
    turn = finished(alice, "write hello.py: " + "x" * 90_000)  # the turn waits for an approval
    with ExitStack() as stack:
        for _ in range(20):
            assert stack.enter_context(raw(server, turn["id"])).recv(100).startswith(b"HTTP/1.1 200")
        until(lambda: len(server.context.streams) == 20)
        held = [item for item in gc.get_objects() if isinstance(item, Turn) and len(item.content) > 90_000]
        assert len(held) < 10  # some that were just read, and are not yet garbage-collected
    alice.post(f"/api/v2/turns/{turn['id']}/stop")


def test_a_reader_that_leaves_is_noticed_at_once(alice: httpx.Client, server: Served) -> None:
    turn = send(alice, conversation(alice), "wait 5 seconds", on_disconnect="continue")
    with raw(server, turn["id"]) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
        until(lambda: len(server.context.streams) == 1)
    until(lambda: len(server.context.streams) == 0, 1.0)
    assert alice.get(f"/api/v2/turns/{turn['id']}").json()["status"] == "running"
    alice.post(f"/api/v2/turns/{turn['id']}/stop")


def test_a_run_that_needs_readers_is_stopped_without_them(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "count to 10000 delay=0.005", on_disconnect="stop")
    for event in follow(alice, turn["id"]):
        if event.name == "text_delta":
            break
    until(lambda: alice.get(f"/api/v2/turns/{turn['id']}").json()["status"] == "stopped")
    found = events(alice, turn["id"])
    assert outcome(found).data["reason"] == "disconnect"


def test_a_reader_that_reads_nothing_is_disconnected_and_delays_nobody(
    alice: httpx.Client, server: Served
) -> None:
    turn = send(alice, conversation(alice), "long 50000 delay=0")
    with raw(server, turn["id"], buffer=4096) as connection:
        whole = events(alice, turn["id"])
        assert whole[-1].name == "segment_ended"
        until(lambda: len(server.context.streams) == 0, 5.0)
        assert cut_off(connection)
    assert events(alice, turn["id"]) == whole


def cut_off(connection: socket.socket) -> bool:
    """Whether the rest of the stream ends without its final chunk."""
    taken = b""
    try:
        while data := connection.recv(65536):
            taken += data
    except ConnectionResetError:
        pass
    return not taken.endswith(b"\r\n0\r\n\r\n")


def test_a_slow_reader_gets_everything(alice: httpx.Client, server: Served) -> None:
    turn = finished(alice, "long 3000 delay=0")
    taken = b""
    with raw(server, turn["id"], buffer=2048) as connection:
        while not taken.endswith(b"\r\n0\r\n\r\n"):
            data = connection.recv(4096)
            assert data, "cut off"
            taken += data
            time.sleep(0.02)
    assert taken.count(b"\nevent: ") == len(events(alice, turn["id"]))


def test_many_readers_leave_nothing_behind(alice: httpx.Client, server: Served) -> None:
    turn = send(alice, conversation(alice), "wait 3 seconds")
    with ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(raw(server, turn["id"]))
        until(lambda: len(server.context.streams) == 50)
    until(lambda: len(server.context.streams) == 0)
    assert server.context.service.presence._readers == {}
    alice.post(f"/api/v2/turns/{turn['id']}/stop")


def test_a_shutdown_cuts_streams_so_that_readers_come_back(tmp_path: Path) -> None:
    with Served(tmp_path, drain=0.2) as server, server.client() as client:
        turn = send(client, conversation(client), "count to 400 delay=0.005")
        with raw(server, turn["id"]) as connection:
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")
            server.stop()
            assert cut_off(connection)
    with Served(tmp_path) as server, server.client() as client:
        found = events(client, turn["id"])
        assert [event.data["cause"] for event in found if event.name == "run_started"] == ["start", "adopt"]
        assert outcome(found).name == "finished"


def test_no_work_is_accepted_while_the_server_drains(tmp_path: Path) -> None:
    with Served(tmp_path, drain=2.0) as server, server.client() as client:
        send(client, conversation(client), "wait 20 seconds")
        other = conversation(client)
        server.begin_to_stop()
        until(lambda: server.context.service.draining)
        refused = client.post(f"/api/v2/conversations/{other}/turns", json={"content": "echo x"})
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        assert client.get("/ready").status_code == 503
        assert client.get("/health").status_code == 200
        assert client.get(f"/api/v2/conversations/{other}").status_code == 200
