"""A model that costs little: it says as many words as it is told to, at the pace it is told to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence

from caesura.agents import titles
from caesura.core.messages import Message
from caesura.models.model import CallPart, Piece, Schema, Text

WORDS = tuple(f"w{number:03} " for number in range(100))
#: The words of a title. It has its price: a few words, at the same pace as all others.
TITLE = 4


class Parrot:
    """Asked to `look`, it calls list_files first, which the agent needs approval for. With a `clock` its
    words are the times at which it says them."""

    label = "Parrot"

    def __init__(self, tokens: int = 200, delay: float = 0.0, clock: bool = False) -> None:
        self._tokens, self._delay, self._clock = tokens, delay, clock

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        last = messages[-1]
        if last.content == "look" and last.role == "user":
            yield CallPart(0, '{"path": "."}', "c1", "list_files")
            return
        count = self._tokens if titles.message_in(last.content) is None else TITLE
        for number in range(count):
            await asyncio.sleep(self._delay)  # as for a network, which lets others work before every word
            yield Text(word(number, self._clock))


def word(number: int, clock: bool) -> str:
    return f"{time.monotonic_ns()} " if clock else WORDS[number % 100]
