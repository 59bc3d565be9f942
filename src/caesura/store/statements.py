"""Statements that every turn needs, compiled once.

SQLAlchemy makes one set of statements serve both databases, but its overhead far exceeds the databases' own
time. A prepared statement goes straight to the driver: SQLite's, or `wire.Wire`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import UpdateBase
from sqlalchemy.sql.selectable import Select

if TYPE_CHECKING:
    from caesura.store.wire import Result, Values, Wire

#: The key of a connection's `info` under which its transaction gathers what it has to note (`changes`).
NOTED = "caesura.noted"


class _Form(NamedTuple):
    """A statement compiled for a certain set of values: its text, and the order of the values."""

    text: str
    places: tuple[str, ...]
    constants: dict[str, Any]


class Prepared:
    """Values are given by name, as to `execute`. Neither they nor the statement may contain a list."""

    def __init__(self, statement: Select[Any] | UpdateBase) -> None:
        self._statement = statement
        self._forms: dict[tuple[str, ...], _Form] = {}
        self._row: Callable[[Any], Any] | None = None

    def rows(self, connection: Connection, **values: Any) -> Sequence[Any]:
        if connection.dialect.name != "sqlite":
            return self._send(connection, values).rows
        cursor, found = self._run(connection, values)
        if self._row is None:
            names = [(column[0], Any) for column in cursor.description]
            self._row = NamedTuple("Row", names)._make
        return [self._row(row) for row in found]

    def each(self, connection: Connection, **values: Any) -> Iterator[Any]:
        """The rows one by one, as plain tuples. SQLite reads a row only when it is asked for; PostgreSQL
        sends all of them."""
        if connection.dialect.name != "sqlite":
            yield from self._send(connection, values).rows
            return
        text, given = self._bound(connection, values)
        try:
            with closing(driver(connection).execute(text, given)) as cursor:
                yield from cursor
        except sqlite3.Error as error:
            raise _translated(connection, text, error) from error

    def row(self, connection: Connection, **values: Any) -> Any | None:
        """The first row, if there is one."""
        found = self.rows(connection, **values)
        return found[0] if found else None

    def count(self, connection: Connection, **values: Any) -> int:
        """How many rows it changed."""
        if connection.dialect.name != "sqlite":
            return self._send(connection, values).changed
        return self._run(connection, values)[0].rowcount

    def later(self, connection: Connection, **values: Any) -> None:
        """Run it before the next statement of the transaction, or its commit. Nobody needs its result."""
        if connection.dialect.name == "sqlite":
            self._run(connection, values)
        else:
            form = self._form(connection, values)
            on_postgres(connection).later(form.text, form.constants | values)

    def ahead(self, connection: Connection, **values: Any) -> Callable[[], Sequence[Any]]:
        """Run it before the next statement, which must come. The result then gives its rows."""
        if connection.dialect.name == "sqlite":
            found = self.rows(connection, **values)
            return lambda: found
        form = self._form(connection, values)
        sent = on_postgres(connection).later(form.text, form.constants | values)
        return lambda: sent.result.rows if sent.result is not None else ()

    def _send(self, connection: Connection, values: dict[str, Any]) -> Result:
        form = self._form(connection, values)
        return send(connection, form.text, form.constants | values)

    def _run(self, connection: Connection, values: dict[str, Any]) -> tuple[sqlite3.Cursor, list[Any]]:
        return run(connection, *self._bound(connection, values))

    def _form(self, connection: Connection, values: dict[str, Any]) -> _Form:
        names = (connection.dialect.name, *values)
        form = self._forms.get(names)
        if form is None:
            form = self._forms[names] = self._compiled(connection, names[1:])
        return form

    def _bound(self, connection: Connection, values: dict[str, Any]) -> tuple[str, list[Any]]:
        form = self._form(connection, values)
        given = form.constants | values
        return form.text, [given[name] for name in form.places]

    def _compiled(self, connection: Connection, names: tuple[str, ...]) -> _Form:
        keys = None if isinstance(self._statement, Select) else list(names)
        made = self._statement.compile(dialect=connection.dialect, column_keys=keys)
        assert isinstance(made, SQLCompiler)  # noqa: S101 - for the type checker
        return _Form(str(made), tuple(made.positiontup or ()), dict(made.params))


def run(connection: Connection, text: str, values: Sequence[Any] = ()) -> tuple[sqlite3.Cursor, list[Any]]:
    """Run a statement on SQLite's driver. Errors are raised as SQLAlchemy raises them."""
    try:
        cursor = driver(connection).execute(text, values)
        return cursor, cursor.fetchall()
    except sqlite3.Error as error:
        raise _translated(connection, text, error) from error


def send(connection: Connection, text: str, values: Values = (), *after: str) -> Result:
    """Run a statement on PostgreSQL's driver, and those of `after` if it succeeds. Errors are raised as
    SQLAlchemy raises them."""
    try:
        return on_postgres(connection).run(text, values, *after)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _translated(connection, text, error) from error


def flush(connection: Connection) -> None:
    """Run the work that was left for later."""
    wire = on_postgres(connection)
    if wire.owes_work:
        try:
            wire.flush()
        except connection.dialect.loaded_dbapi.Error as error:
            raise _translated(connection, "", error) from error


def _translated(connection: Connection, text: str, error: Exception) -> BaseException:
    base = connection.dialect.loaded_dbapi.Error
    return DBAPIError.instance(text, None, error, base, dialect=connection.dialect)


def on_postgres(connection: Connection) -> Wire:
    found: Any = connection.connection.driver_connection
    return found  # type: ignore[no-any-return]


def driver(connection: Connection) -> sqlite3.Connection:
    found = connection.connection.driver_connection
    assert isinstance(found, sqlite3.Connection)  # noqa: S101 - for the type checker
    return found


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """If the block raises, its changes are undone, and nothing else is."""
    noted = len(connection.info.get(NOTED, ()))
    try:
        with _savepoint(connection):
            yield
    except BaseException:
        del connection.info.get(NOTED, [])[noted:]
        raise


@contextmanager
def _savepoint(connection: Connection) -> Iterator[None]:
    if connection.dialect.name != "sqlite":
        on_postgres(connection).later("SAVEPOINT caesura")
        try:
            yield
            flush(connection)  # its errors belong to this block
        except BaseException:
            if on_postgres(connection).usable:
                send(connection, "ROLLBACK TO caesura", (), "RELEASE caesura")
            raise
        on_postgres(connection).later("RELEASE caesura")
        return
    run(connection, "SAVEPOINT caesura")
    try:
        yield
    except BaseException:
        _undo(connection)
        raise
    run(connection, "RELEASE caesura")


def _undo(connection: Connection) -> None:
    raw = driver(connection)
    if not raw.in_transaction:
        return  # a full disk makes SQLite roll back everything
    try:
        raw.execute("ROLLBACK TO caesura")
        raw.execute("RELEASE caesura")
    except sqlite3.Error:
        raw.rollback()  # better nothing than half of it
