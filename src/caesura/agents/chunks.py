"""Reads a piece of a model's answer: its text, its reasoning, its usage. Called for every token."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

#: The largest number of tokens, which every JSON parser can represent exactly.
_MOST = 2**53 - 1


def text_of(message: AIMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(_text(block) for block in content)


def reasoning_of(message: AIMessage) -> str:
    if message.additional_kwargs:
        reasoning = message.additional_kwargs.get("reasoning_content")
        if isinstance(reasoning, str):
            return reasoning
    content = message.content
    if isinstance(content, str):
        return ""
    return "".join(_reasoning(block) for block in content if isinstance(block, dict))


def usage_of(message: AIMessage) -> dict[str, int] | None:
    """Input and output tokens, and how many of them were cached or used for reasoning, if the provider
    reports it."""
    usage = message.usage_metadata
    if not usage:
        return None
    counts = {name: _count(usage[name]) for name in ("input_tokens", "output_tokens", "total_tokens")}
    cached = usage.get("input_token_details", {}).get("cache_read")
    reasoned = usage.get("output_token_details", {}).get("reasoning")
    return counts | _present(cache_read_tokens=_count(cached), reasoning_tokens=_count(reasoned))


def _count(reported: object) -> int:
    """A reported number of tokens as a valid count: a provider may report anything."""
    return min(max(reported, 0), _MOST) if isinstance(reported, int) else 0


def _text(block: str | dict[Any, Any]) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type") in ("text", "text_delta", "output_text", None) else ""
    return text if isinstance(text, str) else ""


def _reasoning(block: dict[Any, Any]) -> str:
    kind = block.get("type")
    if kind == "thinking":
        said = block.get("thinking", "")
    elif kind == "reasoning":
        said = block.get("reasoning") or "".join(_text(part) for part in _summary(block))
    elif kind == "reasoning_content":
        said = block.get("reasoning_content")
        said = said.get("text") if isinstance(said, dict) else said
    else:
        return ""
    return said if isinstance(said, str) else ""


def _summary(block: dict[Any, Any]) -> list[dict[Any, Any]]:
    parts = block.get("summary")
    found = parts if isinstance(parts, list) else []
    return [{"text": part.get("text")} for part in found if isinstance(part, dict)]


def _present(**counts: int) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
