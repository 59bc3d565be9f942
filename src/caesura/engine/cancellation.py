"""Cancellations: a requested cancellation ends a run; any other is an error of the code that raised it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

#: Whether code that is not ours runs here.
_STRANGE: ContextVar[bool] = ContextVar("caesura_strange", default=False)


class Stray(Exception):
    """What only a program's own end or a cancellation may raise was raised, and nobody had requested that"""


def is_requested() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def strays_fail(requested: Callable[[], bool] = is_requested) -> Iterator[None]:
    """Turn a `CancelledError` that nobody requested into an ordinary error. The same goes for `SystemExit`
    and similar exceptions: they would end the whole server, and again each time the turn is adopted."""
    around = _STRANGE.get()
    _STRANGE.set(True)
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and requested():
            raise
        _fail(error)
    finally:
        _STRANGE.set(around)


def _fail(error: BaseException) -> NoReturn:
    raise Stray(f"{type(error).__name__}: {Stray.__doc__}") from error


def strays_fail_in_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Let the same hold for the tasks that the code within `strays_fail` begins: such an exception would
    leave the event loop at once, before anything that waits for the task could hear of it."""
    loop.set_task_factory(_task)


def _task(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
    return asyncio.Task(_Guarded(coro) if _STRANGE.get() else coro, loop=loop, **options)


class _Guarded(Coroutine[Any, Any, Any]):
    """A coroutine out of which no such exception comes. It is none of Python's own, so that it can be closed
    before it has begun."""

    def __init__(self, coro: Coroutine[Any, Any, Any]) -> None:
        self._coro = coro

    def send(self, value: Any) -> Any:
        try:
            return self._coro.send(value)
        except (SystemExit, KeyboardInterrupt) as error:
            _fail(error)

    def throw(self, *error: Any) -> Any:
        try:
            return self._coro.throw(*error)
        except (SystemExit, KeyboardInterrupt) as strange:
            _fail(strange)

    def close(self) -> None:
        self._coro.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coro.__await__()


def forget() -> None:
    """Clear the task's pending cancellations: they were obeyed, and the task continues."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
