"""Tasks of an operator's own graph: which of them has said a message, and which run again after a crash.

A task is one run of a graph's node. Its id is made from the checkpoint before it, so it has the same id when
it runs again after a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from langgraph.types import StateSnapshot

#: The path of a message from the state, or of a task that was done before: it does not run again.
SAVED = ("saved",)
#: In a path, for the second subgraph of a task and those after it: their state cannot be found by the task.
_ANOTHER = "?"


def path_of(ns: Sequence[str]) -> tuple[str, ...]:
    """The ids of the tasks in a namespace, from that of the graph itself inwards: `node:id`, or a number for
    another subgraph of the same task."""
    found = [name.partition(":")[2] or _ANOTHER for name in ns if name]
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


def runs_again(path: Sequence[str], state: StateSnapshot, returned: AbstractSet[str]) -> bool:
    """Whether the last of these tasks, each in the one before, runs again when the graph goes on from this
    state. If it is not known which task it was, it may. A subgraph goes on from its own state. Tasks of
    functions that have `returned` do not run again, nor what ran in them."""
    if not path or path[0] == _ANOTHER:
        return True
    if path[0] in returned:
        return False
    task = next((task for task in state.tasks if task.id == path[0]), None)
    if task is None or task.result is not None:
        return False
    inner = task.state
    if len(path) == 1:
        return True
    if not isinstance(inner, StateSnapshot) or inner.created_at is None:
        return returned.isdisjoint(path)
    return runs_again(path[1:], inner, returned)
