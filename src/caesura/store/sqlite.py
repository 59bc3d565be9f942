"""SQLite: one writer thread with group commit, and a few reader threads.

A whole unit of work runs in the writer's thread, so a statement needs no hop between threads. All units that
wait when the thread becomes free share one transaction, each in a savepoint of its own.

Brief work runs in the event loop's own thread while nothing else is written: the way to another thread and
back takes longer than the work. What may take long stays in the threads: waiting for a lock, copying the log
into the database, and syncing the disk.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from caesura.core.errors import CaesuraError, StartupError, Unavailable
from caesura.store import changes, migrate, sqlite_file
from caesura.store.database import P, T, Work, cause, is_brief, mapped, storage_errors
from caesura.store.disk import Disk
from caesura.store.readers import Readers
from caesura.store.statements import driver, run, savepoint

_READERS = 6
_GROUP = 512
#: Seconds that readers get to end for a restart; and until the next try, if one of them did not end.
_PAUSE, _AGAIN = 0.25, 2.0
#: The size of the log is checked after this many commits.
_LOOK = 16
#: After this many commits in the event loop the writer's thread makes one: only there the log is copied.
_IN_A_ROW = 64
#: After its work here the event loop does none for as long, and for `_AWAY` times as long if that took more
#: than `_LONG` seconds, as on a slow disk.
_LONG, _AWAY = 0.004, 25
#: Called in the writer's thread with the result of a unit, or its error.
_Tell = Callable[[Any, Exception | None], None]


class _Unit(NamedTuple):
    work: Callable[[Connection], Any]
    tell: _Tell
    durable: bool
    committed: Callable[[Any], None] | None = None
    single: bool = False


class _Locked(Exception):
    """Another process writes to the file."""


class Sqlite:
    """A database in one file, owned by this process alone."""

    shared = False
    light = True

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout: float = 2.0,
        after_commit: Callable[[], None] | None = None,
        beside: bool = False,
    ) -> None:
        """`after_commit` is called in the writer's thread after each commit, before any caller is notified.
        `beside` is for a command that only changes people: it opens the file while another process owns it,
        and then leaves the schema unchanged."""
        path = sqlite_file.real(path)
        self._lock = sqlite_file.own(path, beside)
        self._after_commit = after_commit or _nothing
        self._told: list[Callable[[Collection[str]], None]] = []
        #: The people whose changes the current group has written.
        self._people: set[str] = set()
        self._units: queue.SimpleQueue[_Unit | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._writing = sqlite_file.engine(path, busy_timeout, readers=0)
        self._reading = sqlite_file.engine(path, busy_timeout, readers=_READERS)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="caesura-read")
        self._under_way = Readers(self._reading)
        try:
            with storage_errors(), self._writing.begin() as connection:
                run(connection, "BEGIN IMMEDIATE")
                if self._lock is not None:
                    migrate.upgrade(connection)
                else:
                    migrate.require_newest(connection)
        except CaesuraError as error:
            self._release()
            raise StartupError(f"{path} cannot be opened: {cause(error)}") from error
        except BaseException:
            self._release()
            raise
        self._connection: Connection | None = None
        #: Whether this connection waits for locks and copies the log, if that is known.
        self._patient: bool | None = None
        self._busy_timeout = busy_timeout
        #: Held by the thread that writes: the writer's or the event loop's.
        self._turn = threading.Lock()
        #: How many units wait for the writer's thread or are done there.
        self._queued = 0
        #: How often the event loop has written since that thread did, and when it may write again.
        self._in_a_row, self._free_at = 0, 0.0
        #: When the log was last copied into the database before the newest commit of the writer's thread.
        self._copied: int | None = None
        self._path, self._log = path, Path(f"{path}-wal")
        self._shorten_at = 0.0
        self._commits = 0
        self._telling = threading.Lock()
        self._disk = Disk(self._log, partial(sqlite_file.checkpoint, path, busy_timeout))
        self._writer = threading.Thread(target=self._write_all, name="caesura-write", daemon=True)
        self._writer.start()

    @property
    def engines(self) -> tuple[Engine, ...]:
        return (self._writing, self._reading)

    def listen(self, told: Callable[[Collection[str]], None]) -> None:
        self._told.append(told)

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._refuse_closed()
        if is_brief(work) and time.monotonic() >= self._free_at:
            with self._timed(), storage_errors(), self._under_way.at_once() as connection:
                if connection is not None:
                    return work(connection, *args, **kwargs)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: self._read(work, *args, **kwargs))

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(lambda c: work(c, *args, **kwargs), durable=True, brief=is_brief(work))

    async def write_lightly(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(lambda c: work(c, *args, **kwargs), brief=is_brief(work))

    async def write_statement(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write(lambda c: work(c, *args, **kwargs), single=True, brief=is_brief(work))

    async def write_ahead(self, work: Callable[[Connection], T], committed: Callable[[T], None]) -> T:
        loop = asyncio.get_running_loop()

        def tell(result: T) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody is left to notify
                loop.call_soon_threadsafe(committed, result)

        return await self._write(work, durable=True, committed=tell, brief=is_brief(work))

    async def harden(self) -> None:
        done, tell = _answer()
        with self._closing:
            self._refuse_closed()
            self._disk.settle(lambda error: tell(None, error))
        await done

    def write_now(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        done: Future[T] = Future()
        self._submit(_Unit(lambda c: work(c, *args, **kwargs), partial(_settle, done), False))
        return done.result()

    async def close(self) -> None:
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._units.put(None)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._readers, self._writer.join)
        await loop.run_in_executor(self._readers, self._disk.close)
        self._readers.shutdown()
        self._release()

    async def _write(
        self,
        work: Callable[[Connection], T],
        *,
        durable: bool = False,
        committed: Callable[[T], Any] | None = None,
        single: bool = False,
        brief: bool = False,
    ) -> T:
        """A queued unit always runs, even if its caller is cancelled."""
        done, tell = _answer()
        unit = _Unit(work, tell, durable, committed, single)
        if not (brief and self._written_here(unit)):
            self._submit(unit)
        result: T = await done
        return result

    def _written_here(self, unit: _Unit) -> bool:
        """Commit the unit in this thread, the event loop's. False if that could take long."""
        with self._closing:
            self._refuse_closed()
            if self._queued or self._in_a_row >= _IN_A_ROW or time.monotonic() < self._free_at:
                return False
            # The first commit after the log was copied begins the log again, and waits for the disk.
            if self._copied != sqlite_file.copied(self._path) or not self._turn.acquire(blocking=False):
                return False
        try:
            with self._timed():
                self._in_a_row += 1
                self._commit([unit], patient=False)
        except _Locked:
            return False
        finally:
            self._turn.release()
        return True

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """The event loop works here for a while, and then does so no more for as long."""
        began = time.monotonic()
        try:
            yield
        finally:
            ended = time.monotonic()
            took = ended - began
            self._free_at = ended + took * (_AWAY if took > _LONG else 1)

    def _submit(self, unit: _Unit) -> None:
        with self._closing:
            self._refuse_closed()
            self._queued += 1
            self._units.put(unit)

    def _refuse_closed(self) -> None:
        if self._closed or not self._writer.is_alive():
            raise Unavailable("the database is closed")

    def _read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with storage_errors(), self._under_way.reading() as connection:
            return work(connection, *args, **kwargs)

    def _write_all(self) -> None:
        while True:
            unit = self._units.get()
            group: list[_Unit] = []
            while unit is not None:
                group.append(unit)
                if len(group) == _GROUP or self._units.empty():
                    break
                unit = self._units.get()
            if group:
                with self._turn:
                    self._write_group(group)
                with self._closing:
                    self._queued -= len(group)
            if unit is None:
                return

    def _write_group(self, group: list[_Unit]) -> None:
        copied, changes = sqlite_file.copied(self._path), driver(self._connected()).total_changes
        self._commit(group)
        self._in_a_row = 0
        if driver(self._connected()).total_changes != changes:
            self._copied = copied
        self._commits += 1
        if self._commits % _LOOK == 0:
            self._shorten_log()

    def _shorten_log(self) -> None:
        """Restart a long write-ahead log. SQLite has copied nearly all of it into the database by then, and
        only needs a moment without readers. The writer does this itself, so that the checkpoint need not wait
        for the writer."""
        if time.monotonic() < self._shorten_at or sqlite_file.size(self._log) <= sqlite_file.LOG_LIMIT:
            return
        self._copied = None
        with self._under_way.paused(_PAUSE) as alone:
            done = alone and sqlite_file.checkpoint(self._path, 0)
        if not done:
            self._shorten_at = time.monotonic() + _AGAIN

    def _commit(self, group: list[_Unit], patient: bool = True) -> None:
        try:
            with storage_errors():
                outcomes = self._commit_all(group, patient)
            self._after_commit()
            self._tell_people()
        except _Locked:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is each caller's answer
            outcomes = [(None, error) for _ in group]
        with self._telling:
            for unit, (result, failure) in zip(group, outcomes, strict=True):
                # The disk comes first. It needs the interpreter only to begin; the loop that is woken by
                # `committed` may keep it for long.
                if unit.durable and failure is None:
                    self._disk.settle(partial(self._tell, unit, result))
                if unit.committed is not None and failure is None:
                    unit.committed(result)
                if not unit.durable or failure is not None:
                    unit.tell(result, failure)

    def _tell_people(self) -> None:
        if not self._people:
            return
        people, self._people = self._people, set()
        for told in self._told:
            told(people)

    def _tell(self, unit: _Unit, result: Any, error: Exception | None) -> None:
        """Called by the disk, which may be quicker than the writer: `committed` comes first."""
        with self._telling:
            unit.tell(result, error)

    def _commit_all(self, group: list[_Unit], patient: bool) -> list[tuple[Any, Exception | None]]:
        connection = self._connected()
        try:
            self._be_patient(connection, patient)
            if len(group) == 1 and group[0].single:
                return [(group[0].work(connection), None)]
            run(connection, "BEGIN IMMEDIATE")
            outcomes = [self._run(connection, unit, alone=len(group) == 1) for unit in group]
            run(connection, "COMMIT")
        except BaseException as error:
            self._people.clear()
            connection.close()
            self._connection = None
            if not patient and _is_locked(error):
                raise _Locked from error
            raise
        return outcomes

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection, self._patient = self._writing.connect(), None
        return self._connection

    def _be_patient(self, connection: Connection, patient: bool) -> None:
        """Whether the next transaction may wait for a lock, and copy the log into the database."""
        if patient is not self._patient:
            run(connection, f"PRAGMA busy_timeout={int(self._busy_timeout * 1000) if patient else 0}")
            run(connection, f"PRAGMA wal_autocheckpoint={sqlite_file.COPIED_PAGES if patient else 0}")
            self._patient = patient

    def _run(self, connection: Connection, unit: _Unit, alone: bool) -> tuple[Any, Exception | None]:
        """The result of the unit, or its error. The caller is notified when the transaction is on disk."""
        changes.forget(connection)
        if alone:
            return self._noted(connection, unit), None
        try:
            with savepoint(connection):
                return self._noted(connection, unit), None
        except Exception as error:
            if not driver(connection).in_transaction:
                raise  # a full disk made SQLite roll back the whole transaction
            return None, mapped(error)

    def _noted(self, connection: Connection, unit: _Unit) -> Any:
        result = unit.work(connection)
        self._people |= changes.write(connection)
        return result

    def _release(self) -> None:
        self._under_way.close()
        self._writing.dispose()
        self._reading.dispose()
        if self._lock is not None:
            os.close(self._lock)


def _answer() -> tuple[asyncio.Future[Any], _Tell]:
    """A future of the running loop, and a function that settles it from any thread."""
    loop, thread = asyncio.get_running_loop(), threading.get_ident()
    done: asyncio.Future[Any] = loop.create_future()

    def tell(result: Any, error: Exception | None) -> None:
        if threading.get_ident() == thread:
            return _settle(done, result, error)
        with suppress(RuntimeError):  # the loop is closed: nobody is left to notify
            loop.call_soon_threadsafe(_settle, done, result, error)

    return done, tell


def _settle(done: asyncio.Future[Any] | Future[Any], result: Any, error: Exception | None) -> None:
    if done.done():
        return  # the caller was cancelled
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)


def _is_locked(error: BaseException) -> bool:
    """Whether another process writes to the file: then nothing was written."""
    cause = error.orig if isinstance(error, OperationalError) else None
    return isinstance(cause, sqlite3.Error) and cause.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _nothing() -> None:
    pass
