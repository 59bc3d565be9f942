"""Opening a database: the URL's scheme picks the backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from caesura.core.errors import StartupError
from caesura.store.database import Database
from caesura.store.sqlite import Sqlite


async def open_database(
    url: str, *, after_commit: Callable[[], None] | None = None, beside: bool = False
) -> Database:
    """Open `sqlite:///path/to/file` or `postgresql://…`, migrated to the schema of this program. `beside`
    opens a file that a running server owns, briefly, and only for changes of people."""
    path = file_of(url)
    if path is not None:
        return Sqlite(path, after_commit=after_commit, beside=beside)
    from caesura.store.postgres import Postgres  # takes a moment to load

    try:
        return await Postgres.open(url, after_commit=after_commit)
    except ArgumentError as error:
        raise StartupError("the database URL cannot be read: its options are at fault") from error


def file_of(url: str) -> Path | None:
    """The path of SQLite's file; None for PostgreSQL."""
    try:
        target = make_url(url)
    except (ArgumentError, ValueError) as error:
        # The URL is not shown: it may contain a password.
        raise StartupError("the database URL cannot be read: see sqlite:///path/to/file") from error
    backend = target.get_backend_name()
    if backend == "sqlite" and target.database and target.database != ":memory:":
        return Path(target.database)
    if backend in ("postgresql", "postgres"):
        return None
    raise StartupError("the database URL must be sqlite:///path/to/file or postgresql://…")
