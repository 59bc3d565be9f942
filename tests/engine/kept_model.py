"""A model whose provider wants blocks back, as long as a turn lasts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, ClassVar

from caesura.agents import titles
from caesura.core.messages import Message
from caesura.models.model import CallPart, Kept, Piece, Reasoning, Schema, Text

#: The first reply keeps these.
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"},
    {"type": "redacted_thinking", "data": "c2VjcmV0"},
]


class Thinks:
    """Calls this tool first, and then says something. It notes every prompt."""

    prompts: ClassVar[list[list[Message]]] = []

    def __init__(self, tool: str, args: str = '{"text": "a"}', size: int = 0) -> None:
        self._tool, self._args = tool, args
        self._blocks = [{"data": "x" * size}] if size else BLOCKS

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if titles.message_in(messages[-1].content) is not None:
            yield Text("A title")
            return
        self.prompts.append(list(messages))
        if messages[-1].role == "user":
            yield Reasoning("hm")
            for block in self._blocks:
                yield Kept(block)
            yield Text("I call.")
            yield CallPart(0, self._args, f"call-{len(messages)}", self._tool)
        else:
            yield Text("done")
