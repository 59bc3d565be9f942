"""Events to write, and readers to read them with."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing

from caesura.core.events import Envelope, Event, TextDelta
from caesura.log import WINDOW, Log, Stream

PATIENCE = 60.0


async def rest() -> None:
    """Let other tasks run, for a random time."""
    if random.random() < 0.1:
        await asyncio.sleep(random.random() / 500)
    else:
        await asyncio.sleep(0)


def word(turn: int, seq: int) -> Event:
    """An event whose text says where it belongs."""
    return TextDelta(turn, str(seq))


async def write(stream: Stream, last: int, pause: Callable[[], Awaitable[None]] = rest) -> None:
    """Put the words up to this number, with random pauses, and wait until they are committed."""
    for seq in range(stream.last + 1, last + 1):
        stream.put(word(stream.turn, seq))
        await pause()
    await stream.commit()


def words(first: int, last: int) -> list[Event]:
    """One event for each number. Its text says the number."""
    return [TextDelta(1, str(number)) for number in range(first, last + 1)]


def places(envelopes: Iterable[Envelope]) -> list[int]:
    return [envelope.seq for envelope in envelopes]


def said(envelopes: Iterable[Envelope]) -> list[str]:
    return [envelope.event.text for envelope in envelopes if isinstance(envelope.event, TextDelta)]


async def stored(log: Log, turn: int, after: int = 0) -> list[Envelope]:
    """All events, read from the rows."""
    found: list[Envelope] = []
    while more := await log.read(turn, found[-1].seq if found else after):
        found += more
    return found


async def followed(log: Log, turn: int, after: int, last: int) -> list[Envelope]:
    """The events a reader gets up to event `last`."""
    found: list[Envelope] = []
    async with asyncio.timeout(PATIENCE):
        reader = log.follow(turn, after)
        while after < last:
            found += await anext(reader)
            after = found[-1].seq
        await reader.aclose()
    return found


async def check(
    log: Log, turn: int, last: int, after: int = 0, pause: Callable[[], Awaitable[None]] = rest
) -> int:
    """Follow to event `last` and check every step: no gap, no repeat, nothing out of place."""
    async with asyncio.timeout(PATIENCE), aclosing(log.follow(turn, after)) as found:
        async for envelopes in found:
            assert envelopes
            assert len(envelopes) <= WINDOW
            for envelope in envelopes:
                after += 1
                assert envelope.seq == after
                assert envelope.event == word(turn, after)
            if after >= last:
                return after
            await pause()
    raise AssertionError(f"the log of turn {turn} ended at {after}")
