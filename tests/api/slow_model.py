"""A demo model that is slow on demand: it stops before certain words of a tool call until it is released."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from caesura.agents.demo.model import DemoModel
from caesura.models.model import CallPart, Piece
from tests.api.slow_storage import Held


def hold_words(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[Held]:
    """Hold the model each time before it writes one of these words into the arguments of a tool call."""
    held = {word: Held() for word in words}
    inner = DemoModel.stream

    async def slow(self: DemoModel, *args: Any) -> AsyncGenerator[Piece, None]:
        async with aclosing(inner(self, *args)) as pieces:
            async for piece in pieces:
                text = piece.args if isinstance(piece, CallPart) else ""
                for word in words:
                    if word in text:
                        await held[word].wait()
                yield piece

    monkeypatch.setattr(DemoModel, "stream", slow)
    return list(held.values())
