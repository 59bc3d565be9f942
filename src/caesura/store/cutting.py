"""Cutting a connection to PostgreSQL that says nothing any more.

A driver that waits for an answer cannot be told to give up: to cancel an asynchronous query takes seconds of
its own, and a blocking one waits for ever. If its socket is shut down it fails at once, and SQLAlchemy opens
all connections of the pool anew: they went silent together.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg


@contextmanager
def cut_after(connection: Any, seconds: float | None) -> Iterator[None]:
    """Cut this connection of the driver if it is still needed after so many seconds. For the event loop."""
    if seconds is None:
        yield
        return
    timer = asyncio.get_running_loop().call_later(seconds, _cut, connection)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def cut_in_thread_after(connection: Any, seconds: float) -> Iterator[None]:
    """The same for any other thread."""
    needed = True
    lock = threading.Lock()

    def cut() -> None:
        with lock:
            if needed:
                _cut(connection)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            needed = False


def _cut(connection: Any) -> None:
    with (
        suppress(OSError, psycopg.Error),  # it has failed by itself
        socket.socket(fileno=os.dup(connection.pgconn.socket)) as handle,
    ):
        handle.shutdown(socket.SHUT_RDWR)
