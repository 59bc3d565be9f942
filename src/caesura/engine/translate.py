"""Between our words and LangChain's: messages and tool calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import add_ai_message_chunks

from caesura.core import ids, plain
from caesura.core.messages import Message

#: What stands for arguments that were no JSON: the tool is not called, the model is told.
BROKEN = "_broken_arguments"
_ID_LIMIT = 200


def to_langchain(messages: Iterable[Message]) -> list[BaseMessage]:
    """The conversation's own messages, as a provider takes them: what a sub-agent said is not among them."""
    return [message(item) for item in messages if item.parent is None and _says_something(item)]


def message(item: Message) -> BaseMessage:
    if item.role == "user":
        return HumanMessage(item.content)
    if item.role == "tool":
        status: Any = "success" if item.status in ("ok", "answered") else "error"
        return ToolMessage(item.content, tool_call_id=item.tool_call_id or "", name=item.name, status=status)
    calls = [{**call, "type": "tool_call"} for call in item.tool_calls]
    return AIMessage(item.content, tool_calls=calls)


class Answer:
    """A message gathered from its pieces. Of plain text only the text is kept: the pieces themselves take
    far more room, and adding them one by one far more time, than the model's own work."""

    def __init__(self) -> None:
        self.pieces = 0
        self._texts: list[str] = []
        self._rich: list[AIMessageChunk] = []
        self._plain = True

    def add(self, chunk: AIMessageChunk) -> None:
        self.pieces += 1
        if not self._plain:
            self._rich.append(chunk)
        elif isinstance(chunk.content, str):
            self._texts.append(chunk.content)
            if self.pieces == 1 or _is_rich(chunk):
                self._rich.append(chunk)
        else:
            said = [AIMessageChunk(content="".join(self._texts))] if any(self._texts) else []
            self._plain, self._rich = False, [*said, *self._rich, chunk]

    def message(self) -> AIMessage:
        whole = add_ai_message_chunks(self._rich[0], *self._rich[1:])
        return AIMessage(
            content="".join(self._texts) if self._plain else whole.content,
            tool_calls=_calls(whole),
            usage_metadata=whole.usage_metadata,
            response_metadata={
                key: value
                for key, value in whole.response_metadata.items()
                if key in ("finish_reason", "stop_reason", "model_name")
            },
            id=self._rich[0].id,
        )


def with_own_ids(message: AIMessage, used: Iterable[str]) -> AIMessage:
    """The same message, each tool call under an id that is its own in this turn: some models count from
    zero in every answer, and a call is run once for each id."""
    taken = set(used)
    calls = []
    for call in message.tool_calls:
        given = call.get("id") or ""
        good = given and given not in taken and len(given) <= _ID_LIMIT and given == _text(given)
        own = given if good else f"call-{ids.token()}"
        taken.add(own)
        calls.append({**call, "id": own, "name": _text(call["name"]), "args": plain.clean(call["args"])})
    return message.model_copy(update={"tool_calls": calls})


def tool_calls(message: AIMessage) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"id": call["id"], "name": call["name"], "args": call["args"]} for call in message.tool_calls
    )


def finish_reason(message: AIMessage) -> str | None:
    about = message.response_metadata
    reason = about.get("finish_reason") or about.get("stop_reason")
    return reason if isinstance(reason, str) else None


def _text(text: str) -> str:
    """As any database can hold it."""
    return plain.text(text).replace("\0", "")


def _says_something(item: Message) -> bool:
    return item.role != "assistant" or bool(item.content or item.tool_calls)


def _is_rich(chunk: AIMessageChunk) -> bool:
    return bool(chunk.tool_call_chunks or chunk.usage_metadata or chunk.response_metadata)


def _calls(whole: AIMessageChunk) -> list[Any]:
    """The calls a model wants. LangChain completes JSON that breaks off; half of what was meant must not be
    run, so the arguments are read once more as they came."""
    if whole.tool_call_chunks:
        return [_call(chunk["name"], chunk["id"], chunk["args"]) for chunk in whole.tool_call_chunks]
    return [*whole.tool_calls, *(_call(c["name"], c["id"], c["args"]) for c in whole.invalid_tool_calls)]


def _call(name: str | None, call_id: str | None, raw: str | None) -> dict[str, Any]:
    try:
        args = plain.loads(raw) if raw else {}
    except ValueError:
        args = None
    known = args if isinstance(args, dict) else {BROKEN: (raw or "")[:1000]}
    return {"name": name or "", "args": known, "id": call_id, "type": "tool_call"}
