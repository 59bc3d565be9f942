"""Cancellations: a requested cancellation ends a run; any other is an error of the code that raised it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stray(Exception):
    """What only a program's own end or a cancellation may raise was raised, and nobody had requested that"""


def is_requested() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def strays_fail(requested: Callable[[], bool] = is_requested) -> Iterator[None]:
    """Turn a `CancelledError` that nobody requested into an ordinary error. The same goes for `SystemExit`
    and similar exceptions: they would end the whole server, and again each time the turn is adopted."""
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and requested():
            raise
        raise Stray(f"{type(error).__name__}: {Stray.__doc__}") from error


def forget() -> None:
    """Clear the task's pending cancellations: they were obeyed, and the task continues."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
