"""Histories in Anthropic's blocks: roles alternate, results come first, nothing is empty."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import Any

from caesura.core.messages import Message
from caesura.models import histories

THOUGHTS = ("thinking", "redacted_thinking")
#: A kept block of our own: the thoughts behind it came after so many characters and calls of the reply.
PLACE = "place"
_BEFORE = "(earlier messages are left out)"
_GO_ON = "(go on)"
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


def messages_of(messages: Sequence[Message], thoughts: bool = True) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    ids, asked = _Ids(), deque[str]()
    for message in histories.sound(messages):
        if message.role == "assistant":
            named = [{**call, "id": ids.own(call["id"])} for call in message.tool_calls]
            asked.extend(call["id"] for call in named)
            blocks = _assistant(message, named, thoughts)
        elif message.role == "tool":
            blocks = [_result(message, asked.popleft())]
        else:
            blocks = [_text(message.content)]
        role = "assistant" if message.role == "assistant" else "user"
        if said and said[-1]["role"] == role:
            said[-1]["content"] += blocks
        else:
            said.append({"role": role, "content": blocks})
    if not said or said[0]["role"] != "user":
        said.insert(0, {"role": "user", "content": [_text(_BEFORE)]})
    if said[-1]["role"] != "user":
        said.append({"role": "user", "content": [_text(_GO_ON)]})
    return said


class _Ids:
    """Ids of calls must be unique in a request, and have only some characters. Other providers' may not."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def own(self, given: str) -> str:
        plain = _FOREIGN.sub("_", given) or "call"
        own, number = plain, 1
        while own in self._used:
            number += 1
            own = f"{plain}-{number}"
        self._used.add(own)
        return own


def _assistant(message: Message, calls: list[dict[str, Any]], thoughts: bool) -> list[dict[str, Any]]:
    """The reply in its blocks, in the order in which they came."""
    blocks: list[dict[str, Any]] = []
    characters = called = 0
    for kept in message.kept if thoughts else ():
        if kept.get("type") == PLACE:
            blocks += _said(message.content[characters : kept["characters"]], calls[called : kept["calls"]])
            characters, called = kept["characters"], kept["calls"]
        elif kept.get("type") in THOUGHTS:
            blocks.append(kept)
    blocks += _said(message.content[characters:], calls[called:])
    while blocks and blocks[-1]["type"] in THOUGHTS:
        blocks.pop()  # a reply must not end with thoughts
    return blocks or _said(message.content, calls)


def _said(text: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    uses = [
        {"type": "tool_use", "id": call["id"], "name": call["name"], "input": _input(call.get("args"))}
        for call in calls
    ]
    return [_text(text), *uses] if text.strip() else uses


def _input(args: Any) -> dict[str, Any]:
    return args if isinstance(args, dict) else {}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _result(message: Message, call_id: str) -> dict[str, Any]:
    content = message.content if message.content.strip() else histories.NOTHING
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if histories.failed(message):
        block["is_error"] = True
    return block
