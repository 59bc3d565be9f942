"""A chat model that reads an artifact again and again. The file is copied into an agents folder."""

import json
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult


class Reader(BaseChatModel):
    """Reads the artifact `big` so many times in one reply, and then says how much it got."""

    times: int = 40

    @property
    def _llm_type(self) -> str:
        return "reader"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        raise RuntimeError("it only streams")

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        results = [message.text for message in messages if isinstance(message, ToolMessage)]
        if results:
            told = sum("of memory together" in text for text in results)
            text = f"{len(results)} results, {told} cut, {sum(map(len, results))} characters"
            yield ChatGenerationChunk(message=AIMessageChunk(content=text))
            return
        calls = [
            tool_call_chunk(name="read_artifact", args=json.dumps({"id": "big"}), id=f"read-{n}", index=n)
            for n in range(self.times)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))
