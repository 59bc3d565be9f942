"""Messages of an operator's own graph: those that it is given, and those in an update or in its state."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages

from caesura.core import json_data
from caesura.core.messages import Message
from caesura.models.langchain import to_langchain
from caesura.models.langchain_chunks import text_of, tool_calls

#: How the ids of messages begin that a graph is given.
_GIVEN = "given-"


def given(messages: Iterable[Message], remembered: Iterable[BaseMessage] = ()) -> list[BaseMessage]:
    """Messages for a graph, with ids by which they are known when a graph's node returns them once more, as a
    subgraph does. A message has the same id in each turn, and one that a subgraph has `remembered` has the
    id that it has there, so that a subgraph with messages of its own does not get it twice."""
    said, seen = list(messages), Counter[str]()
    known = defaultdict[str, list[str]](list)
    for message in remembered:
        if message.id and (name := _name_of(message)):
            known[name].append(message.id)
    made, names = to_langchain(said), [_name(item) for item in said]
    for name, message in zip(names, made, strict=True):
        seen[name] += 1
        message.id = f"{_GIVEN}{name}-{seen[name]}"
    for name, message in zip(reversed(names), reversed(made), strict=True):  # the newest are remembered
        if known[name]:
            message.id = known[name].pop()
    return made


def _name(item: Message) -> str:
    """A name for what the message says."""
    told = json_data.dumps([item.role, item.content, item.tool_call_id, [c["id"] for c in item.tool_calls]])
    return hashlib.sha256(told).hexdigest()[:24]


def _name_of(message: BaseMessage) -> str | None:
    """The name of a message that a graph has made, as the log has it."""
    if isinstance(message, AIMessage):
        return _name(Message("assistant", _logged(text_of(message)), tool_calls=tuple(tool_calls(message))))
    if isinstance(message, ToolMessage):
        return _name(Message("tool", _logged(str(message.text)), tool_call_id=message.tool_call_id))
    return None


def _logged(text: str) -> str:
    return text.replace("\0", "")


def was_given(message: BaseMessage) -> bool:
    """Whether the graph did not make this message, but was given it."""
    return (message.id or "").startswith(_GIVEN)


def in_other_forms(update: Any) -> list[BaseMessage]:
    """The messages of an update if some of them are not objects of LangChain, but texts, pairs or dicts, from
    which LangGraph makes messages."""
    found = []
    for part in update if isinstance(update, list) else [update]:
        told = part.get("messages") if isinstance(part, dict) else None
        found += told if isinstance(told, list) else [told] if told is not None else []
    if all(isinstance(item, BaseMessage) for item in found):
        return []
    return [message for item in found if (message := _made(item)) is not None]


def _made(item: Any) -> BaseMessage | None:
    """The message that LangGraph makes of this; None if it makes none."""
    try:
        return convert_to_messages([item])[0]
    except (ValueError, TypeError, NotImplementedError, LookupError):
        return None


def found_in(update: Any, depth: int = json_data.DEEPEST) -> Iterator[BaseMessage]:
    """All messages in a state update. States with messages are not nested deeply, so anything deeper than
    `depth` is ignored."""
    if isinstance(update, BaseMessage):
        yield update
    elif depth and isinstance(update, dict | list | tuple):
        for value in update.values() if isinstance(update, dict) else update:
            yield from found_in(value, depth - 1)


def after_replies(messages: Iterable[BaseMessage]) -> Iterator[tuple[BaseMessage, str]]:
    """Each message with the id of the last reply up to it."""
    reply = ""
    for message in messages:
        if isinstance(message, AIMessage):
            reply = message.id or ""
        yield message, reply


def refs(values: Any) -> set[str]:
    """The ids of all messages in a graph's state."""
    return {message.id for message in found_in(values) if message.id}
