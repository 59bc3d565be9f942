"""Text, reasoning and usage of a chunk of LangChain, whoever made it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from caesura.engine.speech import counted
from caesura.models.langchain_chunks import reasoning_of, text_of, usage_of


@pytest.mark.parametrize(
    ("content", "extra", "text", "reasoning"),
    [
        ("hello", {}, "hello", ""),
        ("", {"reasoning_content": "hm"}, "", "hm"),
        ("", {"reasoning_content": None}, "", ""),
        ("", {"other": 1}, "", ""),
        ([{"type": "text", "text": "a", "index": 0}], {}, "a", ""),
        ([{"type": "thinking", "thinking": "hm", "index": 0}], {}, "", "hm"),
        ([{"type": "thinking", "signature": "x"}], {}, "", ""),
        ([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "a"}], {}, "a", "hm"),
        ([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}], {}, "", "hm"),
        ([{"type": "reasoning", "summary": "odd"}], {}, "", ""),
        ([{"type": "input_json_delta", "partial_json": "{"}, {"type": "tool_use", "name": "x"}], {}, "", ""),
        (["a", "b"], {}, "ab", ""),
        ([{"type": "text", "text": None}], {}, "", ""),
    ],
)
def test_text_and_reasoning_are_told_apart(
    content: Any, extra: dict[str, Any], text: str, reasoning: str
) -> None:
    chunk = AIMessageChunk(content=content, additional_kwargs=extra)
    assert (text_of(chunk), reasoning_of(chunk)) == (text, reasoning)


def test_usage_is_flat_and_omits_unreported_counts() -> None:
    chunk = AIMessageChunk(
        content="",
        usage_metadata={
            "input_tokens": 3,
            "output_tokens": 4,
            "total_tokens": 7,
            "input_token_details": {"cache_read": 2, "cache_creation": 1},
            "output_token_details": {"reasoning": 1, "audio": 0},
        },
    )
    assert counted(usage_of(chunk) or {}) == {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "cache_read_tokens": 2,
        "cache_write_tokens": 1,
        "reasoning_tokens": 1,
    }
    assert usage_of(AIMessageChunk(content="")) is None


@pytest.mark.parametrize("reported", [-1, 10**30, 2**63, "7", 1.5, None])
def test_usage_is_limited_to_exact_json_integers(reported: Any) -> None:
    chunk = AIMessageChunk(content="")
    object.__setattr__(
        chunk,
        "usage_metadata",
        {"input_tokens": reported, "output_tokens": 4, "input_token_details": {"cache_read": reported}}
        | {"total_tokens": reported},
    )
    found = counted(usage_of(chunk) or {})
    assert all(type(count) is int for count in found.values())
    assert all(0 <= count < 2**53 for count in found.values())
    assert found["output_tokens"] == 4


@pytest.mark.parametrize(
    "pieces",
    [
        [[{"type": "text", "text": None}, {"type": "image"}, "x", {"text": 5}]],
        [[{"type": "text", "text": "x", "index": 0}], [{"type": "text", "text": 5, "index": 0}]],
        [[{"type": "text", "text": ["a"], "index": 0}], ["x"], [{"type": "text", "text": {}, "index": 0}]],
        [["x"], [{"type": "image", "index": {}}]],
    ],
)
def test_odd_blocks_hold_no_text(pieces: list[list[Any]]) -> None:
    """What can be read is used."""
    assert "".join(text_of(AIMessageChunk(content=piece)) for piece in pieces) == "x"


def test_reasoning_may_be_a_bare_text() -> None:
    block: dict[Any, Any] = {"type": "reasoning_content", "reasoning_content": "hm"}
    assert reasoning_of(AIMessageChunk(content=[block])) == "hm"
