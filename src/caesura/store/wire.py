"""A connection to PostgreSQL whose statements go straight to libpq, several of them in one message.

No statement has a name, and nothing of a transaction outlives it: PostgreSQL may give the next transaction of
this connection to another session, as PgBouncer does.
"""

from __future__ import annotations

import asyncio
import re
import select
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import psycopg
from psycopg import errors, pq
from psycopg.adapt import PyFormat
from psycopg.adapt import Transformer as _Transformer
from psycopg.waiting import Ready, Wait
from sqlalchemy import Connection
from sqlalchemy.util import await_only

Values = Mapping[str, Any] | Sequence[Any]
_PLACE = re.compile(r"%\((\w+)\)s|%s|%%")
_TEXTS = 2_000
_FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_ABORTED)


class Result(NamedTuple):
    rows: list[Any]
    #: How many rows it found or changed.
    changed: int


@dataclass(slots=True)
class Sent:
    """A statement. It has a result when the next one has run."""

    text: str
    values: Values = ()
    result: Result | None = None


class Wire(psycopg.Connection[Any]):
    """Only one caller uses it at a time. After an error of the connection it must be closed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cursor_factory = _Cursor
        self._loop: asyncio.AbstractEventLoop | None = None
        self._later: list[Sent] = []
        #: Whether a statement was sent whose result nobody has read.
        self._unread = False

    def move_to(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on it is used on this event loop, in functions that `greenlet_spawn` runs."""
        self._loop = loop

    @property
    def usable(self) -> bool:
        """Whether no statement was broken off on it."""
        pg = self.pgconn
        busy = pg.transaction_status == pq.TransactionStatus.ACTIVE and not self._unread
        return pg.status == pq.ConnStatus.OK and pg.pipeline_status == pq.PipelineStatus.OFF and not busy

    def later(self, text: str, values: Values = ()) -> Sent:
        """Run this in the same message as the next statement."""
        self._later.append(Sent(text, values))
        return self._later[-1]

    def run(self, text: str, values: Values = (), *after: str) -> Result:
        """Run a statement, and those of `after` if it succeeds."""
        sent = self.later(text, values)
        self._later += [Sent(one) for one in after]
        self.flush()
        assert sent.result is not None  # noqa: S101 - for the type checker
        return sent.result

    def flush(self) -> None:
        """Run what was left for later."""
        sent, self._later = self._later, []
        self._finish_last()
        transformer = _Transformer(self)
        if len(sent) == 1:
            self._send(transformer, sent[0].text, sent[0].values)
            results = [self._result()]
        else:
            results = self._run_together(transformer, sent)
        for result in results:
            if result.status in _FAILED:
                raise errors.error_from_result(result, self.info.encoding)
        for item, result in zip(sent, results, strict=True):
            item.result = _read(transformer, result)

    @property
    def owes_work(self) -> bool:
        """Whether more was left for later than the beginnings of transactions."""
        return any(item.values for item in self._later)

    @property
    def in_transaction(self) -> bool:
        """Whether more has been done than to leave the beginning of a transaction for later."""
        return self.pgconn.transaction_status != pq.TransactionStatus.IDLE or len(self._later) > 1

    def end(self, text: str) -> None:
        """End a transaction that keeps nothing, without waiting for the answer."""
        self._later.clear()
        if self.pgconn.transaction_status != pq.TransactionStatus.IDLE:
            self._finish_last()
            self._send(_Transformer(self), text, ())
            self._push()
            self._unread = True

    def _run_together(self, transformer: Any, sent: Sequence[Sent]) -> list[pq.abc.PGresult]:
        self.pgconn.enter_pipeline_mode()
        for item in sent:
            self._send(transformer, item.text, item.values)
        self.pgconn.pipeline_sync()
        results = [self._result() for _ in sent]
        self._next()  # the answer to the sync
        self.pgconn.exit_pipeline_mode()
        return results

    def _send(self, transformer: Any, text: str, values: Values) -> None:
        query, names = _numbered(text)
        given = [values[name] for name in names] if isinstance(values, Mapping) else values
        if given:
            dumped = transformer.dump_sequence(given, [PyFormat.AUTO] * len(given))
            self.pgconn.send_query_params(
                query, dumped, transformer.types, transformer.formats, pq.Format.BINARY
            )
        else:
            self.pgconn.send_query_params(query, None, result_format=pq.Format.BINARY)

    def _result(self) -> pq.abc.PGresult:
        """The result of one statement."""
        result = self._next()
        if result is None:
            raise psycopg.OperationalError("the connection to the server was lost")
        while self._next() is not None:
            pass
        return result

    def _next(self) -> pq.abc.PGresult | None:
        self._push()
        while self.pgconn.is_busy():
            self._await_socket(False)
            self.pgconn.consume_input()
        return self.pgconn.get_result()

    def _push(self) -> None:
        while self.pgconn.flush():
            self._await_socket(True)
            self.pgconn.consume_input()

    def _finish_last(self) -> None:
        if self._unread:
            self._result()
            self._unread = False

    def wait(self, gen: Any, interval: float = 0.0, timeout: float | None = None) -> Any:
        """For what psycopg does itself."""
        try:
            wanted = next(gen)
            while True:
                writing = bool(wanted & Wait.W)
                self._await_socket(writing)
                wanted = gen.send(Ready.RW if writing else Ready.R)
        except StopIteration as end:
            return end.value

    def _await_socket(self, writing: bool) -> None:
        """Wait until the socket can be read, or written if asked to."""
        if self._loop is not None:
            await_only(_ready(self._loop, self.pgconn.socket, writing))
            return
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN | (select.POLLOUT if writing else 0))
        poll.poll()


async def _ready(loop: asyncio.AbstractEventLoop, socket: int, writing: bool) -> None:
    ready: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(socket, tell)
    if writing:
        loop.add_writer(socket, tell)
    try:
        await ready
    finally:
        loop.remove_reader(socket)
        if writing:
            loop.remove_writer(socket)


class _Cursor(psycopg.Cursor[Any]):
    """For statements that SQLAlchemy runs: those left for later come first."""

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        connection: Any = self.connection
        if connection._later:
            connection.flush()
        connection._finish_last()
        return super().execute(*args, **kwargs)


def of(connection: Connection) -> Wire:
    found = connection.connection.driver_connection
    assert isinstance(found, Wire)  # noqa: S101 - for the type checker
    return found


@lru_cache(_TEXTS)
def _numbered(text: str) -> tuple[bytes, tuple[str, ...]]:
    """The statement with numbers in place of names, and the names in their order."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        name = found[1]
        if name is None or name not in names:
            names.append(name)
            return f"${len(names)}"
        return f"${names.index(name) + 1}"

    return _PLACE.sub(number, text).encode(), tuple(names)


def _read(transformer: Any, result: pq.abc.PGresult) -> Result:
    count = result.command_tuples or 0
    if not result.nfields:
        return Result([], count)
    transformer.set_pgresult(result, set_loaders=True, format=pq.Format.BINARY)
    make = _row(tuple((result.fname(place) or b"").decode() for place in range(result.nfields)))
    return Result(transformer.load_rows(0, result.ntuples, make), count)


@cache
def _row(names: tuple[str, ...]) -> Callable[[Sequence[Any]], Any]:
    made: Any = namedtuple("Row", [*names], rename=True)  # type: ignore[misc]
    return made._make
