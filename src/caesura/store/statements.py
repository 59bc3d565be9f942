"""Statements that every turn needs, compiled once.

SQLAlchemy makes one set of statements serve both databases, but its overhead far exceeds SQLite's own time. A
prepared statement goes straight to SQLite's driver. PostgreSQL, whose round trip takes longer than all of
that, gets it in the usual way.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import UpdateBase
from sqlalchemy.sql.selectable import Select

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
            return connection.execute(self._statement, values).all()
        cursor, found = self._run(connection, values)
        if self._row is None:
            names = [(column[0], Any) for column in cursor.description]
            self._row = NamedTuple("Row", names)._make
        return [self._row(row) for row in found]

    def each(self, connection: Connection, **values: Any) -> Iterator[Any]:
        """The rows one by one, as plain tuples. SQLite reads a row only when it is asked for; PostgreSQL
        sends all of them."""
        if connection.dialect.name != "sqlite":
            yield from connection.execute(self._statement, values)
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
            return connection.execute(self._statement, values).rowcount
        return self._run(connection, values)[0].rowcount

    def _run(self, connection: Connection, values: dict[str, Any]) -> tuple[sqlite3.Cursor, list[Any]]:
        return run(connection, *self._bound(connection, values))

    def _bound(self, connection: Connection, values: dict[str, Any]) -> tuple[str, list[Any]]:
        names = tuple(values)
        form = self._forms.get(names)
        if form is None:
            form = self._forms[names] = self._compiled(connection, names)
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


def _translated(connection: Connection, text: str, error: sqlite3.Error) -> BaseException:
    return DBAPIError.instance(text, None, error, sqlite3.Error, dialect=connection.dialect)


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
        with connection.begin_nested():
            yield
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
