"""What the server can be told to answer, and how that looks on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

USAGE = {"input_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}


@dataclass(frozen=True)
class Thought:
    """A block of thinking; a redacted one has only data."""

    text: str = "Hm."
    signature: str = "c2ln"
    redacted: str | None = None

    @property
    def block(self) -> dict[str, Any]:
        if self.redacted is not None:
            return {"type": "redacted_thinking", "data": self.redacted}
        return {"type": "thinking", "thinking": self.text, "signature": self.signature}


@dataclass(frozen=True)
class Use:
    """A call of a tool."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str = "toolu_1"


@dataclass(frozen=True)
class Answer:
    """Blocks in their order: thoughts, texts, uses of tools. `explanation` is a refusal's. `pause` is between
    the events."""

    blocks: Sequence[Thought | str | Use] = ()
    reason: str | None = None
    explanation: str | None = None
    pause: float = 0.0

    def events(self) -> Iterator[dict[str, Any]]:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": "claude-test",
        }
        yield {"type": "message_start", "message": {**message, "usage": {**USAGE, "output_tokens": 1}}}
        yield {"type": "ping"}
        for index, block in enumerate(self.blocks):
            for event in _block(block):
                yield {**event, "index": index}
        uses = any(isinstance(block, Use) for block in self.blocks)
        delta: dict[str, Any] = {"stop_reason": self.reason or ("tool_use" if uses else "end_turn")}
        if self.explanation is not None:
            delta["stop_details"] = {"type": "refusal", "category": None, "explanation": self.explanation}
        usage = {"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}}
        yield {"type": "message_delta", "delta": delta, "usage": usage}
        yield {"type": "message_stop"}


def _block(block: Thought | str | Use) -> Iterator[dict[str, Any]]:
    start, delta, stop = "content_block_start", "content_block_delta", "content_block_stop"
    if isinstance(block, str):
        yield {"type": start, "content_block": {"type": "text", "text": ""}}
        for word in block.split(" "):
            yield {"type": delta, "delta": {"type": "text_delta", "text": f"{word} "}}
    elif isinstance(block, Use):
        yield {
            "type": start,
            "content_block": {"type": "tool_use", "id": block.id, "name": block.name, "input": {}},
        }
        text = json.dumps(dict(block.input))
        for part in (text[: len(text) // 2], text[len(text) // 2 :]):
            yield {"type": delta, "delta": {"type": "input_json_delta", "partial_json": part}}
    elif block.redacted is not None:
        yield {"type": start, "content_block": block.block}
    else:
        yield {"type": start, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}
        yield {"type": delta, "delta": {"type": "thinking_delta", "thinking": block.text}}
        yield {"type": delta, "delta": {"type": "signature_delta", "signature": block.signature}}
    yield {"type": stop}


@dataclass(frozen=True)
class Broken:
    """So many events of an answer, and then the connection is gone."""

    answer: Answer
    events: int


@dataclass(frozen=True)
class Error:
    """So many events of an answer, and then an error inside the stream."""

    answer: Answer
    events: int
    type: str = "overloaded_error"


@dataclass(frozen=True)
class Hang:
    """So many events of an answer, and then nothing more, for as long as the client waits."""

    answer: Answer = Answer()
    events: int = 0


@dataclass(frozen=True)
class Refusal:
    """An error in place of an answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    type: str = "invalid_request_error"
    message: str = "refused"


Reply = Answer | Broken | Error | Hang | Refusal
