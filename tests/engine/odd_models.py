"""Chat models that handle cancellation wrongly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import ClassVar

from caesura.agents import titles
from caesura.core.messages import Message
from caesura.models.model import CallPart, Piece, Schema, Text


class Swallows:
    """Produces a word now and then, for ever, and ignores cancellation."""

    closed: ClassVar[list[str]] = []

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        try:
            while True:
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    await asyncio.sleep(0)
                yield Text("on ")
        finally:
            self.closed.append("closed")


class Hesitates:
    """Ignores its first cancellation, and obeys the second."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text("well ")
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        await asyncio.sleep(3600)


class EndsAnyway:
    """Asks for a tool. When it is cancelled, it ends its answer as if nothing had happened."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text("well ")
        yield CallPart(0, '{"text": "a"}', "note-1", "note")
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


class Chatters:
    """Produces one word after the other, for ever, and never awaits anything."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        while True:
            await asyncio.sleep(0)
            yield Text("on ")


class Strays:
    """Raises `CancelledError` although nobody cancelled it."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text("well ")
        raise asyncio.CancelledError


class Traced:
    """Records when each of its calls begins. It yields to the event loop before its first word."""

    trace: ClassVar[list[str]] = []

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if titles.message_in(messages[-1].content) is not None:
            self.trace.append("title begins")
            yield Text(await self._title())
            return
        self.trace.append("answer begins")
        for _ in range(20):
            await asyncio.sleep(0.005)
        yield Text("well ")
        yield Text("done")

    async def _title(self) -> str:
        return "A title"


class DeafTitle(Traced):
    """Ignores cancellation while it makes a title, and returns the title when `heard` is set."""

    heard: ClassVar[asyncio.Event]

    async def _title(self) -> str:
        while not self.heard.is_set():
            with suppress(asyncio.CancelledError):
                await self.heard.wait()
        self.trace.append("title made")
        return "Too late"


class Exits:
    """Raises an exception that would end the whole program."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text("well ")
        raise ENDS[self._kind]


class Blocks:
    """Blocks the event loop for ever."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text("well ")
        await asyncio.sleep(0.5)
        while True:
            time.sleep(60)  # noqa: ASYNC251 - the fault that is meant


class AtOnce:
    """Says all of a long reply in one piece, as a model does that cannot stream."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text("0123456789" * 10_000)


ENDS: dict[str, BaseException] = {
    "SystemExit": SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt(),
    "GeneratorExit": GeneratorExit(),
    "BaseExceptionGroup": BaseExceptionGroup("several", [asyncio.CancelledError()]),
}
