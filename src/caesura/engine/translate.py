"""Conversion of messages and tool calls to and from LangChain's types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import add_ai_message_chunks

from caesura.core import ids, plain
from caesura.core.messages import Message
from caesura.engine.calls import ID_LIMIT, Calls

#: How many pieces are added at once, and how many content blocks of one answer are kept apart.
_FEW = 32
_MOST_BLOCKS = 1000
#: The types of providers' content blocks that hold a tool call or its arguments.
_CALL_BLOCKS = ("tool_use", "input_json_delta", "function_call", "tool_call_chunk", "tool_call")
_BARE: dict[str, Any] = {
    **{name: [] for name in ("tool_call_chunks", "tool_calls", "invalid_tool_calls")},
    "additional_kwargs": {},
}


def to_langchain(messages: Iterable[Message]) -> list[BaseMessage]:
    """The conversation's own messages, as a provider takes them, without those of sub-agents."""
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
    """A message built from its pieces. For plain text only the text is kept: the piece objects take far more
    memory, and adding them one by one takes far more time."""

    def __init__(self) -> None:
        self.pieces = 0
        self._texts: list[str] = []
        self._calls = Calls()
        self._rich = _Rich()
        self._id: str | None = None
        self._plain = True

    def add(self, chunk: AIMessageChunk) -> None:
        self.pieces += 1
        if self.pieces == 1:
            self._id = chunk.id
        if chunk.tool_call_chunks:
            self._calls.add(chunk.tool_call_chunks)
        if self._plain and isinstance(chunk.content, str):
            self._texts.append(chunk.content)
            if chunk.usage_metadata or chunk.response_metadata:
                self._rich.add(chunk, "")
            return
        if self._plain and any(self._texts):
            self._rich.add(AIMessageChunk(content=""), "".join(self._texts))
        self._plain = False
        self._rich.add(chunk, chunk.content)

    def message(self) -> AIMessage:
        whole = self._rich.whole()
        return AIMessage(
            content="".join(self._texts) if self._plain else whole.content,
            tool_calls=self._calls.read(),
            usage_metadata=whole.usage_metadata,
            response_metadata={
                key: value
                for key, value in whole.response_metadata.items()
                if key in ("finish_reason", "stop_reason", "model_name")
            },
            id=self._id,
        )


class _Rich:
    """Pieces that are more than plain text, added in a tree of small groups: adding each piece to the sum so
    far would copy the whole sum for every piece. Their tool calls are left out."""

    def __init__(self) -> None:
        self._levels: list[list[AIMessageChunk]] = [[]]
        self._places: set[Any] = set()

    def add(self, chunk: AIMessageChunk, content: str | list[str | dict[Any, Any]]) -> None:
        kept = content if isinstance(content, str) else [block for block in content if self._keeps(block)]
        self._push(0, chunk.model_copy(update={"content": kept, **_BARE}))

    def whole(self) -> AIMessageChunk:
        return _sum([chunk for level in reversed(self._levels) for chunk in level])

    def _push(self, level: int, chunk: AIMessageChunk) -> None:
        if level == len(self._levels):
            self._levels.append([])
        here = self._levels[level]
        here.append(chunk)
        if len(here) == _FEW:
            self._levels[level] = []
            self._push(level + 1, _sum(here))

    def _keeps(self, block: str | dict[Any, Any]) -> bool:
        """Whether to keep a content block. Blocks that repeat a tool call or cannot be added to others are
        dropped, and so are blocks with a new index after `_MOST_BLOCKS` indexes."""
        if isinstance(block, str):
            return True
        if block.get("type") in _CALL_BLOCKS or not isinstance(block.get("text", ""), str):
            return False
        place = block.get("index")
        if not isinstance(place, int | str):
            return place is None
        if len(self._places) < _MOST_BLOCKS:
            self._places.add(place)
        return place in self._places


def _sum(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    return add_ai_message_chunks(chunks[0], *chunks[1:]) if chunks else AIMessageChunk(content="")


def with_own_ids(message: AIMessage, used: Iterable[str]) -> AIMessage:
    """The same message, with tool call ids that are unique in this turn. Some models count from zero in every
    answer, and each id is run once."""
    taken = set(used)
    calls = []
    for call in message.tool_calls:
        given = call.get("id") or ""
        good = given and given not in taken and len(given) <= ID_LIMIT and given == _text(given)
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
    """The text in a form that every database can store."""
    return plain.text(text).replace("\0", "")


def _says_something(item: Message) -> bool:
    return item.role != "assistant" or bool(item.content or item.tool_calls)
