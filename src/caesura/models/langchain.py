"""Chat models of LangChain as models of ours.

LangChain's `astream` checks the whole prompt again, keeps every piece and calls every callback for each
piece. A model without callbacks of its own is read directly: the same pieces at less than half the cost.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableBinding

from caesura.core.messages import Message
from caesura.models import langchain_arguments, langchain_chunks
from caesura.models.langchain_arguments import merged
from caesura.models.langchain_chunks import CALL_BLOCKS, TEXT_BLOCKS
from caesura.models.model import CallPart, Finish, Kept, Piece, Reasoning, Schema, Text, Usage

#: How many content blocks of one reply are kept for the provider, and about how many characters.
_MOST_BLOCKS, _MOST_CHARACTERS = 1000, 1024 * 1024
#: How many pieces of blocks are added at once.
_FEW = 32
_NOTHING_SAID = Text("")

langchain_arguments.install()


class LangChainModel:
    """A chat model of LangChain."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model
        self._tools: Sequence[Schema] = ()
        self._bound: Any = model

    @property
    def label(self) -> str:
        for attribute in ("model_name", "model"):
            if isinstance(name := getattr(self._model, attribute, None), str):
                return name
        return type(self._model).__name__

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        blocks = _Blocks()
        async with aclosing(_pieces(self._with(tools), to_langchain(messages))) as said:
            async for piece in said:
                chunk = langchain_chunks.chunk(piece)
                for found in _found(chunk):
                    yield found
                if not isinstance(chunk.content, str):
                    blocks.add(chunk.content)
        for block in blocks.whole():
            yield Kept(block)

    def _with(self, tools: Sequence[Schema]) -> Any:
        if not tools:
            return self._model
        if tools is not self._tools:
            functions = [{"type": "function", "function": tool._asdict()} for tool in tools]
            self._tools, self._bound = tools, self._model.bind_tools(functions)
        return self._bound


def _pieces(model: Any, prompt: list[BaseMessage]) -> AsyncGenerator[Any, None]:
    inner, arguments = _unbound(model)
    if _direct(inner, arguments):
        return inner._astream(prompt, **arguments)  # type: ignore[no-any-return]
    return model.astream(ChatPromptValue.model_construct(messages=prompt))  # type: ignore[no-any-return]


def _unbound(model: Any) -> tuple[Any, dict[str, Any]]:
    return (model.bound, dict(model.kwargs)) if isinstance(model, RunnableBinding) else (model, {})


def _direct(model: Any, arguments: dict[str, Any]) -> bool:
    return (
        isinstance(model, BaseChatModel)
        and type(model)._astream is not BaseChatModel._astream
        and model._should_stream(async_api=True, **{**arguments, "stream": True})
        and model.output_version != "v1"
        and model.rate_limiter is None
        and not model.callbacks
    )


def _found(chunk: AIMessageChunk) -> list[Piece]:
    """What a chunk holds. One that holds nothing is a piece all the same: the model has replied."""
    found: list[Piece] = []
    if reasoning := langchain_chunks.reasoning_of(chunk):
        found.append(Reasoning(reasoning))
    if text := langchain_chunks.text_of(chunk):
        found.append(Text(text))
    for call in chunk.tool_call_chunks:
        found.append(CallPart(call["index"], call["args"] or "", call["id"] or "", call["name"] or ""))
    if chunk.usage_metadata and (usage := langchain_chunks.usage_of(chunk)) is not None:
        found.append(Usage(usage))
    if chunk.response_metadata and (reason := langchain_chunks.finish_reason(chunk)):
        found.append(Finish(reason))
    return found or [_NOTHING_SAID]


class _Blocks:
    """Blocks of a reply that are neither text nor a tool call, such as signed reasoning: the provider wants
    them back. Added in small groups: adding each to the sum so far would copy the whole sum each time."""

    def __init__(self) -> None:
        self._lists: list[list[Any]] = []
        self._places: set[Any] = set()
        self._size = 0

    def add(self, content: Iterable[str | dict[Any, Any]]) -> None:
        kept = [block for block in content if isinstance(block, dict) and self._keeps(block)]
        if kept:
            self._lists.append(kept)
        if len(self._lists) == _FEW:
            self._lists = [merged(*self._lists) or []]

    def whole(self) -> list[dict[str, Any]]:
        """Nothing if there was too much: half of the blocks would be refused."""
        if self._size > _MOST_CHARACTERS or not self._lists:
            return []
        return [_bare(block) for block in merged(*self._lists) or []]

    def _keeps(self, block: dict[Any, Any]) -> bool:
        kind, place = block.get("type"), block.get("index")
        if kind in CALL_BLOCKS or kind in TEXT_BLOCKS or not isinstance(place, int | str | None):
            return False
        if len(self._places) < _MOST_BLOCKS:
            self._places.add(place)
        if place not in self._places:
            return False
        if self._size <= _MOST_CHARACTERS:
            self._size += len(str(block))
        return self._size <= _MOST_CHARACTERS


def _bare(block: dict[str, Any]) -> dict[str, Any]:
    """The block without its place in the stream."""
    return {name: value for name, value in block.items() if name != "index"}


def to_langchain(messages: Iterable[Message]) -> list[BaseMessage]:
    return [_message(item) for item in messages]


def _message(item: Message) -> BaseMessage:
    match item.role:
        case "user":
            return HumanMessage(item.content)
        case "system":
            return SystemMessage(item.content)
        case "tool":
            status: Any = "success" if item.status in ("ok", "answered") else "error"
            return ToolMessage(
                item.content, tool_call_id=item.tool_call_id or "", name=item.name, status=status
            )
        case "assistant":
            calls = cast(Any, [{**call, "type": "tool_call"} for call in item.tool_calls])
            return AIMessage(_content(item), tool_calls=calls)


def _content(item: Message) -> Any:
    if not item.kept:
        return item.content
    said = [{"type": "text", "text": item.content}] if item.content else []
    return [*item.kept, *said]
