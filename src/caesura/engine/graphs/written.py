"""What an operator's own graph writes with LangGraph's stream writer becomes events."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from caesura.core import events as ev
from caesura.core import fold, json_data
from caesura.engine.run import Scope

#: The most bytes of a value, as JSON.
_LARGEST = 64 * 1024
#: How many tasks of a graph that run at the same time are told apart.
_FEW = 8


class Written:
    """A task that runs again, after a crash or an answer, writes again what the log has of it: that is
    skipped. LangGraph tells in which graph something is written, and not by which of its tasks."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._before = Counter(scope.run.transcript.written)
        #: The tasks that run, by the graph in which they do.
        self._running: dict[tuple[str, ...], list[str]] = defaultdict(list)

    def begin(self, graph: Sequence[str], task: str) -> None:
        self._running[tuple(graph)].append(task)

    def end(self, graph: Sequence[str], task: str) -> None:
        running = self._running.pop(tuple(graph), [])
        if rest := [other for other in running if other != task]:
            self._running[tuple(graph)] = rest

    def take(self, graph: Sequence[str], value: Any) -> None:
        running = self._running.get(tuple(graph), [])
        tasks, shown = running if len(running) <= _FEW else [], _bounded(value)
        if not self._is_known(fold.mark(shown), tasks):
            scope = self._scope
            scope.run.say(ev.GraphWrote(shown, scope.agent.name, scope.parent, ",".join(tasks)))

    def _is_known(self, mark: bytes, tasks: Sequence[str]) -> bool:
        """Whether one of these tasks has written this before. Counts once."""
        known = [(mark, task) for task in tasks if self._before[mark, task] > 0]
        self._before.subtract(known)
        return bool(known)


def _bounded(value: Any) -> Any:
    """The value as plain data, unless it is too large."""
    try:
        json_data.count(value)
    except json_data.Unwieldy as error:
        return {"_not_shown": str(error)}
    if len(data := json_data.dumps(value)) <= _LARGEST:
        return json_data.loads(data)
    return {"_not_shown": f"it has {len(data)} bytes, and {_LARGEST} are the most"}
