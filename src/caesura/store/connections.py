"""The connections to PostgreSQL of one kind of work. One unit of work uses one of them, in a thread or on the
event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.util import greenlet_spawn

from caesura.core.errors import Unavailable
from caesura.store import wire
from caesura.store.statements import send
from caesura.store.watchdog import cut


class Unit:
    """Work that is given a connection. `doubt` is called when it has taken `suspect` seconds. After `limit`
    seconds it is broken off, also if it has not begun by then."""

    def __init__(
        self,
        work: Callable[[Connection], Any],
        limit: float = 0.0,
        suspect: float = 0.0,
        doubt: Callable[[Unit], None] | None = None,
    ) -> None:
        self.work = work
        self.began = time.monotonic()
        self._limit, self._suspect, self._doubt = limit, min(suspect, limit), doubt
        self._lock = threading.Lock()
        self._uses: wire.Wire | None = None
        self._over = False
        self._done: asyncio.Future[Any]
        self._timer: asyncio.TimerHandle

    def start(self) -> asyncio.Future[Any]:
        """Begin to count the time. Returns what the caller waits for."""
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        self._timer = loop.call_later(self._suspect, self._suspected)
        return self._done

    def finish(self, result: Any, error: BaseException | None) -> None:
        self._timer.cancel()
        if self._done.done():
            return  # the caller was cancelled
        if error is None:
            self._done.set_result(result)
        else:
            self._done.set_exception(error)

    def use(self, using: wire.Wire | None) -> None:
        """Note the connection, which may be cut from now on; None when it may not any more."""
        with self._lock:
            if self._over and using is not None:
                raise Unavailable
            self._uses = using

    def _suspected(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._limit - self._suspect, self._break_off)
        if self._doubt is not None:
            self._doubt(self)

    def _break_off(self) -> None:
        with self._lock:
            self._over = True
            if self._uses is not None:
                cut(self._uses)  # it ends with an error by itself
                return
        self.finish(None, Unavailable())


class Connections:
    def __init__(self, name: str, engine: Engine, most: int) -> None:
        self.engine = engine
        self._threads = ThreadPoolExecutor(most, thread_name_prefix=name)
        #: Those that nobody uses, the last used one last, each with the time of its last use.
        self._idle: list[tuple[float, Connection]] = []

    def run(self, unit: Unit) -> Any:
        connection = self._idle.pop()[1] if self._idle else self.engine.connect()
        raw = wire.of(connection)
        try:
            unit.use(raw)
            return unit.work(connection)
        except BaseException:
            if raw.usable:
                leave(connection, "ROLLBACK")
            raise
        finally:
            unit.use(None)
            if raw.usable:
                self._idle.append((time.monotonic(), connection))
            else:
                _discard(connection)

    async def in_thread(self, unit: Unit) -> Any:
        """Run it in a thread, to its end, even if the caller is cancelled."""
        loop, done = asyncio.get_running_loop(), unit.start()

        def run() -> None:
            result, failure = None, None
            try:
                result = self.run(unit)
            except BaseException as error:  # noqa: BLE001 - it is the caller's answer
                failure = error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(unit.finish, result, failure)

        self._threads.submit(run)
        return await done

    async def on_loop(self, unit: Unit) -> Any:
        """Run it on the event loop, which does other work while it waits for PostgreSQL."""
        loop = asyncio.get_running_loop()
        if not self._idle:
            await loop.run_in_executor(self._threads, self._open, loop)
        unit.start()
        try:
            return await greenlet_spawn(self.run, unit)
        finally:
            unit.finish(None, None)

    def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        connection = self.engine.connect()
        wire.of(connection).move_to(loop)
        self._idle.append((time.monotonic(), connection))

    def drop(self, unused_since: float) -> None:
        """Close those that nobody uses, and nobody has used since this time."""
        kept = [item for item in self._idle if item[0] >= unused_since]
        dropped = [item for item in self._idle if item[0] < unused_since]
        self._idle[:] = kept
        for _, connection in dropped:
            _discard(connection)

    def close(self) -> None:
        self._threads.shutdown()
        self.drop(float("inf"))
        self.engine.dispose()


def commit(connection: Connection) -> None:
    """Commit the transaction, if it has not been already."""
    if wire.of(connection).in_transaction:
        send(connection, "COMMIT")
    else:
        wire.of(connection).end("COMMIT")
    if connection.in_transaction():
        connection.commit()  # only for SQLAlchemy, which has run statements


def leave(connection: Connection, text: str) -> None:
    """End a transaction that keeps nothing."""
    raw = wire.of(connection)
    if connection.in_transaction():  # SQLAlchemy has run statements, and ends its own transaction
        send(connection, text)
        connection.rollback()
    else:
        raw.end(text)


def _discard(connection: Connection) -> None:
    connection.invalidate()
    connection.close()
