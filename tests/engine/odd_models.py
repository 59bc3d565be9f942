"""Chat models whose code treats cancellation in ways that it should not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, ClassVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult


class _Odd(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "odd"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        raise RuntimeError("it only streams")


class Swallows(_Odd):
    """Says a word now and then, for ever, and takes no notice of a cancellation."""

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


class Strays(_Odd):
    """Says that it was cancelled, which it was not."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content="well "))
        raise asyncio.CancelledError
