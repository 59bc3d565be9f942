"""Cutting a connection to a PostgreSQL server that no longer responds.

A driver that waits for a reply cannot be told to give up: cancelling an asynchronous query takes seconds, and
a blocking query waits for ever. If its socket is shut down, the query fails at once, and SQLAlchemy reopens
all connections of the pool: they stopped answering together.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg


@contextmanager
def cut_in_thread_after(connection: Any, seconds: float) -> Iterator[None]:
    """Cut this driver connection if it is still in use after `seconds`. For a thread."""
    needed = True
    lock = threading.Lock()

    def late() -> None:
        with lock:
            if needed:
                cut(connection)

    timer = threading.Timer(seconds, late)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            needed = False


def cut(connection: Any) -> None:
    with (
        suppress(OSError, psycopg.Error),  # the connection has already failed
        socket.socket(fileno=os.dup(connection.pgconn.socket)) as handle,
    ):
        handle.shutdown(socket.SHUT_RDWR)
