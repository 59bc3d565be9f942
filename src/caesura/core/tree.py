"""The message tree: each turn names its parent, and a path from a root to a leaf is a branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar


class Linked(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def parent_id(self) -> str | None: ...


L = TypeVar("L", bound=Linked)


def branch(turns: Iterable[L], leaf: str | None) -> list[L]:
    """The turns from the root to `leaf`; empty when `leaf` is not among the turns."""
    by_id = {turn.id: turn for turn in turns}
    found: list[L] = []
    while leaf is not None and leaf in by_id:
        turn = by_id.pop(leaf)
        found.append(turn)
        leaf = turn.parent_id
    return found[::-1]


def children(turns: Iterable[L]) -> dict[str | None, list[str]]:
    """The ids of the children of each id, in the order given; the children of None are the roots."""
    found: dict[str | None, list[str]] = {}
    for turn in turns:
        found.setdefault(turn.parent_id, []).append(turn.id)
    return found


def leaf_below(turns: Iterable[L], start: str) -> str:
    """The newest leaf at or below `start`: where the branch continues when a person picks it."""
    below: Mapping[str | None, list[str]] = children(turns)
    seen = {start}
    while (newer := below.get(start)) and newer[-1] not in seen:
        start = newer[-1]
        seen.add(start)
    return start
