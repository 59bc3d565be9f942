"""What a model says: the pieces of its reply as they arrive, and the message that they add up to.

LangChain's `astream` checks the whole prompt again, keeps every piece and calls every callback for each
piece. Without callbacks the model's own stream is read directly: the same pieces at less than half the cost.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.runnables import RunnableBinding, RunnableConfig

from caesura.core import ids, json_data
from caesura.engine.calls import ID_LIMIT, Calls, Piece

#: The largest number of tokens, which every JSON parser can represent exactly.
_MOST_TOKENS = 2**53 - 1
#: How many pieces are added at once, and how many content blocks of one reply are kept apart.
_FEW = 32
_MOST_BLOCKS = 1000
#: The types of providers' content blocks that hold a tool call or its arguments.
_CALL_BLOCKS = ("tool_use", "input_json_delta", "function_call", "tool_call_chunk", "tool_call")
_BARE: dict[str, Any] = {
    **{name: [] for name in ("tool_call_chunks", "tool_calls", "invalid_tool_calls")},
    "additional_kwargs": {},
}


def pieces(
    model: Any, prompt: Sequence[BaseMessage], config: RunnableConfig | None = None
) -> AsyncGenerator[Any, None]:
    """The pieces of the model's reply, as they arrive; `chunk` converts a piece to a message chunk. A model
    that does not stream gives its reply as one piece. `config` holds the callbacks, if any."""
    inner, arguments = _unbound(model)
    if config is None and _direct(inner, arguments):
        return inner._astream(list(prompt), **arguments)  # type: ignore[no-any-return]
    return model.astream(ChatPromptValue.model_construct(messages=prompt), config)  # type: ignore[no-any-return]


def chunk(piece: Any) -> AIMessageChunk:
    if isinstance(piece, ChatGenerationChunk):
        made: Any = piece.message
        if piece.generation_info:
            made.response_metadata = {**made.response_metadata, **piece.generation_info}
        return made  # type: ignore[no-any-return]
    return piece if isinstance(piece, AIMessageChunk) else _as_chunk(piece)


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


def _as_chunk(message: AIMessage) -> AIMessageChunk:
    return AIMessageChunk(
        content=message.content,
        id=message.id,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        additional_kwargs=message.additional_kwargs,
        tool_call_chunks=[
            tool_call_chunk(
                name=call["name"], args=json_data.dumps(call["args"]).decode(), id=call["id"], index=index
            )
            for index, call in enumerate(message.tool_calls)
        ]
        + [
            tool_call_chunk(name=call["name"], args=call["args"], id=call["id"])
            for call in message.invalid_tool_calls
        ],
    )


def text_of(message: AIMessage) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(_block_text(block) for block in content)


def reasoning_of(message: AIMessage) -> str:
    if message.additional_kwargs:
        reasoning = message.additional_kwargs.get("reasoning_content")
        if isinstance(reasoning, str):
            return reasoning
    content = message.content
    if isinstance(content, str):
        return ""
    return "".join(_block_reasoning(block) for block in content if isinstance(block, dict))


def usage_of(message: AIMessage) -> dict[str, int] | None:
    """Input and output tokens, and how many of them were cached or used for reasoning, if the provider
    reports it."""
    usage = message.usage_metadata
    if not usage:
        return None
    counts = {name: _count(usage[name]) for name in ("input_tokens", "output_tokens", "total_tokens")}
    cached = usage.get("input_token_details", {}).get("cache_read")
    reasoned = usage.get("output_token_details", {}).get("reasoning")
    return counts | _present(cache_read_tokens=_count(cached), reasoning_tokens=_count(reasoned))


def _count(reported: object) -> int:
    """A reported number of tokens as a valid count: a provider may report anything."""
    return min(max(reported, 0), _MOST_TOKENS) if isinstance(reported, int) else 0


def _block_text(block: str | dict[Any, Any]) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if block.get("type") in ("text", "text_delta", "output_text", None) else ""
    return text if isinstance(text, str) else ""


def _block_reasoning(block: dict[Any, Any]) -> str:
    kind = block.get("type")
    if kind == "thinking":
        said = block.get("thinking", "")
    elif kind == "reasoning":
        said = block.get("reasoning") or "".join(_block_text(part) for part in _summary(block))
    elif kind == "reasoning_content":
        said = block.get("reasoning_content")
        said = said.get("text") if isinstance(said, dict) else said
    else:
        return ""
    return said if isinstance(said, str) else ""


def _summary(block: dict[Any, Any]) -> list[dict[Any, Any]]:
    parts = block.get("summary")
    found = parts if isinstance(parts, list) else []
    return [{"text": part.get("text")} for part in found if isinstance(part, dict)]


def _present(**counts: int) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


class Reply:
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

    def new_arguments(self, names: Collection[str]) -> Iterator[Piece]:
        """What was added to the calls of these tools since this was asked last."""
        return self._calls.news(names)

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
    reply, and each id is run once."""
    taken = set(used)
    calls = []
    for call in message.tool_calls:
        given = call.get("id") or ""
        good = given and given not in taken and len(given) <= ID_LIMIT and given == _text(given)
        own = given if good else f"call-{ids.token()}"
        taken.add(own)
        calls.append({**call, "id": own, "name": _text(call["name"]), "args": json_data.clean(call["args"])})
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
    return json_data.text(text).replace("\0", "")
