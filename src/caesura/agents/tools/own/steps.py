"""Notices an `async` function of an operator's that blocks the event loop: nothing else of the server runs
meanwhile.

The time of each step, from one `await` that waits to the next, is measured. A thread looks as well while such
functions run: a step that never ends would otherwise be told never.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Awaitable, Generator
from typing import Any, NamedTuple

logger = logging.getLogger(__name__)

#: Seconds after which a step that has ended is told, and one that has not.
_LONG, _ENDLESS = 1.0, 5.0
_REMEDY = "write it without async, and it runs in a thread, or await what takes long"


class _Step(NamedTuple):
    name: str
    began: float


class Steps:
    """The steps of one event loop."""

    def __init__(self, long: float = _LONG, endless: float = _ENDLESS) -> None:
        self._long, self._endless = long, endless
        self._lock = threading.Lock()
        self._calls = 0
        self._watcher: threading.Thread | None = None
        #: The step that runs now, of which there is one at most.
        self._now: _Step | None = None

    async def watched(self, name: str, work: Awaitable[Any]) -> Any:
        """The result of this work, which is the call of a tool."""
        with self._lock:
            self._calls += 1
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="caesura-own-steps", daemon=True)
                self._watcher.start()
        try:
            return await _Timed(self, name, work)
        finally:
            with self._lock:
                self._calls -= 1

    def begin(self, name: str) -> None:
        self._now = _Step(name, time.monotonic())

    def end(self) -> None:
        step, self._now = self._now, None
        if step is not None and (seconds := time.monotonic() - step.began) > self._long:
            logger.warning(
                "tool %s has blocked the event loop for %.1f s, and with it the whole server: %s",
                *(step.name, seconds, _REMEDY),
            )

    def _watch(self) -> None:
        told: _Step | None = None
        while True:
            time.sleep(self._endless / 2)
            step = self._now
            if step is not None and step is not told and time.monotonic() - step.began > self._endless:
                told = step
                logger.warning(
                    "tool %s blocks the event loop, since %.1f s, and with it the whole server: %s",
                    *(step.name, time.monotonic() - step.began, _REMEDY),
                )
            with self._lock:
                if not self._calls:
                    self._watcher = None
                    return


class _Timed:
    """Passes each step of the work on, and tells when it begins and ends."""

    def __init__(self, steps: Steps, name: str, work: Awaitable[Any]) -> None:
        self._steps, self._name, self._work = steps, name, work

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._work.__await__()
        error: BaseException | None = None
        while True:
            self._steps.begin(self._name)
            try:
                waits = next(inner) if error is None else _thrown(inner, error)
            except StopIteration as ended:
                return ended.value
            finally:
                self._steps.end()
            error = None
            try:
                yield waits
            except BaseException as given:  # noqa: BLE001 - for the work, such as a cancellation
                error = given


def _thrown(inner: Any, error: BaseException) -> Any:
    throw = getattr(inner, "throw", None)
    if throw is None:  # an iterator that hears of nothing
        raise error
    return throw(error)
