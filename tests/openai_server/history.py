"""What a provider demands of the messages it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def fault_in(messages: Sequence[dict[str, Any]]) -> str | None:
    """Why a real provider would refuse these messages; None when it would not."""
    if not messages:
        return "messages is empty"
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                return f"messages[{place}]: role 'tool' must follow a message with this tool call"
            open_calls.remove(message["tool_call_id"])
            if not isinstance(message.get("content"), str | list):
                return f"messages[{place}]: content is required"
            continue
        if open_calls:
            return f"messages[{place}]: tool calls without a response: {', '.join(open_calls)}"
        if fault := _fault(role, message, place):
            return fault
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    return f"tool calls without a response: {', '.join(open_calls)}" if open_calls else None


def _fault(role: Any, message: dict[str, Any], place: int) -> str | None:
    if role not in ("system", "user", "assistant"):
        return f"messages[{place}]: unknown role {role!r}"
    if role == "system" and place:
        return f"messages[{place}]: a system message must come first"
    calls = message.get("tool_calls") or ()
    if not message.get("content") and not calls:
        return f"messages[{place}]: content is required"
    for call in calls:
        if not isinstance(call.get("function", {}).get("arguments", ""), str):
            return f"messages[{place}]: the arguments of a call must be a text"
    ids = [call["id"] for call in calls]
    return f"messages[{place}]: tool call ids must differ" if len(set(ids)) != len(ids) else None
