"""The readers of a SQLite file, counted, so that the writer can have the file to itself for a moment.

SQLite restarts its write-ahead log only while nobody reads from it. Readers that overlap without a pause
would let the log grow for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from caesura.store.statements import run


class Readers:
    """For threads: a caller that must wait blocks. Each thread keeps its connection. Transactions begin and
    end with our own statements: SQLAlchemy would take longer for that than SQLite for most of the work."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._own = threading.local()
        self._connections: list[Connection] = []
        self._changed = threading.Condition()
        self._count = 0
        self._paused = False

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read transaction. It begins when the writer does not need the file for itself."""
        with self._changed:
            self._changed.wait_for(lambda: not self._paused)
            self._count += 1
        try:
            yield from self._transaction()
        finally:
            self._end()

    @contextmanager
    def at_once(self) -> Iterator[Connection | None]:
        """As `reading`, but None where that would have to wait."""
        with self._changed:
            free = not self._paused
            self._count += free
        try:
            yield from self._transaction() if free else (None,)
        finally:
            if free:
                self._end()

    def _end(self) -> None:
        with self._changed:
            self._count -= 1
            if self._paused:
                self._changed.notify_all()

    @contextmanager
    def paused(self, within: float) -> Iterator[bool]:
        """No reader begins inside this context. Yields whether the running readers ended within `within`
        seconds."""
        with self._changed:
            self._paused = True
        try:
            with self._changed:
                alone = self._changed.wait_for(lambda: self._count == 0, within)
            yield alone
        finally:
            with self._changed:
                self._paused = False
                self._changed.notify_all()

    def close(self) -> None:
        """Close all connections. No thread may read any more."""
        for connection in self._connections:
            connection.close()

    def _transaction(self) -> Iterator[Connection]:
        connection = self._connection()
        try:
            run(connection, "BEGIN")
            yield connection
            run(connection, "COMMIT")
        except BaseException:
            self._break_off(connection)
            raise

    def _connection(self) -> Connection:
        found: Connection | None = getattr(self._own, "connection", None)
        if found is None:
            found = self._own.connection = self._engine.connect()
            self._connections.append(found)
        return found

    def _break_off(self, connection: Connection) -> None:
        try:
            run(connection, "ROLLBACK")
        except DBAPIError:
            self._own.connection = None
            self._connections.remove(connection)
            connection.close()
