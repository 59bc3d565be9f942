"""PostgreSQL: one transaction per unit of work, over psycopg, shared by many processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from psycopg.errors import DeadlockDetected
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from caesura.core.errors import CaesuraError, StartupError
from caesura.store import migrate
from caesura.store.database import P, T, Work, cause, storage_errors

_POOL = 10
_WAIT = 5
#: So often work is done again that was broken off by a deadlock.
_DEADLOCKS = 3
#: A process that is stopped or cut off in the middle of a transaction must not hold its rows for ever: those
#: who want to take over its turns would wait as long. In milliseconds.
_IDLE = 5_000


class Postgres:
    """A database that many processes share."""

    shared = True
    light = False

    def __init__(
        self,
        writing: AsyncEngine,
        reading: AsyncEngine,
        blocking: Engine,
        after_commit: Callable[[], None],
    ) -> None:
        """Readers have connections of their own: however many there are, what is written does not wait."""
        self._writing, self._reading, self._blocking = writing, reading, blocking
        self._after_commit = after_commit

    @classmethod
    async def open(
        cls, url: str, *, pool_size: int = _POOL, after_commit: Callable[[], None] | None = None
    ) -> Postgres:
        """Connect, and bring the schema up to date: one process at a time, whoever comes first."""
        target = make_url(url).set(drivername="postgresql+psycopg")
        options: dict[str, Any] = {
            "pool_timeout": _WAIT,
            "connect_args": {"connect_timeout": _WAIT, "application_name": "caesura"},
        }
        writing = create_async_engine(target, pool_size=pool_size, max_overflow=0, **options)
        reading = create_async_engine(target, pool_size=pool_size, max_overflow=0, **options)
        blocking = create_engine(target, pool_size=1, max_overflow=0, **options)
        for made in (writing.sync_engine, reading.sync_engine, blocking):
            event.listen(made, "connect", _bound)
        database = cls(writing, reading, blocking, after_commit or _nothing)
        try:
            await database.write(migrate.upgrade)
        except CaesuraError as error:
            await database.close()
            where = target.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
            raise StartupError(f"{where} cannot be opened: {cause(error)}") from error
        return database

    @property
    def engines(self) -> tuple[Engine, ...]:
        return (self._writing.sync_engine, self._reading.sync_engine)

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with storage_errors():
            async with self._reading.connect() as connection:
                await connection.execution_options(isolation_level="REPEATABLE READ")
                return await connection.run_sync(lambda c: work(c, *args, **kwargs))

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with storage_errors():
            result = await self._write(lambda connection: work(connection, *args, **kwargs))
        self._after_commit()
        return result

    async def _write(self, work: Callable[[Connection], T]) -> T:
        """Work that the database broke off to end a deadlock has done nothing: it is done again."""
        for _ in range(_DEADLOCKS):
            try:
                async with self._writing.begin() as connection:
                    return await connection.run_sync(work)
            except OperationalError as error:
                if not isinstance(error.orig, DeadlockDetected):
                    raise
        async with self._writing.begin() as connection:
            return await connection.run_sync(work)

    async def write_lightly(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        # Not lighter here: a commit that PostgreSQL could forget would be an event shown and then lost.
        return await self.write(work, *args, **kwargs)

    async def write_ahead(self, work: Callable[[Connection], T], committed: Callable[[T], None]) -> T:
        result = await self.write(work)
        committed(result)
        return result

    async def harden(self) -> None:
        pass

    def write_now(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with storage_errors(), self._blocking.begin() as connection:
            return work(connection, *args, **kwargs)

    async def close(self) -> None:
        await self._writing.dispose()
        await self._reading.dispose()
        self._blocking.dispose()


def _bound(connection: Any, _: object) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"SET idle_in_transaction_session_timeout = {_IDLE}")
    connection.commit()


def _nothing() -> None:
    pass
