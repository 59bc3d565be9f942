"""Cancellations: one that somebody asked for ends a run; any other is an error of the code that raised it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Stray(Exception):
    """`CancelledError` was raised, and nobody had cancelled anything"""


@contextmanager
def strays_fail() -> Iterator[None]:
    """Turn a `CancelledError` that nobody asked for into an error like any other."""
    try:
        yield
    except asyncio.CancelledError as error:
        if is_asked_for():
            raise
        raise Stray(Stray.__doc__) from error


def is_asked_for() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def forget() -> None:
    """The cancellations of this task were obeyed: it goes on."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
