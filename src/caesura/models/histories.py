"""A history as providers demand it: every tool call has its result right behind it, and nothing is empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from caesura.core.messages import Message

#: For what must not be empty and yet is.
NOTHING = "(empty)"
NO_RESULT = "(no result: the call did not come to its end)"
_GOOD = ("ok", "answered")


def system_of(messages: Iterable[Message]) -> str:
    """What all system messages say."""
    said = (message.content for message in messages if message.role == "system" and message.content.strip())
    return "\n\n".join(said)


def sound(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages without those of the system. A result comes right after the message that has its call. A
    call without a result gets one. A result without a call, and a reply without any content, is left out."""
    results = _results(messages)
    for place, message in enumerate(messages):
        if message.role == "user":
            yield message if message.content.strip() else replace(message, content=NOTHING)
        elif message.role == "assistant" and (message.content.strip() or message.tool_calls):
            yield message
            for call in message.tool_calls:
                yield results.get((place, call["id"])) or _without_result(call)


def failed(result: Message) -> bool:
    """Whether this result of a tool call tells of a fault."""
    return result.status not in _GOOD


def _results(messages: Sequence[Message]) -> dict[tuple[int, str], Message]:
    """The results, by the place of the message with the call and the call's id. An id may come again in a
    later message: a result belongs to the last call before it."""
    found: dict[tuple[int, str], Message] = {}
    asked: dict[str, int] = {}
    for place, message in enumerate(messages):
        if message.role == "assistant":
            asked.update((call["id"], place) for call in message.tool_calls)
        elif message.role == "tool" and message.tool_call_id in asked:
            found.setdefault((asked[message.tool_call_id], message.tool_call_id), message)
    return found


def _without_result(call: dict[str, Any]) -> Message:
    return Message("tool", NO_RESULT, tool_call_id=call["id"], name=call.get("name"), status="error")
