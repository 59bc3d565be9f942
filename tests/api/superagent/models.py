"""An operator's own chat model. The file is copied into an agents folder."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from caesura.agents import titles
from caesura.agents.demo.model import DemoModel


class Speaker(DemoModel):
    """Says these pieces. Before each one after the first it waits until the file `gate` is there."""

    pieces: list[str]
    gate: str = ""

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        if titles.message_in(messages[-1].text) is not None:
            async for chunk in super()._astream(messages, *args, **kwargs):
                yield chunk
            return
        for number, piece in enumerate(self.pieces):
            while number and self.gate and not Path(self.gate).exists():  # noqa: ASYNC110, ASYNC240 - a test makes it
                await asyncio.sleep(0.01)
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", chunk_position="last"))
