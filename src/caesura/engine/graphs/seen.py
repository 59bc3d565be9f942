"""What is known of the tasks of an operator's own graph, for those that must wait until it is. LangGraph
tells what happens in a stream, and goes on without waiting for its reader."""

from __future__ import annotations

import asyncio

#: The seconds that somebody waits at most until a task is known to have begun, and to have ended.
_BEGINNING, _END = 5.0, 1.0


class Seen:
    def __init__(self) -> None:
        self._begun, self._ended = _Tasks(_BEGINNING), _Tasks(_END)

    def begin(self, task: str) -> None:
        """The watcher has seen that this task begins, and everything that came before it."""
        self._begun.add(task)

    def end(self, task: str) -> None:
        """All that this task has said is in the log."""
        self._ended.add(task)

    async def begun(self, task: str) -> None:
        await self._begun.wait(task)

    async def ended(self, task: str) -> None:
        await self._ended.wait(task)

    def close(self) -> None:
        """Nobody looks any more."""
        for tasks in (self._begun, self._ended):
            tasks.close()


class _Tasks:
    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._known: set[str] = set()
        self._waiting: dict[str, asyncio.Event] = {}
        #: Whether tasks are told. LangGraph tells nothing of hidden ones, and of those of a graph
        #: that it does not know.
        self._are_told = True

    def add(self, task: str) -> None:
        self._known.add(task)
        if (waiting := self._waiting.pop(task, None)) is not None:
            waiting.set()

    def close(self) -> None:
        self._are_told = False
        for waiting in self._waiting.values():
            waiting.set()

    async def wait(self, task: str) -> None:
        if task in self._known or not self._are_told:
            return
        waiting = self._waiting.setdefault(task, asyncio.Event())
        try:
            async with asyncio.timeout(self._longest):
                await waiting.wait()
        except TimeoutError:
            self._are_told = False
