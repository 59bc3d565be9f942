"""The arguments of tool calls as text: how much of it is taken, and how LangChain puts it together.

LangChain reads the arguments in every piece of an answer, and once more whenever pieces are added. Where they
are not complete it takes away one character after the other until the rest is JSON: for 60 kB that takes
seconds, on the event loop, before any code of ours sees the piece. And it adds many pieces one by one, each
time with a copy of all before it. Both grow with the square of the arguments, so both are replaced here.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import ai
from langchain_core.utils._merge import merge_lists

from caesura.core import plain

#: How many characters the arguments of one call, and of all calls in one answer, may have.
LONGEST = 1024 * 1024
LONGEST_TOGETHER = 4 * LONGEST
#: How many calls one answer may hold.
MOST_CALLS = 100
_FEW = 64


def install() -> None:
    """Give LangChain our own of these two. A test fails when it no longer asks for them under their names."""
    ai.parse_partial_json = whole  # type: ignore[attr-defined, assignment]
    ai.merge_lists = merged  # type: ignore[attr-defined, assignment]


def whole(text: str, *, strict: bool = False) -> Any:
    """For LangChain's `parse_partial_json`: the same for a whole JSON object, a `ValueError` for anything
    else. Half of the arguments is not what the model meant, so nothing is lost by not completing them."""
    if len(text) > LONGEST or not (text.lstrip().startswith("{") and text.rstrip().endswith("}")):
        raise ValueError("not a whole JSON object")
    if plain.crowded(text.encode("utf-8", "replace")):
        raise plain.Unwieldy("too many values")
    return json.loads(text, strict=strict)


def merged(*lists: list[Any] | None) -> list[Any] | None:
    """For LangChain's `merge_lists`: neighbours are added first, so that a text is copied a few times and not
    once for each of its pieces."""
    while len(lists) > _FEW:
        groups = (lists[start : start + _FEW] for start in range(0, len(lists), _FEW))
        lists = tuple(merge_lists(*group) for group in groups)
    return merge_lists(*lists)
