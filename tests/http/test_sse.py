"""The response that sends events, with a simulated server."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from caesura.core.errors import Unavailable
from caesura.http import backlog
from caesura.http.sse import PING, TRANSPORT, EventStreams, frame
from tests.waiting import until


class Transport:
    """Holds the bytes that a reader has not read."""

    def __init__(self) -> None:
        self.held = 0
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.held

    def get_extra_info(self, name: str) -> None:
        """There is no socket."""

    def abort(self) -> None:
        self.aborted = True


class Wire:
    """The server's side of one connection. `room` is how many bytes fit before a send waits."""

    def __init__(self, room: int = 1 << 30) -> None:
        self.transport = Transport()
        self.room = room
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()

    @property
    def scope(self) -> dict[str, Any]:
        return {"type": "http", "extensions": {TRANSPORT: self.transport}}

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent if message["type"] == "http.response.body")

    @property
    def ended(self) -> bool:
        return self.sent[-1].get("more_body") is False

    async def send(self, message: dict[str, Any]) -> None:
        await until(lambda: self.transport.held <= self.room or self.left.is_set())
        self.sent.append(message)
        if self.room < 1 << 30:
            self.transport.held += len(message.get("body", b""))

    async def receive(self) -> dict[str, Any]:
        await until(lambda: self.left.is_set() or self.transport.aborted)
        return {"type": "http.disconnect"}


class Frames:
    """Yields these pieces, then waits, fails or ends. Records whether it was closed."""

    def __init__(self, *pieces: bytes, then: object = None) -> None:
        self.pieces, self.then = pieces, then
        self.closed = False

    async def __call__(self) -> AsyncGenerator[bytes, None]:
        try:
            for piece in self.pieces:
                yield piece
            if isinstance(self.then, Exception):
                raise self.then
            if self.then == "wait":
                await asyncio.Event().wait()
        finally:
            self.closed = True


async def respond(streams: EventStreams, frames: Frames, wire: Wire) -> None:
    await streams.response(frames())(wire.scope, wire.receive, wire.send)  # type: ignore[arg-type]


def test_a_frame_has_an_id_a_name_and_one_line_of_data() -> None:
    assert frame(7, "text_delta", b'{"a":1}') == b'id: 7\nevent: text_delta\ndata: {"a":1}\n\n'


async def test_all_frames_are_sent_and_the_response_ends_cleanly() -> None:
    streams, frames, wire = EventStreams(), Frames(b"a", b"b"), Wire()
    await respond(streams, frames, wire)
    assert wire.body == b"ab"
    assert wire.ended
    assert not wire.transport.aborted
    assert frames.closed
    assert len(streams) == 0


async def test_a_silent_stream_pings() -> None:
    streams, frames, wire = EventStreams(ping=0.05), Frames(b"a", then="wait"), Wire()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(respond(streams, frames, wire))
        await until(lambda: wire.body.count(PING) >= 3)
        wire.left.set()
    assert wire.body.startswith(b"a" + PING)


async def test_a_busy_stream_does_not_ping() -> None:
    class Busy(Frames):
        async def __call__(self) -> AsyncGenerator[bytes, None]:
            for _ in range(30):
                yield b"x"
                await asyncio.sleep(0.01)

    wire = Wire()
    await respond(EventStreams(ping=2), Busy(), wire)
    assert wire.body == b"x" * 30


async def test_a_stream_ends_as_soon_as_its_reader_leaves() -> None:
    streams, frames, wire = EventStreams(), Frames(b"a", then="wait"), Wire()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(respond(streams, frames, wire))
        await asyncio.sleep(0.02)
        assert len(streams) == 1
        wire.left.set()
    assert frames.closed
    assert len(streams) == 0


async def test_a_reader_that_reads_nothing_is_cut() -> None:
    streams = EventStreams(ping=0.05, ttl=0.2)
    frames, wire = Frames(*[b"x" * 10] * 100), Wire(room=50)
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(30):
        await respond(streams, frames, wire)
    assert asyncio.get_running_loop().time() - began >= 0.2
    assert wire.transport.aborted
    assert frames.closed
    assert len(wire.body) <= 80
    assert PING not in wire.body


async def test_a_slow_reader_is_not_cut() -> None:
    streams = EventStreams(ping=0.05, ttl=1)
    frames, wire = Frames(*[b"x" * 10] * 60), Wire(room=50)

    async def take() -> None:
        while not wire.sent or not wire.ended:
            wire.transport.held = max(wire.transport.held - 10, 0)
            await asyncio.sleep(0.02)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(respond(streams, frames, wire))
        group.create_task(take())
    assert wire.body.replace(PING, b"") == b"x" * 600
    assert not wire.transport.aborted


async def test_a_slow_reader_is_not_cut_while_the_system_holds_its_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams = EventStreams(ping=0.05, ttl=0.5)
    frames, wire = Frames(*[b"x" * 10] * 60, then="wait"), Wire(room=50)
    held = [10_000]
    monkeypatch.setattr(backlog, "in_system", lambda transport: held[0])
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        responding = group.create_task(respond(streams, frames, wire))
        for _ in range(100):  # seconds in which the bytes of this process do not shrink
            held[0] -= 10
            await asyncio.sleep(0.02)
        cut = wire.transport.aborted
        await until(lambda: responding.done())  # now it takes nothing
    assert not cut
    assert wire.transport.aborted


async def test_a_shutdown_cuts_every_stream() -> None:
    streams, wires = EventStreams(), [Wire() for _ in range(3)]
    frames = [Frames(b"a", then="wait") for _ in wires]
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for wire, given in zip(wires, frames, strict=True):
            group.create_task(respond(streams, given, wire))
        await asyncio.sleep(0.02)
        streams.abort()
    assert all(wire.transport.aborted and not wire.ended for wire in wires)
    assert all(given.closed for given in frames)


async def test_a_caesura_error_cuts_the_stream() -> None:
    frames, wire = Frames(b"a", then=Unavailable()), Wire()
    await respond(EventStreams(), frames, wire)
    assert wire.transport.aborted
    assert not wire.ended
    assert frames.closed


async def test_an_unexpected_error_is_not_hidden() -> None:
    frames, wire = Frames(b"a", then=ValueError("x")), Wire()
    with pytest.raises(ValueError, match="x"):
        await respond(EventStreams(), frames, wire)
    assert frames.closed


async def test_a_cancellation_by_somebody_else_is_not_swallowed() -> None:
    frames, wire = Frames(b"a", then="wait"), Wire()
    task = asyncio.create_task(respond(EventStreams(), frames, wire))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert frames.closed
