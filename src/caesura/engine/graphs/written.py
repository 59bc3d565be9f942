"""What an operator's own graph writes with LangGraph's stream writer becomes events."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence, Sized
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

from caesura.core import events as ev
from caesura.core import fold, json_data
from caesura.engine.run import Scope

#: The most bytes of a value, as JSON.
_LARGEST = 64 * 1024
_PLAIN = (type(None), int, float, str, bytes, date, UUID, dict, list, tuple, set, frozenset)
#: How many tasks of a graph that run at the same time are told apart.
_FEW = 8


class Written:
    """A task that runs again, after a crash or an answer, writes again. Words of the attempt before are void,
    and come again with all else of their author. Other values are skipped as long as they come in the same
    order. LangGraph tells in which graph something is written, and not by which of its tasks."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        before = scope.run.transcript.written.items()
        self._before = {key: deque(marks) for key, marks in before}
        self._void = {key for key, marks in before if any(words for *_, words in marks)}
        #: The tasks that run, by the graph in which they do.
        self._running: dict[tuple[str, ...], list[str]] = defaultdict(list)

    def begin(self, graph: Sequence[str], task: str) -> None:
        self._running[tuple(graph)].append(task)

    def end(self, graph: Sequence[str], task: str) -> None:
        running = self._running.pop(tuple(graph), [])
        if rest := [other for other in running if other != task]:
            self._running[tuple(graph)] = rest

    def take(self, graph: Sequence[str], value: Any) -> None:
        running, scope = self._running.get(tuple(graph), []), self._scope
        tasks = running if len(running) <= _FEW else []
        event = ev.GraphWrote(_bounded(value), scope.agent.name, scope.parent, ",".join(tasks))
        keys = [(task, event.author) for task in tasks]
        if not self._void.isdisjoint(keys):
            self._void.difference_update(keys)
            for key in keys:
                self._before.pop(key, None)
            scope.run.say(replace(event, value={"type": "restart", "agent": event.author, "data": {}}))
        if not self._is_known(fold.mark(event.value), keys):
            scope.run.say(event)

    def _is_known(self, mark: bytes, keys: Sequence[tuple[str, str]]) -> bool:
        """Whether one of these has written this next. What another task may have written is passed."""
        known = False
        for marks in (self._before[key] for key in keys if key in self._before):
            while marks and marks[0][0] != mark and marks[0][1]:
                marks.popleft()
            if marks and marks[0][0] == mark:
                marks.popleft()
                known = True
            else:
                marks.clear()
        return known


def _bounded(value: Any) -> Any:
    """The value as plain data, unless it is too large or something else."""
    try:
        json_data.count(value)
        _check_parts(value)
        if len(data := json_data.dumps(value)) <= _LARGEST:
            return json_data.loads(data)
    except json_data.Unwieldy as error:
        return {"_not_shown": str(error)}
    except Exception as error:  # noqa: BLE001 - of an object of the graph
        return {"_not_shown": f"it cannot be read ({type(error).__name__})"}
    return {"_not_shown": f"it has {len(data)} bytes, and {_LARGEST} are the most"}


def _check_parts(value: Any) -> None:
    """Raise `Unwieldy` before anything is written as JSON: that would take long for what is large, and any
    time for an object with code of its own. No JSON is shorter than the size that is counted here."""
    size, left = 0, [value]
    while left:
        item = left.pop()
        if not isinstance(item, _PLAIN):
            raise json_data.Unwieldy(f"it holds no plain data ({type(item).__name__})")
        size += 1 + (len(item) if isinstance(item, Sized) else 0)
        if size > _LARGEST:
            raise json_data.Unwieldy(f"it has more than {_LARGEST} bytes")
        if isinstance(item, dict):
            left += [*item, *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            left += item
