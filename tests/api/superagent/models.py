"""An operator's own chat model. The file is copied into an agents folder."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from caesura.agents import titles
from caesura.agents.demo.model import DemoModel
from caesura.core.messages import Message
from caesura.models.model import Piece, Schema, Text


class Speaker(DemoModel):
    """Says these pieces. Before each one after the first it waits until the file `gate` is there."""

    def __init__(self, pieces: list[str], gate: str = "", **options: Any) -> None:
        super().__init__(**options)
        self._said, self._gate = pieces, gate

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if titles.message_in(messages[-1].content) is not None:
            async for piece in super().stream(messages, tools):
                yield piece
            return
        for number, text in enumerate(self._said):
            while number and self._gate and not Path(self._gate).exists():  # noqa: ASYNC110, ASYNC240 - a test makes it
                await asyncio.sleep(0.01)
            yield Text(text)
