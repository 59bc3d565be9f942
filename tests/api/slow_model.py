"""A demo model that is slow on demand: it stops before certain words of a tool call until it is released."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from langchain_core.outputs import ChatGenerationChunk

from caesura.agents.demo.model import DemoModel
from tests.api.slow_storage import Held


def hold_words(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[Held]:
    """Hold the model each time before it writes one of these words into the arguments of a tool call."""
    held = {word: Held() for word in words}
    inner = DemoModel._astream

    async def slow(self: DemoModel, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        async with aclosing(inner(self, *args, **options)) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                pieces = getattr(chunk.message, "tool_call_chunks", ())
                text = "".join(piece["args"] or "" for piece in pieces)
                for word in words:
                    if word in text:
                        await held[word].wait()
                yield chunk

    monkeypatch.setattr(DemoModel, "_astream", slow)
    return list(held.values())
