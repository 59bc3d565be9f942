"""The model of a graph: LangChain's kind, with the replies of `Fixed`. A module, as that one is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from caesura.core.messages import Message
from tests.chaos.engine_model import Fixed


class FixedInGraph(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "fixed"

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        pieces, _ = Fixed("graph").plan(_ours(messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage("".join(pieces)))])

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        pieces, calls = Fixed("graph").plan(_ours(messages))
        for piece in pieces:
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
            await asyncio.sleep(0.015)  # so that each piece has a commit of its own
        chunks = [
            tool_call_chunk(name=name, args=args, id=id, index=place)
            for place, (id, name, args) in enumerate(calls)
        ]
        if chunks:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=chunks))


def _ours(messages: list[BaseMessage]) -> list[Message]:
    return [_message(message) for message in messages]


def _message(message: BaseMessage) -> Message:
    if isinstance(message, HumanMessage):
        return Message("user", str(message.text))
    return Message("tool" if isinstance(message, ToolMessage) else "assistant", str(message.text))
