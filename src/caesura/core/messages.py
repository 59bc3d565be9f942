"""Messages: what a conversation's history is made of, as the model and the person see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["user", "assistant", "tool", "system"]


@dataclass(frozen=True, slots=True)
class Message:
    """`cut` marks a reply that was stopped or broke off; `parent` a sub-agent's message, by tool call."""

    role: Role
    content: str
    reasoning: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    status: str = "ok"
    agent: str = ""
    parent: str | None = None
    cut: bool = False
    usage: dict[str, int] | None = field(default=None, compare=False)


_DEFAULTS = Message("user", "")


def to_dict(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    for name in Message.__slots__[2:]:
        if (value := getattr(message, name)) != getattr(_DEFAULTS, name):
            data[name] = value
    return data


def from_dict(data: Mapping[str, Any]) -> Message:
    return Message(**{**data, "tool_calls": tuple(data.get("tool_calls", ()))})


#: The role and the text of a message.
Line = tuple[str, str]


def lines(stored: Iterable[Mapping[str, Any]]) -> list[Line]:
    """As `shown`, from messages as `to_dict` gives them."""
    return [(m["role"], m["content"]) for m in stored if not m.get("parent") and m["content"].strip()]


def shown(messages: Iterable[Message]) -> list[Message]:
    """The messages that a history shows: those of the conversation itself (not of sub-agents) that have
    text."""
    return [message for message in messages if message.parent is None and message.content.strip()]
