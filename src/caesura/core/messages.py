"""Messages: what a conversation's history is made of, as the model and the person see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["user", "assistant", "tool", "system"]


@dataclass(frozen=True, slots=True)
class Message:
    """`cut` marks a reply that was stopped or broke off; `parent` a sub-agent's message, by tool call. `at`
    is when the message ended, if that is known, and `ms` how long a tool call took, or a model thought.
    `args` are those with which a tool call ran, if they are not those that the model gave: a person has
    edited them. `kept` is what the provider wants back with a reply as long as its turn lasts: only the
    turn's log has it."""

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
    args: dict[str, Any] | None = None
    kept: tuple[dict[str, Any], ...] = ()
    usage: dict[str, int] | None = field(default=None, compare=False)
    at: int | None = field(default=None, compare=False)
    ms: int | None = field(default=None, compare=False)


_DEFAULTS = Message("user", "")
_MEMBERS = frozenset(Message.__slots__) - {"kept"}


def to_dict(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    for name in Message.__slots__[2:]:
        if name in _MEMBERS and (value := getattr(message, name)) != getattr(_DEFAULTS, name):
            data[name] = value
    return data


def from_dict(data: Mapping[str, Any]) -> Message:
    """The message of this data, without members that other versions may have written."""
    known = {name: value for name, value in data.items() if name in _MEMBERS}
    return Message(**{**known, "tool_calls": tuple(data.get("tool_calls", ()))})


def usage(messages: Iterable[Message]) -> dict[str, int] | None:
    """The tokens of all these messages together; None if none of them says."""
    known = [message.usage for message in messages if message.usage]
    total = Counter[str]()
    for counts in known:
        total.update(counts)
    return dict(total) if known else None


#: The role and the text of a message.
Line = tuple[str, str]


def lines(stored: Iterable[Mapping[str, Any]]) -> list[Line]:
    """As `shown`, from messages as `to_dict` gives them."""
    return [(m["role"], m["content"]) for m in stored if not m.get("parent") and m["content"].strip()]


def shown(messages: Iterable[Message]) -> list[Message]:
    """The messages that a history shows: those of the conversation itself (not of sub-agents) that have
    text."""
    return [message for message in messages if message.parent is None and message.content.strip()]
