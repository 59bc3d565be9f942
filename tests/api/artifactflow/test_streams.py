"""Streams: opened late, twice or again, they have everything, in order, once."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from tests.api import raw
from tests.api.artifactflow.message import ENDS, Message, kinds, last, place, said, typed, words
from tests.api.reading import Event, parse, parse_async, until
from tests.api.server import Served

TWO = "write a.txt + write b.txt"


@pytest.fixture(scope="module")
def pinging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("pinging"), sse_ping_interval=0.1) as server:
        yield server


def segments(message: Message) -> list[Event]:
    """All segments of a run, each read when the one before has been decided on."""
    found = message.read()
    while found[-1].name == "interrupt":
        found = [*found, *message.resume(approved=True)]
    return found


def walked(message: Message, whole: list[Event], *, by_query: bool) -> list[Event]:
    """The events that a reader gets which is cut after each of them."""
    joined = [whole[0]]
    while len(joined) < len(whole):
        after = joined[-1].id
        if by_query:
            response = message.client.get(message.url, params={"after": after})
            joined.append(next(parse(response.iter_lines())))
        else:
            with message.reading(after) as found:
                joined.append(next(found))
    return joined


# --- everything, in order, once


@pytest.mark.parametrize("asks", ["echo a b c", "fail midway", "ask me one question", TWO])
def test_a_late_stream_and_a_second_one_equal_the_first(alice: httpx.Client, asks: str) -> None:
    message = Message.send(alice, asks)
    live = message.read()
    message.until("done", "failed", "waiting")
    assert message.read() == message.read() == live


def test_no_event_is_lost_before_the_first_reader_connects(alice: httpx.Client) -> None:
    message = Message.send(alice, "count to 50")
    message.until("done")
    assert said(message.read()).startswith("1 2 3 4 ")


async def test_readers_at_the_same_time_see_the_same(server: Served) -> None:
    async with server.async_client() as client:
        made = (await client.post("/api/v1/chat", json={"content": "count to 100 delay=0.001"})).json()

        async def read() -> list[Event]:
            async with client.stream("GET", made["stream_url"]) as response:
                return [event async for event in parse_async(response.aiter_lines())]

        first, second, third = await asyncio.gather(read(), read(), read())
        assert first == second == third
        assert first[-1].name == "complete"


@pytest.mark.parametrize("by_query", [False, True])
def test_a_stream_cut_after_every_frame_and_joined_again_equals_the_unbroken_one(
    alice: httpx.Client, by_query: bool
) -> None:
    message = Message.send(alice, f"{TWO} then write c.txt")
    whole = segments(message)
    assert [event.name for event in whole if event.name in ENDS] == ["interrupt", "interrupt", "complete"]
    assert sum("." in event.id for event in whole) == 3
    assert [place(event) for event in whole] == sorted(place(event) for event in whole)
    assert walked(message, whole, by_query=by_query) == whole


def test_the_frames_after_any_id_are_the_rest_of_its_segment(alice: httpx.Client) -> None:
    message = Message.send(alice, f"{TWO} then ask me one question")
    first = message.read()
    second = message.resume(approved=True)
    third = message.resume(decision="answers", answers=["red"])
    for segment, following in ((first, second), (second, third), (third, None)):
        for number, event in enumerate(segment[:-1]):
            assert message.read(event.id) == segment[number + 1 :]
        if following is not None:
            assert message.read(segment[-1].id) == following


def test_a_stream_cut_while_it_is_written_equals_the_unbroken_one(alice: httpx.Client) -> None:
    message = Message.send(alice, "count to 40 delay=0.002")
    joined: list[Event] = []
    while not joined or joined[-1].name != "complete":
        with message.reading(joined[-1].id if joined else None) as found:
            joined.append(next(found))
    assert joined == message.read()


def test_after_the_decision_a_stream_begins_with_the_next_segment(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt", agent="stuck")
    asked = message.read()
    assert message.decide(approved=True).status_code == 200
    for after in (None, asked[-1].id):
        with message.reading(after) as found:
            seen = words(found)
            assert kinds(seen)[:3] == ["metadata", "tool_start", "tool_result"]
            assert place(seen[0]) > place(asked[-1])
    message.cancel()


@pytest.fixture
def patient_titles(server: Served) -> Iterator[None]:
    """A run may wait for its title for as long as any test takes."""
    runner = server.context.service.engine.runner
    before, runner._limits = runner._limits, replace(runner._limits, title=3600)
    yield
    runner._limits = before


@pytest.mark.usefixtures("patient_titles")
def test_a_stream_is_closed_with_the_question_and_waits_for_no_title(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt", agent="no-title")
    asked = message.read()
    assert asked[-1].name == "interrupt"
    assert _status(message, asked[-1].id) == 204
    assert message.read() == asked
    message.cancel()


def test_a_late_title_is_not_in_the_stream_of_a_segment_that_asks(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt", agent="late-title")
    asked = message.read()
    assert typed(asked, "title") == []
    until(lambda: message.detail()["title"] == "A late title")
    assert message.read() == asked
    assert alice.get(message.url, headers={"Last-Event-ID": asked[-1].id}).status_code == 204
    rest = message.resume(approved=True)
    assert typed(rest, "title") == []
    assert rest[0].name == "metadata"


def test_a_title_in_time_is_in_the_stream(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo good day", agent="late-title")
    found = message.read()
    assert typed(found, "title") == [{"title": "A late title"}]
    assert last(found, "complete")["response"] == "good day"


# --- 204


def test_when_everything_was_sent_the_answer_is_204(alice: httpx.Client) -> None:
    for asks, end in (("echo a", "complete"), ("fail midway", "error"), ("write a.txt", "interrupt")):
        message = Message.send(alice, asks)
        found = message.read()
        assert found[-1].name == end
        until(lambda message=message, id=found[-1].id: _status(message, id) == 204)  # type: ignore[misc]
        by_query = alice.get(message.url, params={"after": found[-1].id})
        assert (by_query.status_code, by_query.content) == (204, b"")
        assert message.read() == found


def _status(message: Message, after: str) -> int:
    return message.client.get(message.url, headers={"Last-Event-ID": after}).status_code


def test_after_a_decision_there_is_more_to_send_again(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt")
    end = message.read()[-1].id
    assert _status(message, end) == 204
    following = message.resume(approved=False)
    assert message.read(end) == following


# --- cursors


@pytest.mark.parametrize("cursor", ["x", "-1", "1.x", ".1", "1.", "1.2.3", "1e3", "9" * 17, "1.99999", "１"])
def test_what_is_no_id_is_refused(alice: httpx.Client, cursor: str) -> None:
    message = Message.send(alice, "echo a")
    message.read()
    wrong = alice.get(message.url, params={"after": cursor})
    assert (wrong.status_code, wrong.json()["detail"][:13]) == (400, "Last-Event-ID")
    header = {b"Last-Event-ID": cursor.encode()}
    assert alice.get(message.url, headers=header).status_code == 400


def test_an_empty_id_is_none(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a")
    whole = message.read()
    assert message.read("") == whole
    assert list(parse(alice.get(message.url, params={"after": ""}).iter_lines())) == whole


def test_the_header_counts_more_than_the_query(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a b c")
    whole = message.read()
    response = alice.get(message.url, params={"after": whole[0].id}, headers={"Last-Event-ID": whole[-2].id})
    assert list(parse(response.iter_lines())) == whole[-1:]


@pytest.mark.parametrize("part", ["", ".1", ".7"])
def test_an_id_that_names_no_event_begins_the_segment_again_and_says_so(
    alice: httpx.Client, part: str
) -> None:
    message = Message.send(alice, "echo a b c")
    whole = message.read()
    seen = int(whole[-1].id)
    for cursor in (seen + 1000, seen + 2**24, 2**24 * 9 + 1, 2**52):
        with message.reading(f"{cursor}{part}") as found:
            first, *rest = found
        assert (first.id, first.name) == ("", "stream")
        assert (first.data["type"], first.data["data"]) == ("restart", {"scope": "segment"})
        assert rest == whole


def test_an_id_within_an_event_that_has_one_frame_sends_that_frame(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a b c")
    whole = message.read()
    for number in range(1, len(whole)):
        assert message.read(f"{whole[number].id}.1") == whole[number:]


@pytest.mark.parametrize("thread", ["thd-1", "x", "msg-1", "thd-", "turn-1"])
def test_an_unknown_run_is_not_found(alice: httpx.Client, thread: str) -> None:
    unknown = alice.get(f"/api/v1/stream/{thread}")
    assert (unknown.status_code, unknown.json()) == (404, {"detail": "thread not found"})


def test_a_message_id_is_no_run(alice: httpx.Client) -> None:
    message = Message.send(alice, "echo a")
    message.read()
    assert alice.get(f"/api/v1/stream/{message.id}").status_code == 404
    assert alice.get(f"/api/v1/stream/{message.id.replace('msg-', 'turn-')}").status_code == 404


# --- tickets, pings and slow readers


def test_a_ticket_opens_the_stream_once(alice: httpx.Client, nobody: httpx.Client) -> None:
    message, other = Message.send(alice, "echo a"), Message.send(alice, "echo b")
    whole = message.read()
    ticket = alice.post("/api/v2/stream-ticket", json={"stream": message.url}).json()["ticket"]
    assert nobody.get(other.url, params={"ticket": ticket}).status_code == 401
    opened = nobody.get(message.url, params={"ticket": ticket, "after": whole[0].id})
    assert list(parse(opened.iter_lines())) == whole[1:]
    assert nobody.get(message.url, params={"ticket": ticket}).status_code == 401
    assert nobody.get(message.url).status_code == 401
    other.read()


def test_an_idle_stream_sends_pings(pinging: Served) -> None:
    with pinging.client() as client:
        message = Message.send(client, "wait 1 seconds")
        with client.stream("GET", message.url) as response:
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            lines = list(response.iter_lines())
    assert lines.count(": ping") >= 2
    assert [event.name for event in parse(iter(lines))][-1] == "complete"


def test_a_reader_that_reads_late_delays_nobody_and_gets_everything(
    server: Served, alice: httpx.Client
) -> None:
    message = Message.send(alice, "long 3000 delay=0")
    with raw.connect(server.port, 4096) as slow:
        head = f"GET {message.url} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token()}\r\n\r\n"
        slow.sendall(head.encode())
        whole = message.read()
        message.until("done")
        taken = b""
        while not taken.endswith(b"\r\n0\r\n\r\n"):
            piece = slow.recv(65536)
            assert piece, "cut off"
            taken += piece
    assert taken.count(b"\nevent: ") == len(whole)
