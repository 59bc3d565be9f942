"""The parrot as a chat model of LangChain, for the baselines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from bench.parrot import TITLE, word


class LangChainParrot(BaseChatModel):
    """Asked to `look`, it calls list_files first, which the agent needs approval for."""

    tokens: int = 200
    delay: float = 0.0
    #: Its words are the times at which it says them.
    clock: bool = False

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("only asked in the loop")

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        """A title has its price: a few words, at the same pace as all others."""
        words = [chunk.text async for chunk in self._words(TITLE)]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("".join(words)))])

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if messages[-1].text == "look" and not isinstance(messages[-1], ToolMessage):
            call: Any = {"name": "list_files", "args": '{"path": "."}', "id": "c1", "index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[call]))
            return
        async for chunk in self._words(self.tokens):
            yield chunk

    async def _words(self, count: int) -> AsyncIterator[ChatGenerationChunk]:
        for number in range(count):
            await asyncio.sleep(self.delay)  # as for a network, which lets others work before every word
            yield ChatGenerationChunk(message=AIMessageChunk(content=word(number, self.clock)))
