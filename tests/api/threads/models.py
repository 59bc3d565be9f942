"""An operator's own chat models: variants of the demo model. The file is copied into an agents folder."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Literal

from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk

from caesura.agents import titles
from caesura.agents.demo.model import DemoModel


class Titler(DemoModel):
    """Replies like the demo model, but makes titles in its own way."""

    way: Literal["fail", "hang", "say"] = "say"
    title: str = ""
    takes: float = 0.0

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if titles.message_in(messages[-1].text) is None:
            async for chunk in super()._astream(messages, *args, **kwargs):
                yield chunk
            return
        if self.way == "fail":
            raise RuntimeError("no title today")
        if self.way == "hang":
            await asyncio.sleep(3600)
        await asyncio.sleep(self.takes)
        yield ChatGenerationChunk(message=AIMessageChunk(content=self.title, chunk_position="last"))


class Stuck(Titler):
    """Replies like the demo model, but never ends its reply to a tool's result."""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if isinstance(messages[-1], ToolMessage):
            yield ChatGenerationChunk(message=AIMessageChunk(content="and so "))
            await asyncio.sleep(3600)
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk


class Recorder(DemoModel):
    """Records its prompts, one line for each call."""

    trace: str

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if titles.message_in(messages[-1].text) is None:
            with open(self.trace, "a") as file:  # noqa: ASYNC230 - one short line
                file.write(json.dumps([[message.type, message.text] for message in messages]) + "\n")
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk
