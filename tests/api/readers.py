"""A chat model that reads an artifact again and again. The file is copied into an agents folder."""

import json
from collections.abc import AsyncGenerator, Sequence

from caesura.core.messages import Message
from caesura.models.model import CallPart, Piece, Schema, Text


class Reader:
    """Reads the artifact `big` so many times in one reply, and then says how much it got."""

    def __init__(self, times: int = 40) -> None:
        self.times = times

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        results = [message.content for message in messages if message.role == "tool"]
        if results:
            told = sum("of memory together" in text for text in results)
            yield Text(f"{len(results)} results, {told} cut, {sum(map(len, results))} characters")
            return
        for number in range(self.times):
            yield CallPart(number, json.dumps({"id": "big"}), f"read-{number}", "read_artifact")
