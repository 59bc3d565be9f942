"""Replies in each protocol, with what a client must read in them."""

from __future__ import annotations

from typing import Any, NamedTuple

from caesura.models.model import CallPart, Finish, Kept, Piece, Reasoning, Text, Usage
from tests.models.wire import events


class Sample(NamedTuple):
    model: str
    events: list[bytes]
    pieces: list[Piece]


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    about = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "test"}
    return {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int | None, **function: str) -> dict[str, Any]:
    part: dict[str, Any] = {"function": {k: v for k, v in function.items() if k != "id"}}
    if "id" in function:
        part["id"] = function["id"]
    return part if index is None else {"index": index, **part}


OPENAI = Sample(
    "openai:test",
    [
        *events(
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning_content": "Let me see"}),
            chunk({"content": "Grüß "}),
        ),
        b": a comment\n\n",
        *events(
            chunk({"content": "Gott 你好"}),
            chunk({"tool_calls": [call(0, id="a", name="look", arguments="")]}),
            chunk({"tool_calls": [call(1, id="b", name="find", arguments='{"q":')]}),
            chunk({"tool_calls": [call(0, arguments="{}"), call(1, arguments="1}")]}),
            chunk({}, "tool_calls"),
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 20,
                    "completion_tokens": 9,
                    "total_tokens": 29,
                    "prompt_tokens_details": {"cached_tokens": 16},
                    "completion_tokens_details": {"reasoning_tokens": 4},
                },
            },
            "[DONE]",
        ),
    ],
    [
        Reasoning("Let me see"),
        Text("Grüß "),
        Text("Gott 你好"),
        CallPart(0, "", "a", "look"),
        CallPart(1, '{"q":', "b", "find"),
        CallPart(0, "{}"),
        CallPart(1, "1}"),
        Usage(
            {
                "input_tokens": 20,
                "output_tokens": 9,
                "total_tokens": 29,
                "cache_read_tokens": 16,
                "reasoning_tokens": 4,
            }
        ),
        Finish("tool_calls"),
    ],
)


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    start = {"type": "content_block_start", "index": index, "content_block": content}
    parts = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [start, *parts, {"type": "content_block_stop", "index": index}]


def named(*data: dict[str, Any]) -> list[bytes]:
    """Each as an event that also has its name."""
    return [
        b"event: %b\n%b" % (item["type"].encode(), event)
        for item, event in zip(data, events(*data), strict=True)
    ]


def opening(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}


def closing(reason: str, **usage: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


ANTHROPIC = Sample(
    "anthropic:claude-test",
    named(
        opening(input_tokens=4, cache_read_input_tokens=10, cache_creation_input_tokens=6, output_tokens=1),
        {"type": "ping"},
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Let me "},
            {"type": "thinking_delta", "thinking": "see"},
            {"type": "signature_delta", "signature": "c2ln"},
        ),
        *block(1, {"type": "redacted_thinking", "data": "c2VjcmV0"}),
        *block(
            2,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "Grüß "},
            {"type": "text_delta", "text": "Gott 你好"},
        ),
        *block(
            3,
            {"type": "tool_use", "id": "a", "name": "find", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"q":'},
            {"type": "input_json_delta", "partial_json": "1}"},
        ),
        *block(4, {"type": "tool_use", "id": "b", "name": "look", "input": {}}),
        *closing("tool_use", output_tokens=9, output_tokens_details={"thinking_tokens": 4}),
    ),
    [
        Reasoning("Let me "),
        Reasoning("see"),
        Kept({"type": "thinking", "thinking": "Let me see", "signature": "c2ln"}),
        Kept({"type": "redacted_thinking", "data": "c2VjcmV0"}),
        Text("Grüß "),
        Text("Gott 你好"),
        CallPart(3, "", "a", "find"),
        CallPart(3, '{"q":'),
        CallPart(3, "1}"),
        CallPart(4, "", "b", "look"),
        CallPart(4, "{}"),
        Usage(
            {
                "input_tokens": 20,
                "output_tokens": 9,
                "total_tokens": 29,
                "cache_read_tokens": 10,
                "cache_write_tokens": 6,
                "reasoning_tokens": 4,
            }
        ),
        Finish("tool_use"),
    ],
)
SAMPLES = [OPENAI, ANTHROPIC]
