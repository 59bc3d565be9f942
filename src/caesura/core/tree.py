"""The message tree: turns are its nodes, a path from a root to a leaf is a branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar


class Node(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def parent_id(self) -> str | None: ...


N = TypeVar("N", bound=Node)


def branch(nodes: Iterable[N], leaf: str | None) -> list[N]:
    """The nodes from the root to `leaf`; empty when `leaf` is not among the nodes."""
    by_id = {node.id: node for node in nodes}
    found: list[N] = []
    while leaf is not None and leaf in by_id:
        node = by_id.pop(leaf)
        found.append(node)
        leaf = node.parent_id
    return found[::-1]


def children(nodes: Iterable[N]) -> dict[str | None, list[str]]:
    """The ids of the children of each id, in the order given; the children of None are the roots."""
    found: dict[str | None, list[str]] = {}
    for node in nodes:
        found.setdefault(node.parent_id, []).append(node.id)
    return found


def leaf_below(nodes: Iterable[N], start: str) -> str:
    """The newest leaf at or below `start`: where the branch continues when a person picks it."""
    below: Mapping[str | None, list[str]] = children(nodes)
    seen = {start}
    while (newer := below.get(start)) and newer[-1] not in seen:
        start = newer[-1]
        seen.add(start)
    return start
