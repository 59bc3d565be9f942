"""Tasks of an operator's own graph: which of them has said a message, and which run again after a crash.

A task is one run of a graph's node. Its id is made from the checkpoint before it, so it has the same id when
it runs again after a crash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from langgraph.types import StateSnapshot

#: The path of a message from the state, or of a task that was done before: it does not run again.
SAVED = ("saved",)
#: In a path, for the second subgraph of a task and those after it, or for tasks that are not known.
_ANOTHER = "?"


def path_of(ns: Sequence[str], around: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The ids of the tasks in a namespace, from that of the graph itself inwards: `node:id`, or a number for
    another subgraph of the same task. The namespace of a graph that remembers begins without ids: `around`
    has the tasks in which its own run."""
    names = [name for name in ns if name]
    found = [name.partition(":")[2] or _ANOTHER for name in names]
    first = next((place for place, name in enumerate(found) if name != _ANOTHER), 0)
    if first and (known := around.get(found[first])):
        numbered = [_ANOTHER for name in names[:first] if name.isdigit()]
        return (*known, *numbered, *found[first:])
    return tuple(found)


def ref_of(path: Sequence[str], message_id: str) -> str:
    """The name of a message in the log, which tells the tasks that have said it."""
    return f"{'|'.join(path)}:{message_id}"


def id_of(ref: str) -> str:
    """The id of the message that a `ref` names."""
    return ref.partition(":")[2] if ":" in ref else ref


def tasks_of(ref: str) -> list[str]:
    path = ref.partition(":")[0] if ":" in ref else ""
    return path.split("|") if path else []


def runs_again(path: Sequence[str], state: StateSnapshot, ended: AbstractSet[str]) -> bool:
    """Whether the last of these tasks, each in the one before, runs again when the graph goes on from this
    state. If it is not known which task it was, it may. A task that has `ended` does not, nor what ran in it:
    a subgraph goes on from its own state, also if the code of a node or of a tool calls it."""
    if not path:
        return True
    return path[0] in {_ANOTHER, *(task.id for task in state.tasks)} and ended.isdisjoint(path)
