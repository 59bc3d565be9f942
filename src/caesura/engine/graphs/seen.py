"""What is known of the tasks of an operator's own graph, for those that must wait until it is. LangGraph
tells what happens in a stream, and goes on without waiting for its reader."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

#: The seconds that somebody waits at most: for a beginning, for that of a task that runs already, and for an
#: end.
_BEGINNING, _TELLING, _END = 5.0, 0.5, 10.0
#: How often somebody who waits looks whether the run is over.
_LOOK = 0.05


class Seen:
    def __init__(self, is_over: Callable[[], bool] = lambda: False) -> None:
        self._running: set[str] = set()
        self._begun, self._ended = _Tasks(is_over), _Tasks(is_over)
        #: Whether there are tasks of which nothing is told: LangGraph hides some.
        self._some_are_hidden = False

    def run(self, task: str) -> None:
        """This task runs: its writes are not those of an earlier run that were kept in a cache."""
        self._running.add(task)

    def begin(self, task: str) -> None:
        """The watcher has seen that this task begins, and everything that came before it."""
        self._begun.add(task)

    def end(self, task: str) -> None:
        """All that this task has said is in the log."""
        self._ended.add(task)

    def close(self) -> None:
        """Nobody looks any more."""
        self._begun.close()
        self._ended.close()

    async def begun(self, task: str) -> None:
        if not await self._begun.wait(task, _BEGINNING):
            self._begun.close()  # the watcher sees nothing of this graph

    async def ended(self, task: str) -> None:
        if task not in self._running:
            return
        if await self._begun.wait(task, 0 if self._some_are_hidden else _TELLING):
            await self._ended.wait(task, _END)
        else:
            self._some_are_hidden = True


class _Tasks:
    def __init__(self, is_over: Callable[[], bool]) -> None:
        self._is_over, self._is_closed = is_over, False
        self._known: set[str] = set()
        self._waiting: dict[str, asyncio.Event] = {}

    def add(self, task: str) -> None:
        self._known.add(task)
        if (waiting := self._waiting.pop(task, None)) is not None:
            waiting.set()

    def close(self) -> None:
        self._is_closed = True
        for waiting in self._waiting.values():
            waiting.set()

    async def wait(self, task: str, longest: float) -> bool:
        """Whether the task is known, or nobody looks any more, in this time."""
        until = asyncio.get_running_loop().time() + longest
        while task not in self._known and not (self._is_closed or self._is_over()):
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                return False
            waiting = self._waiting.setdefault(task, asyncio.Event())
            try:
                async with asyncio.timeout(min(left, _LOOK)):
                    await waiting.wait()
            except TimeoutError:
                continue
        return True
