"""Chat models that handle cancellation wrongly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class _Odd(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "odd"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        raise RuntimeError("it only streams")


class Swallows(_Odd):
    """Produces a word now and then, for ever, and ignores cancellation."""

    closed: ClassVar[list[str]] = []

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        try:
            while True:
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    await asyncio.sleep(0)
                yield ChatGenerationChunk(message=AIMessageChunk(content="on "))
        finally:
            self.closed.append("closed")


class Hesitates(_Odd):
    """Ignores its first cancellation, and obeys the second."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content="well "))
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        await asyncio.sleep(3600)


class EndsAnyway(_Odd):
    """Asks for a tool. When it is cancelled, it ends its answer as if nothing had happened."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = tool_call_chunk(name="note", args='{"text": "a"}', id="note-1", index=0)
        yield ChatGenerationChunk(message=AIMessageChunk(content="well ", tool_call_chunks=[call]))
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


class Chatters(_Odd):
    """Produces one word after the other, for ever, and never awaits anything."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        while True:
            await asyncio.sleep(0)
            yield ChatGenerationChunk(message=AIMessageChunk(content="on "))


class Strays(_Odd):
    """Raises `CancelledError` although nobody cancelled it."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content="well "))
        raise asyncio.CancelledError


class Traced(_Odd):
    """Records when each of its calls begins. It yields to the event loop before its first word."""

    trace: ClassVar[list[str]] = []

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.trace.append("answer begins")
        for _ in range(20):
            await asyncio.sleep(0.005)
        yield ChatGenerationChunk(message=AIMessageChunk(content="well "))
        yield ChatGenerationChunk(message=AIMessageChunk(content="done"))

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.trace.append("title begins")
        return _whole("A title")


class DeafTitle(Traced):
    """Ignores cancellation while it makes a title, and returns the title when `heard` is set."""

    heard: ClassVar[asyncio.Event]

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        self.trace.append("title begins")
        while not self.heard.is_set():
            with suppress(asyncio.CancelledError):
                await self.heard.wait()
        self.trace.append("title made")
        return _whole("Too late")


def _whole(text: str) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


class Exits(_Odd):
    """Raises an exception that would end the whole program."""

    kind: str

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content="well "))
        raise ENDS[self.kind]


class Blocks(_Odd):
    """Blocks the event loop for ever."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content="well "))
        await asyncio.sleep(0.5)
        while True:
            time.sleep(60)  # noqa: ASYNC251 - the fault that is meant


class AtOnce(_Odd):
    """Says all of a long reply in one piece, as a model does that cannot stream."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content="0123456789" * 10_000))


ENDS: dict[str, BaseException] = {
    "SystemExit": SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt(),
    "GeneratorExit": GeneratorExit(),
    "BaseExceptionGroup": BaseExceptionGroup("several", [asyncio.CancelledError()]),
}
