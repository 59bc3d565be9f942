"""Streams: reading the log of a turn from any cursor to the end of a segment or of the turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from caesura.core import cursors
from caesura.core import events as ev
from caesura.core.errors import NotFound, Unavailable
from caesura.core.events import Envelope
from caesura.core.turns import Turn
from caesura.log import Log
from caesura.service.service import Service
from caesura.service.streams import Streams
from caesura.service.turns import Message
from tests.engine.world import PATIENCE, YES, World
from tests.openai_server import Call, Hang, Say

ASK = Say("May I?", [Call("seal", {"text": "a"}, "seal-1")])


async def send(service: Service, world: World, text: str = "go") -> Turn:
    return await service.turns.send(world.user, world.conversation, Message(text))


async def two_segments(service: Service, world: World) -> tuple[Turn, list[Envelope], int]:
    """A turn that asked, was answered and has ended: its log, and the cursor at which its first segment
    ends."""
    world.desk.script(ASK, Say("done"))
    said = await world.segment(await send(service, world))
    end = (await world.log.read(said.turn.num))[-1].seq
    await world.resume(said, YES)
    return said.turn, await world.log.read(said.turn.num, 0, 1 << 30), end


async def numbers(batches: AsyncGenerator[list[Envelope], None]) -> list[int]:
    """The numbers of all events up to the end of the stream."""
    async with asyncio.timeout(PATIENCE), aclosing(batches):
        return [item.seq async for batch in batches for item in batch]


async def test_reading_begins_after_the_cursor_and_ends_with_its_segment_or_the_turn(
    service: Service, world: World
) -> None:
    turn, log, end = await two_segments(service, world)
    read, last = service.streams.read, log[-1].seq
    for after in range(last):
        rest = list(range(after + 1, last + 1))
        assert await numbers(read(turn, after, until="turn")) == rest
        ends = end if after < end else last
        assert await numbers(read(turn, after, until="segment")) == list(range(after + 1, ends + 1))


async def test_events_before_the_cursor_come_first_for_a_reader_that_needs_them(
    service: Service, world: World
) -> None:
    turn, log, end = await two_segments(service, world)
    last = log[-1].seq
    read = service.streams.read
    assert await numbers(read(turn, end, until="segment", since=0)) == list(range(1, last + 1))
    assert await numbers(read(turn, end - 1, until="segment", since=2)) == list(range(3, end + 1))


async def test_a_reader_of_a_segment_does_not_see_the_late_events_of_the_one_before(
    service: Service, world: World
) -> None:
    turn, log, end = await two_segments(service, world)
    rest = list(range(end + 1, log[-1].seq + 1))
    assert await numbers(service.streams.read(turn, end - 1, until="turn", segment=2)) == rest
    assert isinstance(log[end].event, ev.RunStarted)


async def test_a_reader_of_the_turn_waits_over_the_question(service: Service, world: World) -> None:
    world.desk.script(ASK, Say("done"))
    turn = await send(service, world)
    reading = asyncio.create_task(numbers(service.streams.read(turn, 0, until="turn")))
    said = await world.segment(turn)
    assert not reading.done()
    await world.resume(said, YES)
    assert await reading == [item.seq for item in await world.log.read(turn.num, 0, 1 << 30)]


async def test_a_reader_is_counted_while_it_reads(service: Service, world: World) -> None:
    world.desk.script(Hang(["half "]))
    turn = await send(service, world)
    async with aclosing(service.streams.read(turn, 0, until="turn")) as batches:
        await anext(batches)
        assert service.presence.readers(turn.num) == 1
    assert service.presence.readers(turn.num) == 0
    await service.turns.stop(world.user, turn.id)
    await world.segment(turn)


async def test_a_place_is_exhausted_only_at_the_end_of_a_log_to_which_nothing_comes(
    service: Service, world: World
) -> None:
    world.desk.script(ASK, Say("done"))
    said = await world.segment(await send(service, world))
    end = (await world.log.read(said.turn.num))[-1].seq
    places = [await service.streams.place(world.user, said.turn.id, seq) for seq in (0, end - 1, end)]
    assert [(place.after, place.exhausted, place.anew) for place in places] == [
        (0, False, False),
        (end - 1, False, False),
        (end, True, False),
    ]
    await world.resume(said, YES)
    assert not (await service.streams.place(world.user, said.turn.id, end)).exhausted


async def test_a_void_cursor_reads_its_segment_anew(service: Service, world: World) -> None:
    turn, log, end = await two_segments(service, world)
    beyond = await service.streams.place(world.user, turn.id, log[-1].seq + 1)
    assert (beyond.after, beyond.anew) == (end, True)
    other_attempt = await service.streams.place(world.user, turn.id, cursors.make(7, 2))
    assert (other_attempt.after, other_attempt.anew) == (0, True)


async def test_a_conversation_is_joined_at_its_newest_turn(service: Service, world: World) -> None:
    join = service.streams.join
    assert await join(world.user, world.conversation) is None
    turn, log, end = await two_segments(service, world)
    place = await join(world.user, world.conversation)
    assert place is not None
    assert (place.turn.id, place.after) == (turn.id, end)
    assert await join(world.user, world.conversation, turn.ordinal, log[-1].seq) is None
    world.desk.script(Say("next"))
    newer = await send(service, world, "more")
    await world.segment(newer)
    place = await join(world.user, world.conversation, turn.ordinal, log[-1].seq)
    assert place is not None
    assert (place.turn.id, place.after, place.anew) == (newer.id, 0, False)
    place = await join(world.user, world.conversation, turn.ordinal, 3)
    assert place is not None
    assert (place.turn.id, place.after) == (turn.id, 3)
    place = await join(world.user, world.conversation, 99, 3)
    assert place is not None
    assert (place.turn.id, place.anew) == (newer.id, True)


async def test_nobody_else_finds_a_place(service: Service, world: World) -> None:
    world.desk.script(Say("hello"))
    turn = await send(service, world)
    await world.segment(turn)
    with pytest.raises(NotFound):
        await service.streams.place("bob", turn.id, 0)
    with pytest.raises(NotFound):
        await service.streams.join("bob", world.conversation)


async def test_a_stream_ends_when_its_turn_is_deleted(service: Service, world: World) -> None:
    world.desk.script(ASK)
    turn = await send(service, world)
    said = await world.segment(turn)
    reading = asyncio.create_task(numbers(service.streams.read(turn, 0, until="turn")))
    await asyncio.sleep(0)
    await service.conversations.delete(world.user, world.conversation)
    assert await reading in ([], [*range(1, len(said.events) + 1)])


async def test_closed_storage_is_an_error_and_not_the_end_of_a_stream(service: Service, world: World) -> None:
    turn, _, _ = await two_segments(service, world)
    await world.engine.drain(0)
    await world.database.close()
    impatient = Streams(
        world.database, Log(world.database, patience=0.1), service.presence, service.long_reads
    )
    attempts: list[Any] = [
        service.streams.place(world.user, turn.id, 0),
        service.streams.join(world.user, world.conversation),
        numbers(impatient.read(turn, 0, until="turn")),
    ]
    for attempt in attempts:
        with pytest.raises(Unavailable):
            await attempt
