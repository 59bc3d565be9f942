"""A window: how many tokens a request has, and how a provider refuses one that has too many."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: Characters of a token.
_CHARACTERS = 4


def counted(asked: Mapping[str, Any]) -> int:
    """The tokens of a request: its messages and its tools."""
    sent = [asked["messages"], asked.get("tools", [])]
    return len(json.dumps(sent, ensure_ascii=False)) // _CHARACTERS


def too_long(tokens: int, window: int, named: bool) -> dict[str, Any]:
    """The error of OpenAI, or one that does not name the window."""
    if not named:
        return {
            "message": "Your input is too long. Please reduce the length of the messages.",
            "type": "error",
        }
    message = (
        f"This model's maximum context length is {window} tokens. However, your messages resulted in "
        f"{tokens} tokens. Please reduce the length of the messages."
    )
    return {
        "message": message,
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
