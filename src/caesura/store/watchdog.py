"""Cutting a connection to a PostgreSQL server that no longer responds.

A driver that waits for a reply cannot be told to give up: cancelling an asynchronous query takes seconds, and
a blocking query waits for ever. If its socket is shut down, the query fails at once, and SQLAlchemy reopens
all connections of the pool: they stopped answering together.
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
    """Cut this driver connection if it is still in use after `seconds`. For the event loop."""
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
    """As `cut_after`, for any other thread."""
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
        suppress(OSError, psycopg.Error),  # the connection has already failed
        socket.socket(fileno=os.dup(connection.pgconn.socket)) as handle,
    ):
        handle.shutdown(socket.SHUT_RDWR)
