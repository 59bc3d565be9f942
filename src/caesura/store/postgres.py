"""PostgreSQL: one transaction per unit of work, over libpq, shared by many processes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from psycopg.errors import DeadlockDetected
from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import ConnectionPoolEntry

from caesura.core.errors import CaesuraError, StartupError, Unavailable
from caesura.store import changes, migrate, wire
from caesura.store.connections import Connections, Unit, commit, leave
from caesura.store.database import P, T, Work, cause, storage_errors
from caesura.store.watchdog import cut_in_thread_after

_POOL = 10
_WAIT = 5
#: How often work is retried after a deadlock.
_DEADLOCKS = 3
#: Seconds for one attempt: a server that does not answer must not block this process for ever.
_LIMIT = 10.0
#: Seconds after which a connection without an answer makes all doubtful that were not used since: they may be
#: silent, too. Whoever comes next opens new ones.
_DOUBT = 2.0
#: Seconds for a heartbeat: a second one must be possible before a lease expires.
_BEAT = 3.0
#: Milliseconds. A process that is suspended or cut off during a transaction must not lock its rows for ever:
#: others could not claim its turns. Statements and waits for locks are bounded too.
_SERVER_SIDE = {
    "idle_in_transaction_session_timeout": 5_000,
    "lock_timeout": 5_000,
    "statement_timeout": 30_000,
}
#: The operating system gives up on a peer that acknowledges nothing.
_NETWORK = {
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}
#: Connections for the writes of runs and for claiming work.
_LIGHT = 4
#: Connections for words, and for streams whose row was locked.
_STATING = 2


class Postgres:
    """A database that many processes share."""

    shared = True
    light = False

    def __init__(self, target: URL, pool_size: int, after_commit: Callable[[], None]) -> None:
        """Readers have connections of their own, so that writes do not wait for them, however many there are.
        Runs have their own too: requests that wait for each other's locks do not stop words from being
        written."""

        def connections(name: str, most: int) -> Connections:
            return Connections(f"caesura-{name}", engine(target, isolation_level="AUTOCOMMIT"), most)

        self._writing, self._reading = connections("write", pool_size), connections("read", pool_size)
        self._lightly, self._blocking = connections("light", _LIGHT), connections("block", 1)
        #: On the event loop: words are one statement, and a thread would cost more than that.
        self._stating, self._places = connections("state", 1), asyncio.Semaphore(_STATING)
        self._beating = threading.Lock()
        self._after_commit = after_commit
        self._told: list[Callable[[Collection[str]], None]] = []
        self._closed = False

    @classmethod
    async def open(
        cls, url: str, *, pool_size: int = _POOL, after_commit: Callable[[], None] | None = None
    ) -> Postgres:
        """Connect, and migrate the schema: one process at a time, whoever comes first."""
        target = make_url(url)
        try:
            with storage_errors():
                await _in_thread(_migrate, target)
        except CaesuraError as error:
            where = target.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
            raise StartupError(f"{where} cannot be opened: {cause(error)}") from error
        return cls(target, pool_size, after_commit or _nothing)

    @property
    def engines(self) -> tuple[Engine, ...]:
        return tuple(kind.engine for kind in self._kinds)

    @property
    def _kinds(self) -> tuple[Connections, ...]:
        return self._writing, self._reading, self._lightly, self._stating, self._blocking

    def listen(self, told: Callable[[Collection[str]], None]) -> None:
        self._told.append(told)

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        def unit(connection: Connection) -> T:
            wire.of(connection).later("BEGIN ISOLATION LEVEL REPEATABLE READ")
            result = work(connection, *args, **kwargs)
            leave(connection, "COMMIT")
            return result

        with storage_errors():
            return await self._run(self._reading, unit)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(self._writing, lambda connection: work(connection, *args, **kwargs))

    async def write_lightly(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        # Not lighter here: an event that PostgreSQL could still lose must not be shown.
        return await self._write(self._lightly, lambda connection: work(connection, *args, **kwargs))

    async def write_statement(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        def unit(connection: Connection) -> T:
            result = work(connection, *args, **kwargs)
            self._after_commit()
            return result

        with storage_errors():
            async with self._places:
                return await self._run(self._stating, unit)

    async def _write(self, kind: Connections, work: Callable[[Connection], T]) -> T:
        """Retry work that PostgreSQL aborted because of a deadlock: it has had no effect."""
        with storage_errors():
            for left in reversed(range(_DEADLOCKS + 1)):
                try:
                    return await self._run(kind, lambda connection: self._transact(connection, work))
                except OperationalError as error:
                    if not left or not isinstance(error.orig, DeadlockDetected):
                        raise
        raise AssertionError  # the last try has returned or raised

    def _transact(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        wire.of(connection).later("BEGIN")
        changes.forget(connection)
        result = work(connection)
        people = changes.write(connection)
        commit(connection)
        self._after_commit()
        for told in self._told if people else ():
            told(people)
        return result

    async def _run(self, kind: Connections, work: Callable[[Connection], T]) -> T:
        """Run this on a connection of this kind. It ends within the limit, with an error if it must."""
        if self._closed:
            raise Unavailable("the database is closed")
        unit = Unit(work, _LIMIT, _DOUBT, self._doubt)
        result: T = await (kind.on_loop(unit) if kind is self._stating else kind.in_thread(unit))
        return result

    def _doubt(self, unit: Unit) -> None:
        """Nothing has come back for long. Perhaps all connections of that time are silent: whoever comes next
        gets a new one."""
        for kind in self._kinds:
            kind.drop(unused_since=unit.began)

    async def write_ahead(self, work: Callable[[Connection], T], committed: Callable[[T], None]) -> T:
        result = await self.write(work)
        committed(result)
        return result

    async def harden(self) -> None:
        pass

    def write_now(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        def unit(connection: Connection) -> T:
            with cut_in_thread_after(wire.of(connection), _BEAT):
                return self._transact(connection, lambda c: work(c, *args, **kwargs))

        if self._closed:
            raise Unavailable("the database is closed")
        with storage_errors(), self._beating:
            result: T = self._blocking.run(Unit(unit))
            return result

    async def close(self) -> None:
        self._closed = True
        for kind in self._kinds:
            await _in_thread(kind.close)


def engine(target: URL, **options: Any) -> Engine:
    """Connections whose statements may go straight to libpq, each closed after its use."""
    target = target.set(drivername="postgresql+psycopg")
    made: Engine = create_engine(target, poolclass=NullPool, creator=lambda: _connect(made), **options)
    event.listen(made, "connect", _bound)
    return made


def _connect(engine: Engine) -> wire.Wire:
    places, options = engine.dialect.create_connect_args(engine.url)
    settings: dict[str, Any] = {
        "connect_timeout": _WAIT,
        "application_name": "caesura",
        **_NETWORK,
        **options,
    }
    return wire.Wire.connect(*places, prepare_threshold=None, **settings)


def _bound(connection: Any, record: ConnectionPoolEntry) -> None:
    made: Any = record.driver_connection
    try:
        with cut_in_thread_after(made, _WAIT), closing(connection.cursor()) as cursor:
            cursor.execute("; ".join(f"SET {name} = {value}" for name, value in _SERVER_SIDE.items()))
    except BaseException:
        made.pgconn.finish()  # the pool does not know this connection
        raise


def _migrate(target: URL) -> None:
    with engine(target).begin() as connection:
        migrate.upgrade(connection)


async def _in_thread(work: Callable[..., None], *args: Any) -> None:
    """In a thread of its own: tools may occupy all threads of asyncio's default executor."""
    pool = ThreadPoolExecutor(1)
    try:
        await asyncio.get_running_loop().run_in_executor(pool, work, *args)
    finally:
        pool.shutdown(wait=False)


def _nothing() -> None:
    pass
