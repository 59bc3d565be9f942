"""Chat models of LangChain, through the adapter."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.rate_limiters import InMemoryRateLimiter
from pydantic import Field

from caesura.core.messages import Message
from caesura.engine.calls import BROKEN
from caesura.models.langchain import LangChainModel, to_langchain
from caesura.models.model import Finish, Reasoning, Schema, Text, Usage
from tests.spoken import message, pieces, reply, user

LOOK = Schema("look", "Look.", {"type": "object", "properties": {"at": {"type": "string"}}})


class Says(BaseChatModel):
    """Says these chunks, and records what it was given."""

    model_name: str = "says"
    chunks: list[Any] = Field(default_factory=list)
    seen: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "says"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self.bind(tools=tools)

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        raise RuntimeError("it only streams")

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.seen.append((messages, options))
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk)


class Whole(Says):
    """Cannot stream."""

    message: AIMessage

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.message)])


Whole._astream = BaseChatModel._astream  # type: ignore[method-assign]


def chunk(content: Any = "", **fields: Any) -> AIMessageChunk:
    return AIMessageChunk(content=content, **fields)


async def test_chunks_become_pieces() -> None:
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    said = [
        chunk(additional_kwargs={"reasoning_content": "hm"}),
        chunk("Hel"),
        chunk("lo", usage_metadata=usage, response_metadata={"finish_reason": "stop"}),
        chunk(),
    ]
    found = await pieces(LangChainModel(Says(chunks=said)), [user("hi")])
    assert found[:2] == [Reasoning("hm"), Text("Hel")]
    assert found[2] == Text("lo")
    assert isinstance(found[3], Usage)
    assert found[4:] == [Finish("stop"), Text("")]
    assert message(found).usage == usage


@pytest.mark.parametrize("slow", ["callbacks", "rate_limiter", None])
async def test_a_model_with_callbacks_or_a_rate_limit_says_the_same(slow: str | None) -> None:
    call = [
        tool_call_chunk(name="look", args='{"at": ', id="c", index=0),
        tool_call_chunk(args='"x"}', index=0),
    ]
    said = [chunk("I look."), *(chunk(tool_call_chunks=[part]) for part in call)]
    extra: dict[str, Any] = {"callbacks": [AsyncCallbackHandler()]} if slow == "callbacks" else {}
    if slow == "rate_limiter":
        extra["rate_limiter"] = InMemoryRateLimiter(requests_per_second=1000, check_every_n_seconds=0.001)
    found = await reply(LangChainModel(Says(chunks=said, **extra)), [user("hi")], [LOOK])
    assert (found.content, found.tool_calls) == (
        "I look.",
        ({"id": "c", "name": "look", "args": {"at": "x"}},),
    )


async def test_a_message_that_came_whole_is_read_the_same_way() -> None:
    invalid = {"name": "t", "args": "{", "id": "2", "error": None, "type": "invalid_tool_call"}
    good = {"name": "t", "args": {"a": "x" * 250_000}, "id": "1"}
    made = AIMessage("said", tool_calls=[good], invalid_tool_calls=[invalid])
    found = await reply(LangChainModel(Whole(message=made)), [user("hi")])
    assert found.content == "said"
    first, second = found.tool_calls
    assert first["args"] == good["args"]
    assert second["args"] == {BROKEN: "{"}


async def test_tools_are_bound_once_and_only_if_there_are_any() -> None:
    seen: list[Any] = []
    model = LangChainModel(Says(chunks=[chunk("x")], seen=seen))
    tools = (LOOK,)
    for given in (tools, tools, ()):
        await pieces(model, [user("hi")], given)
    function = {"type": "function", "function": LOOK._asdict()}
    assert [options.get("tools") for _, options in model._model.seen] == [[function], [function], None]  # type: ignore[attr-defined]


async def test_signed_reasoning_is_kept_and_given_back() -> None:
    thinking = [
        chunk([{"type": "thinking", "thinking": "h", "index": 0}]),
        chunk([{"type": "thinking", "thinking": "m", "index": 0}]),
        chunk([{"type": "thinking", "signature": "signed", "index": 0}]),
        chunk([{"type": "redacted_thinking", "data": "xyz", "index": 1}]),
    ]
    words = [chunk([{"type": "text", "text": "ab", "index": 2}]) for _ in range(500)]
    block = {"type": "input_json_delta", "partial_json": "x", "index": 3}
    calls = [chunk([block], tool_call_chunks=[tool_call_chunk(args="x", index=3)]) for _ in range(500)]
    found = await reply(LangChainModel(Says(chunks=[*thinking, *words, *calls])), [user("hi")])
    assert found.reasoning == "hm"
    assert found.content == "ab" * 500
    assert found.tool_calls[0]["args"] == {BROKEN: "x" * 500}
    assert found.kept == (
        {"type": "thinking", "thinking": "hm", "signature": "signed"},
        {"type": "redacted_thinking", "data": "xyz"},
    )
    (back,) = to_langchain([found])
    assert back.content == [*found.kept, {"type": "text", "text": "ab" * 500}]


def test_messages_become_those_of_langchain() -> None:
    call = {"id": "c", "name": "look", "args": {"at": "x"}}
    said = [
        Message("system", "You are."),
        user("hi"),
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", "saw", tool_call_id="c", name="look"),
        Message("tool", "no", tool_call_id="d", name="look", status="refused"),
    ]
    made: list[Any] = to_langchain(said)
    assert [item.type for item in made] == ["system", "human", "ai", "tool", "tool"]
    assert made[2].tool_calls == [{**call, "type": "tool_call"}]
    assert [item.status for item in made[3:]] == ["success", "error"]
    assert [item.tool_call_id for item in made[3:]] == ["c", "d"]


async def test_gathering_blocks_grows_with_their_number_and_not_with_its_square() -> None:
    async def seconds(count: int) -> float:
        blocks: list[Any] = [{"type": "thinking", "thinking": "x" * 10, "index": 0}]
        model = LangChainModel(Says(chunks=[chunk(blocks)] * count))
        began = time.thread_time()
        await pieces(model, [user("hi")])
        return time.thread_time() - began

    # The garbage collector may run in some of them.
    few = min([await seconds(500) for _ in range(3)])
    assert min([await seconds(4000) for _ in range(3)]) < 32 * few


async def test_too_much_to_keep_is_not_kept() -> None:
    blocks: list[Any] = [{"type": "thinking", "thinking": "x" * 100_000, "index": 0}]
    found = await reply(LangChainModel(Says(chunks=[chunk(blocks)] * 20)), [user("hi")])
    assert found.kept == ()
    assert len(found.reasoning) == 2_000_000


def test_the_label_is_the_name_of_the_model_or_of_its_class() -> None:
    assert LangChainModel(Says(model_name="gpt-x")).label == "gpt-x"
    assert LangChainModel(Says.model_construct(model_name=None)).label == "Says"
