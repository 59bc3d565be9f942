"""Replacements for two slow functions of LangChain, which work on the arguments of tool calls.

LangChain parses the arguments in every piece of an answer, and again whenever pieces are added. If they are
incomplete, it removes one character after another until the rest is JSON: for 60 kB that takes seconds, on
the event loop, before Caesura sees the piece. It also adds pieces one by one, each time copying all before.
Both take time quadratic in the length of the arguments, so both are replaced here.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import ai
from langchain_core.utils._merge import merge_lists

from caesura.core import json_data

_LONGEST = 1024 * 1024
_FEW = 64


def install() -> None:
    """Replace these two functions in LangChain. A test fails when LangChain no longer uses them under these
    names."""
    ai.parse_partial_json = whole  # type: ignore[attr-defined, assignment]
    ai.merge_lists = merged  # type: ignore[attr-defined, assignment]


def whole(text: str, *, strict: bool = False) -> Any:
    """Replaces LangChain's `parse_partial_json`: the same result for a complete JSON object, a `ValueError`
    for anything else. Incomplete arguments are not what the model meant, so nothing is lost by not completing
    them."""
    if len(text) > _LONGEST or not (text.lstrip().startswith("{") and text.rstrip().endswith("}")):
        raise ValueError("not a whole JSON object")
    if json_data.crowded(text.encode("utf-8", "replace")):
        raise json_data.Unwieldy("too many values")
    return json.loads(text, strict=strict)


def merged(*lists: list[Any] | None) -> list[Any] | None:
    """Replaces LangChain's `merge_lists`: neighbours are merged first, so that a text is copied a few times
    and not once for each of its pieces."""
    while len(lists) > _FEW:
        groups = (lists[start : start + _FEW] for start in range(0, len(lists), _FEW))
        lists = tuple(merge_lists(*group) for group in groups)
    return merge_lists(*lists)
