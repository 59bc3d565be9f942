"""Replies of Anthropic's messages."""

from __future__ import annotations

from typing import Any

from caesura.core import json_data
from caesura.models.anthropic.blocks import PLACE, THOUGHTS
from caesura.models.halves import TEXT, THOUGHT, joined
from caesura.models.model import CallPart, Finish, Kept, Piece, Reasoning, Text, Usage
from caesura.models.replies import Reply, count, string, word

_DECLINED = "The model has declined to answer."


class MessageReply(Reply):
    def __init__(self, host: str, secrets: tuple[str, ...]) -> None:
        super().__init__(host, secrets)
        self._usage: dict[str, Any] = {}
        self._explained: str | None = None
        #: The blocks that are not complete, by index: thoughts and calls.
        self._open: dict[Any, dict[str, Any]] = {}
        self._characters = self._calls = 0

    def _read(self, event: Any, pieces: list[Piece]) -> None:
        kind = event["type"]
        if kind == "content_block_delta":
            self._delta(event["index"], event["delta"], pieces)
        elif kind == "content_block_start":
            self._start(event["index"], event["content_block"], pieces)
        elif kind == "content_block_stop":
            self._stop(event["index"], pieces)
        elif kind == "message_start":
            self._count(event["message"].get("usage"))
        elif kind == "message_delta":
            self._finish(event.get("delta") or {})
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.complete = self.ended = True
        elif kind == "error":
            raise self._refused(event.get("error") or event)
        elif kind == "message":
            self._message(event, pieces)

    def _delta(self, index: Any, delta: dict[str, Any], pieces: list[Piece]) -> None:
        kind = delta["type"]
        if kind == "text_delta":
            self._text(delta["text"], pieces)
        elif kind == "input_json_delta":
            if part := string(delta["partial_json"]):
                self._open[index]["written"] = True
                pieces.append(CallPart(index, self._text_of(part, index)))
        elif kind == "thinking_delta":
            thought = delta["thinking"]
            self._open[index]["thinking"].append(self._keep(thought))
            self._think(thought, pieces)
        elif kind == "signature_delta":
            self._open[index]["signature"].append(self._keep(delta["signature"]))

    def _start(self, index: Any, block: dict[str, Any], pieces: list[Piece]) -> None:
        kind = block["type"]
        if kind == "text":
            self._text(block.get("text"), pieces)
        elif kind == "tool_use":
            self._open[index] = {"type": kind, "written": False, "input": block.get("input")}
            self._calls += 1
            self._count_call(self._calls)
            pieces.append(CallPart(index, "", word(block["id"]), word(block["name"])))
        elif kind == "thinking":
            thought = self._keep(block.get("thinking") or "")
            signature = self._keep(block.get("signature") or "")
            self._open[index] = {"type": kind, "thinking": [thought], "signature": [signature]}
            self._think(thought, pieces)
        elif kind == "redacted_thinking":
            self._keep(block["data"])
            self._open[index] = block
        self._count_call(len(self._open))

    def _stop(self, index: Any, pieces: list[Piece]) -> None:
        block = self._open.pop(index, None)
        if block is None:
            return
        if block["type"] == "tool_use":
            if not block["written"]:
                pieces.append(CallPart(index, json_data.dumps(block["input"] or {}).decode()))
            return
        if block["type"] == "thinking":
            parts = {name: joined("".join(block[name])) for name in ("thinking", "signature")}
            block = {"type": block["type"], **parts}
        if block["type"] in THOUGHTS:
            if self._characters or self._calls:
                pieces.append(Kept({"type": PLACE, "characters": self._characters, "calls": self._calls}))
            pieces.append(Kept(block))

    def _text(self, text: Any, pieces: list[Piece]) -> None:
        if text and (text := self._text_of(text, TEXT)):
            # The engine leaves NUL out of what it stores.
            self._characters += len(text) - text.count("\0")
            pieces.append(Text(text))

    def _think(self, thought: Any, pieces: list[Piece]) -> None:
        if whole := self._text_of(thought, THOUGHT):
            pieces.append(Reasoning(whole))

    def _finish(self, delta: dict[str, Any]) -> None:
        if reason := delta.get("stop_reason"):
            self._stopped(reason)
        details = delta.get("stop_details")
        if isinstance(details, dict) and isinstance(details.get("explanation"), str):
            self._explained = details["explanation"].strip()

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._usage.update((name, value) for name, value in usage.items() if value is not None)

    def _message(self, message: dict[str, Any], pieces: list[Piece]) -> None:
        """A message that came in one piece."""
        for index, block in enumerate(message.get("content") or ()):
            self._start(index, block, pieces)
            self._stop(index, pieces)
        self._finish(message)
        self._count(message.get("usage"))

    def end(self) -> list[Piece]:
        pieces: list[Piece] = []
        if self._reason == "refusal" and not self._characters:
            pieces.append(Text(self._explained or _DECLINED))
        if self._usage:
            pieces.append(Usage(_counts(self._usage)))
        if self._reason is not None:
            pieces.append(Finish(self._reason))
        return pieces


def _counts(usage: dict[str, Any]) -> dict[str, int]:
    read, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
    taken, given = count(usage, "input_tokens") + read + written, count(usage, "output_tokens")
    counts = {"input_tokens": taken, "output_tokens": given, "total_tokens": taken + given}
    details = {
        "cache_read_tokens": read,
        "cache_write_tokens": written,
        "reasoning_tokens": count(usage, "output_tokens_details", "thinking_tokens"),
    }
    return counts | {name: number for name, number in details.items() if number}
