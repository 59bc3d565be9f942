"""Pieces of a reply with content that no provider should send: what can be read is used."""

from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from caesura.engine.speech import Reply, reasoning_of, text_of


@pytest.mark.parametrize(
    "pieces",
    [
        [[{"type": "text", "text": None}, {"type": "image"}, "x", {"text": 5}]],
        [[{"type": "text", "text": "x", "index": 0}], [{"type": "text", "text": 5, "index": 0}]],
        [[{"type": "text", "text": ["a"], "index": 0}], ["x"], [{"type": "text", "text": {}, "index": 0}]],
        [["x"], [{"type": "image", "index": {}}]],
    ],
)
def test_odd_blocks_are_left_out_of_a_reply(pieces: list[list[Any]]) -> None:
    reply, chunks = Reply(), [AIMessageChunk(content=piece) for piece in pieces]
    for chunk in chunks:
        reply.add(chunk)
    assert "".join(text_of(chunk) for chunk in chunks) == "x"
    assert text_of(reply.message()) == "x"


def test_reasoning_may_be_a_bare_text() -> None:
    block: dict[Any, Any] = {"type": "reasoning_content", "reasoning_content": "hm"}
    assert reasoning_of(AIMessageChunk(content=[block])) == "hm"
