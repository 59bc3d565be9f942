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
    """`sqlite:///path/to/file` or `postgresql://…`, migrated to the schema of this program. `beside` opens a
    file that a server owns, for a moment and for people alone."""
    path = file_of(url)
    if path is not None:
        return Sqlite(path, after_commit=after_commit, beside=beside)
    from caesura.store.postgres import Postgres  # takes a moment to load

    return await Postgres.open(url, after_commit=after_commit)


def file_of(url: str) -> Path | None:
    """The file of SQLite; None for PostgreSQL."""
    try:
        target = make_url(url)
    except (ArgumentError, ValueError) as error:
        # Without the text itself: a password may be in it.
        raise StartupError("the database URL cannot be read: see sqlite:///path/to/file") from error
    backend = target.get_backend_name()
    if backend == "sqlite" and target.database and target.database != ":memory:":
        return Path(target.database)
    if backend in ("postgresql", "postgres"):
        return None
    raise StartupError("the database URL must be sqlite:///path/to/file or postgresql://…")
