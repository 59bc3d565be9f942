"""What Anthropic demands of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_SAMPLING = ("temperature", "top_p", "top_k")


def fault_in(headers: Mapping[str, str], asked: dict[str, Any]) -> str | None:
    """Why the real one would refuse this request; None when it would not."""
    version = headers.get("anthropic-version")
    if version not in ("2023-06-01", "2026-10-21"):
        return f"anthropic-version: {version} is not a valid version"
    if version == "2026-10-21" and (given := [name for name in _SAMPLING if name in asked]):
        return f"{given[0]}: Extra inputs are not permitted"
    if not isinstance(asked.get("max_tokens"), int):
        return "max_tokens: Field required"
    for block in asked.get("system") or ():
        if not block["text"].strip():
            return "system: text content blocks must be non-empty"
    marks = [b for b in _blocks(asked) if "cache_control" in b]
    if len(marks) > 4:
        return "A maximum of 4 blocks with cache_control may be provided"
    return _fault_in(asked["messages"])


def _blocks(asked: dict[str, Any]) -> list[dict[str, Any]]:
    said = [block for message in asked["messages"] for block in message["content"]]
    return [*(asked.get("system") or ()), *(asked.get("tools") or ()), *said]


def _fault_in(messages: Sequence[dict[str, Any]]) -> str | None:
    if not messages or messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    if messages[-1]["role"] != "user":
        return "This model does not support assistant message prefill"
    seen: set[str] = set()
    wanted: list[str] = []
    for place, message in enumerate(messages):
        if place and message["role"] == messages[place - 1]["role"]:
            return f"messages.{place}: roles must alternate"
        blocks = message["content"]
        if not blocks:
            return f"messages.{place}: content must not be empty"
        fault = _fault(message["role"], blocks, wanted)
        if fault:
            return f"messages.{place}: {fault}"
        wanted = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(wanted)) < len(wanted) or seen & set(wanted):
            return f"messages.{place}: `tool_use` ids must be unique"
        seen |= set(wanted)
    return None


def _fault(role: str, blocks: Sequence[dict[str, Any]], wanted: Sequence[str]) -> str | None:
    kinds = [block["type"] for block in blocks]
    if any(not block["text"].strip() for block in blocks if block["type"] == "text"):
        return "text content blocks must contain non-whitespace text"
    for block in blocks:
        if block["type"] in ("thinking", "redacted_thinking") and "cache_control" in block:
            return "thinking blocks cannot be cached"
    if role == "assistant":
        if set(kinds) - {"text", "thinking", "redacted_thinking", "tool_use"}:
            return f"unexpected blocks {kinds}"
        ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if any(not set(given) <= set(_ID) for given in ids):
            return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        return "the final block cannot be thinking" if kinds[-1].endswith("thinking") else None
    if set(kinds) - {"text", "tool_result"}:
        return f"unexpected blocks {kinds}"
    results = [block for block in blocks if block["type"] == "tool_result"]
    if [block["type"] for block in blocks[: len(results)]] != ["tool_result"] * len(results):
        return "tool_result blocks must come first"
    if any(block.get("is_error") and not block.get("content") for block in results):
        return "content cannot be empty if `is_error` is true"
    found = [block["tool_use_id"] for block in results]
    if sorted(found) != sorted(wanted):
        return f"`tool_use` ids {list(wanted)} need `tool_result` blocks, there are {found}"
    return None


_ID = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
