"""What a reply has taken of the memory is free when it is over, however it ends."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from caesura.core.messages import Message
from caesura.models.connections import Connections
from caesura.models.failures import ModelError
from caesura.models.line import Exchange
from caesura.models.model import Model
from caesura.models.sse import Events, Unfinished
from tests.models.conftest import Make
from tests.models.samples import OPENAI
from tests.models.wire import STREAM, Wire, chunked, events, hangs, streams
from tests.waiting import until

ASKED = [Message("user", "Hello")]
LONG = b"data: " + b"x" * 200_000


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[weakref.WeakSet[object]]:
    """What was made to read replies and is still in memory. The garbage collector does not help."""
    made = weakref.WeakSet[object]()
    for kind in (Events, Exchange):
        monkeypatch.setattr(kind, "__init__", _noted(kind.__init__, made))
    gc.collect()
    gc.disable()
    yield made
    gc.enable()


def _noted(begin: object, made: weakref.WeakSet[object]) -> object:
    def noted(item: object, *given: object) -> None:
        made.add(item)
        begin(item, *given)  # type: ignore[operator]

    return noted


async def fault_of(model: Model) -> str:
    try:
        async for _ in model.stream(ASKED):
            pass
    except ModelError as error:
        return error.kind
    raise AssertionError("did not fail")


async def test_a_reply_that_fails_is_free_without_the_garbage_collector(
    provider: Wire, model: Make, connections: Connections, left: weakref.WeakSet[object]
) -> None:
    error = events({"error": {"message": "busy", "type": "rate_limit_exceeded"}})
    for answer, kind in (
        (hangs(STREAM, *chunked([LONG])), "silent"),
        (streams([LONG], ends=False), "broken"),
        (streams([*OPENAI.events[:3], *error, LONG]), "busy"),
    ):
        provider.answer(answer)
        assert await fault_of(model(idle_timeout=0.3)) == kind
        assert connections.unfinished.held == 0
        await until(lambda: not left)


async def test_a_reply_that_is_stopped_is_free_without_the_garbage_collector(
    provider: Wire, model: Make, connections: Connections, left: weakref.WeakSet[object]
) -> None:
    provider.answer(hangs(STREAM, *chunked([*OPENAI.events[:7], LONG])))
    reading = asyncio.create_task(fault_of(model()))
    await until(lambda: connections.unfinished.held > 0)
    reading.cancel()
    assert isinstance((await asyncio.gather(reading, return_exceptions=True))[0], asyncio.CancelledError)
    del reading
    await provider.gone.acquire()
    assert connections.unfinished.held == 0
    await until(lambda: not left)


def test_events_give_back_what_they_held() -> None:
    unfinished = Unfinished()
    reader = Events(unfinished)
    assert reader.feed(LONG) == []
    assert unfinished.held == len(LONG)
    assert reader.feed(b"\n\n") == [LONG.removeprefix(b"data: ")]
    assert unfinished.held == 0
    reader.feed(LONG)
    reader.close()
    assert unfinished.held == 0
    assert reader.end() == []


def test_the_unfinished_events_of_all_replies_are_bounded_together() -> None:
    unfinished = Unfinished(most=3 * len(LONG))
    readers = [Events(unfinished) for _ in range(4)]
    for reader in readers[:3]:
        reader.feed(LONG)
    with pytest.raises(ModelError, match="together"):
        readers[3].feed(LONG)
    assert readers[0].feed(b"\n\n"), "the end of an event is not refused"
    readers[3].close()
    assert Events(unfinished).feed(b"data: short") == []
    assert unfinished.held == 2 * len(LONG)
