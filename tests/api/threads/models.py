"""An operator's own chat models: variants of the demo model. The file is copied into an agents folder."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal

from caesura.agents import titles
from caesura.agents.demo.model import DemoModel
from caesura.core.messages import Message
from caesura.models.model import Piece, Schema, Text


class Titler(DemoModel):
    """Replies like the demo model, but makes titles in its own way."""

    def __init__(
        self, way: Literal["fail", "hang", "say"] = "say", title: str = "", takes: float = 0.0, **options: Any
    ) -> None:
        super().__init__(**options)
        self._way, self._title, self._takes = way, title, takes

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if titles.message_in(messages[-1].content) is None:
            async for piece in super().stream(messages, tools):
                yield piece
            return
        if self._way == "fail":
            raise RuntimeError("no title today")
        if self._way == "hang":
            await asyncio.sleep(3600)
        await asyncio.sleep(self._takes)
        yield Text(self._title)


class Stuck(Titler):
    """Replies like the demo model, but never ends its reply to a tool's result."""

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if messages[-1].role == "tool":
            yield Text("and so ")
            await asyncio.sleep(3600)
        async for piece in super().stream(messages, tools):
            yield piece


class Recorder(DemoModel):
    """Records its prompts, one line for each call."""

    def __init__(self, trace: str, **options: Any) -> None:
        super().__init__(**options)
        self._trace = trace

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if titles.message_in(messages[-1].content) is None:
            with open(self._trace, "a") as file:  # noqa: ASYNC230 - one short line
                file.write(json.dumps([[message.role, message.content] for message in messages]) + "\n")
        async for piece in super().stream(messages, tools):
            yield piece
