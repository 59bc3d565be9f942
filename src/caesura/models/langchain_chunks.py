"""What the messages of LangChain's models hold: text, reasoning, tool calls, usage, and why they ended."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from caesura.core import json_data

#: The types of providers' content blocks that hold a tool call or its arguments.
CALL_BLOCKS = ("tool_use", "input_json_delta", "function_call", "tool_call_chunk", "tool_call")
#: The types of those that hold text.
TEXT_BLOCKS = ("text", "text_delta", "output_text", None)


def chunk(piece: Any) -> AIMessageChunk:
    """A piece of a model's stream as a chunk of a message."""
    if isinstance(piece, ChatGenerationChunk):
        made: Any = piece.message
        if piece.generation_info:
            made.response_metadata = {**made.response_metadata, **piece.generation_info}
        return made  # type: ignore[no-any-return]
    return piece if isinstance(piece, AIMessageChunk) else _as_chunk(piece)


def _as_chunk(message: AIMessage) -> AIMessageChunk:
    return AIMessageChunk(
        content=message.content,
        id=message.id,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        additional_kwargs=message.additional_kwargs,
        tool_call_chunks=[
            tool_call_chunk(
                name=call["name"], args=json_data.dumps(call["args"]).decode(), id=call["id"], index=index
            )
            for index, call in enumerate(message.tool_calls)
        ]
        + [
            tool_call_chunk(name=call["name"], args=call["args"], id=call["id"])
            for call in message.invalid_tool_calls
        ],
    )


def text_of(message: AIMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(_block_text(block) for block in content)


def reasoning_of(message: AIMessage) -> str:
    if message.additional_kwargs:
        reasoning = message.additional_kwargs.get("reasoning_content")
        if isinstance(reasoning, str):
            return reasoning
    content = message.content
    if isinstance(content, str):
        return ""
    return "".join(_block_reasoning(block) for block in content if isinstance(block, dict))


def usage_of(message: AIMessage) -> dict[str, int] | None:
    """Input and output tokens, and how many of them were cached or used for reasoning, if the provider
    reports it."""
    usage = message.usage_metadata
    if not usage:
        return None
    counts: dict[str, Any] = {name: usage[name] for name in ("input_tokens", "output_tokens", "total_tokens")}
    read, written = usage.get("input_token_details", {}), usage.get("output_token_details", {})
    counts["cache_read_tokens"] = read.get("cache_read")
    counts["cache_write_tokens"] = read.get("cache_creation")
    counts["reasoning_tokens"] = written.get("reasoning")
    return counts


def tool_calls(message: AIMessage) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"id": call["id"], "name": call["name"], "args": call["args"]} for call in message.tool_calls
    )


def finish_reason(message: AIMessage) -> str | None:
    about = message.response_metadata
    reason = about.get("finish_reason") or about.get("stop_reason")
    return reason if isinstance(reason, str) else None


def _block_text(block: str | dict[Any, Any]) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type") in TEXT_BLOCKS else ""
    return text if isinstance(text, str) else ""


def _block_reasoning(block: dict[Any, Any]) -> str:
    kind = block.get("type")
    if kind == "thinking":
        said = block.get("thinking", "")
    elif kind == "reasoning":
        said = block.get("reasoning") or "".join(_block_text(part) for part in _summary(block))
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
