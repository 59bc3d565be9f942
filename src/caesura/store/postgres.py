"""PostgreSQL: one transaction per unit of work, over psycopg, shared by many processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, closing
from typing import Any

from psycopg.errors import DeadlockDetected
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from caesura.core.errors import CaesuraError, StartupError, Unavailable
from caesura.store import changes, migrate
from caesura.store.database import P, T, Work, cause, storage_errors
from caesura.store.watchdog import cut_after, cut_in_thread_after

_POOL = 10
_WAIT = 5
#: How often work is retried after a deadlock.
_DEADLOCKS = 3
#: Seconds for one attempt: a server that does not answer must not block this process for ever. The second
#: number is added for opening and returning a connection.
_LIMIT, _MORE = 10.0, 10.0
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

    def __init__(
        self,
        writing: AsyncEngine,
        reading: AsyncEngine,
        lightly: AsyncEngine,
        stating: AsyncEngine,
        blocking: Engine,
        after_commit: Callable[[], None],
    ) -> None:
        """Readers have connections of their own, so that writes do not wait for them, however many there are.
        Runs have their own too: requests that wait for each other's locks do not stop words from being
        written."""
        self._writing, self._reading, self._lightly = writing, reading, lightly
        self._stating, self._blocking = stating, blocking
        self._after_commit = after_commit
        self._told: list[Callable[[Collection[str]], None]] = []
        self._closed = False

    @classmethod
    async def open(
        cls, url: str, *, pool_size: int = _POOL, after_commit: Callable[[], None] | None = None
    ) -> Postgres:
        """Connect, and migrate the schema: one process at a time, whoever comes first."""
        target = make_url(url).set(drivername="postgresql+psycopg")
        options: dict[str, Any] = {
            "pool_timeout": _WAIT,
            "connect_args": {"connect_timeout": _WAIT, "application_name": "caesura", **_NETWORK},
        }
        writing = create_async_engine(target, pool_size=pool_size, max_overflow=0, **options)
        reading = create_async_engine(
            target, pool_size=pool_size, max_overflow=0, isolation_level="REPEATABLE READ", **options
        )
        lightly = create_async_engine(target, pool_size=_LIGHT, max_overflow=0, **options)
        # A statement that is its own transaction needs one round trip. With BEGIN and COMMIT it needs three,
        # and each of them waits for the event loop.
        stating = create_async_engine(
            target, pool_size=_STATING, max_overflow=0, isolation_level="AUTOCOMMIT", **options
        )
        blocking = create_engine(target, pool_size=1, max_overflow=0, **options)
        database = cls(writing, reading, lightly, stating, blocking, after_commit or _nothing)
        for made in (*database.engines, blocking):
            event.listen(made, "connect", _bound)
        try:
            await database._write(writing, migrate.upgrade, None)
        except CaesuraError as error:
            await database.close()
            where = target.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
            raise StartupError(f"{where} cannot be opened: {cause(error)}") from error
        return database

    @property
    def engines(self) -> tuple[Engine, ...]:
        return tuple(engine.sync_engine for engine in self._asynchronous)

    @property
    def _asynchronous(self) -> tuple[AsyncEngine, ...]:
        return self._writing, self._reading, self._lightly, self._stating

    def listen(self, told: Callable[[Collection[str]], None]) -> None:
        self._told.append(told)

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._refuse_closed()
        with storage_errors():
            async with asyncio.timeout(_LIMIT + _MORE), _connected(self._reading, _LIMIT) as connection:
                return await connection.run_sync(lambda c: work(c, *args, **kwargs))

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(self._writing, lambda connection: work(connection, *args, **kwargs))

    async def write_lightly(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        # Not lighter here: an event that PostgreSQL could still lose must not be shown.
        return await self._write(self._lightly, lambda connection: work(connection, *args, **kwargs))

    async def write_statement(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(self._stating, lambda connection: work(connection, *args, **kwargs))

    async def _write(
        self, engine: AsyncEngine, work: Callable[[Connection], T], limit: float | None = _LIMIT
    ) -> T:
        """Retry work that PostgreSQL aborted because of a deadlock: it has had no effect."""
        self._refuse_closed()
        with storage_errors():
            for left in reversed(range(_DEADLOCKS + 1)):
                try:
                    wait = asyncio.timeout(limit and limit + _MORE)
                    async with wait, _connected(engine, limit) as connection, connection.begin():
                        result, people = await connection.run_sync(_noting, work)
                    break
                except OperationalError as error:
                    if not left or not isinstance(error.orig, DeadlockDetected):
                        raise
        self._after_commit()
        if people:
            for told in self._told:
                told(people)
        return result

    async def write_ahead(self, work: Callable[[Connection], T], committed: Callable[[T], None]) -> T:
        result = await self.write(work)
        committed(result)
        return result

    async def harden(self) -> None:
        pass

    def write_now(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._refuse_closed()
        with (
            storage_errors(),
            self._blocking.connect() as connection,
            cut_in_thread_after(connection.connection.driver_connection, _BEAT),
            connection.begin(),
        ):
            return _noting(connection, lambda c: work(c, *args, **kwargs))[0]

    async def close(self) -> None:
        self._closed = True
        for engine in self._asynchronous:
            await engine.dispose()
        self._blocking.dispose()

    def _refuse_closed(self) -> None:
        """An engine that was disposed of would open new connections, which nobody closes."""
        if self._closed:
            raise Unavailable("the database is closed")


def _noting(connection: Connection, work: Callable[[Connection], T]) -> tuple[T, set[str]]:
    changes.forget(connection)
    return work(connection), changes.write(connection)


@asynccontextmanager
async def _connected(engine: AsyncEngine, limit: float | None) -> AsyncIterator[AsyncConnection]:
    """The limit is also for the return of the connection: what a read began is rolled back then."""
    connection = await engine.connect()
    with cut_after(_driver(connection), limit):
        try:
            yield connection
        finally:
            await asyncio.shield(connection.close())


def _driver(connection: AsyncConnection) -> Any:
    """The driver's own connection."""
    made = connection.sync_connection
    return made.connection.driver_connection if made is not None else None


def _bound(connection: Any, record: ConnectionPoolEntry) -> None:
    made: Any = record.driver_connection
    try:
        with cut_in_thread_after(made, _WAIT), closing(connection.cursor()) as cursor:
            for name, milliseconds in _SERVER_SIDE.items():
                cursor.execute(f"SET {name} = {milliseconds}")
            connection.commit()
    except BaseException:
        made.pgconn.finish()  # the caller was cancelled, and the pool does not know this connection
        raise


def _nothing() -> None:
    pass
