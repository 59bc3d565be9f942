"""How LangChain parses and merges the arguments of tool calls with the replaced functions."""

import time
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, ai
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.utils import _merge

import caesura.models.langchain  # noqa: F401 - it replaces the two functions when it is loaded
from caesura.models import langchain_arguments as arguments


def chunk(args: str, index: int = 0, name: str | None = None, call: str | None = None) -> AIMessageChunk:
    piece = tool_call_chunk(name=name, args=args, id=call, index=index)
    return AIMessageChunk(content="", tool_call_chunks=[piece])


def test_langchain_calls_the_replaced_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """When this fails, LangChain has moved the names which `arguments.install` replaces."""
    assert (ai.parse_partial_json, ai.merge_lists) == (arguments.whole, arguments.merged)  # type: ignore[attr-defined]
    asked: list[str] = []

    def parse(text: str) -> Any:
        asked.append(text)
        return arguments.whole(text)

    def merge(*lists: list[Any] | None) -> list[Any] | None:
        asked.append("merge")
        return arguments.merged(*lists)

    monkeypatch.setattr(ai, "parse_partial_json", parse)
    monkeypatch.setattr(ai, "merge_lists", merge)
    chunk("{") + chunk("}")
    assert asked == ["{", "}", "merge", "{}"]


def test_whole_arguments_are_read_as_langchain_does() -> None:
    made = chunk(' {"a": [1, {"b": "c\nd"}]} ', name="x", call="1")
    assert made.tool_calls == [
        {"name": "x", "args": {"a": [1, {"b": "c\nd"}]}, "id": "1", "type": "tool_call"}
    ]


@pytest.mark.parametrize("args", ['{"a": "b', "[1]", "x", '{"a"}', "{" * 5000 + "}" * 5000, '{"a": 1} {'])
def test_anything_but_a_complete_object_is_invalid_and_kept_unchanged(args: str) -> None:
    made = chunk(args, name="x", call="1")
    assert made.tool_calls == []
    assert [call["args"] for call in made.invalid_tool_calls] == [args]


def test_many_lists_are_added_as_langchain_adds_them() -> None:
    heads = [[tool_call_chunk(name=f"t{i}", args="", id=f"c{i}", index=i)] for i in range(3)]
    pieces = [[tool_call_chunk(args=f"{number},", index=number % 3)] for number in range(1000)]
    lists: list[Any] = [*heads, *pieces]
    assert arguments.merged(*lists) == _merge.merge_lists(*lists)


def test_adding_many_pieces_grows_with_their_number_and_not_with_its_square() -> None:
    def seconds(count: int) -> float:
        lists: list[Any] = [[tool_call_chunk(args="x" * 64, index=0)] for _ in range(count)]
        began = time.thread_time()
        arguments.merged(*lists)
        return time.thread_time() - began

    # The garbage collector may run in some of them.
    few = min(seconds(2_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(3)) < 32 * few
