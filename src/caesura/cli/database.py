"""The database of the settings, examined without creating or changing anything."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from caesura.cli.files import is_there
from caesura.core.errors import CaesuraError, StartupError
from caesura.settings import Settings
from caesura.store import migrate, postgres, users
from caesura.store.database import cause, storage_errors
from caesura.store.open import file_of

_SECONDS = 5


class Seen(NamedTuple):
    """`schema` is None for a database without tables. People are counted only in the newest schema."""

    schema: str | None
    people: int


def require(settings: Settings) -> None:
    """Refuse a missing file: opening it would create an empty database."""
    path = file_of(settings.database)
    if path is not None and not is_there(path):
        remedy = "name its folder with --data-dir, or itself with --database-url"
        raise StartupError(f"there is no database {path}: {remedy}")


def look(settings: Settings) -> Seen:
    """Raises `StartupError` for a database that cannot be opened, or that has a newer schema."""
    path, url = file_of(settings.database), make_url(settings.database)
    try:
        with storage_errors(), _reading(url, path) as connection:
            schema = migrate.current(connection)
            count = len(users.listing(connection)) if schema == migrate.newest() else 0
    except (CaesuraError, ArgumentError) as error:
        where = path or url.set(query={}).render_as_string(hide_password=True)
        raise StartupError(f"{where} cannot be opened: {cause(error)}") from error
    if schema is not None and schema > migrate.newest():
        raise StartupError(f"the database has schema {schema}, made by a newer Caesura than this one")
    return Seen(schema, count)


@contextmanager
def _reading(url: URL, path: Path | None) -> Iterator[Connection]:
    if path is not None:
        engine = create_engine("sqlite://", creator=lambda: _read_only(path), poolclass=NullPool)
    else:
        engine = postgres.engine(url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _read_only(path: Path) -> sqlite3.Connection:
    """Without a write-ahead log everything is in the file itself, and SQLite would create an empty log only
    to read it. If there is a log, it must be read too."""
    how = "mode=ro" if os.path.exists(f"{path}-wal") else "mode=ro&immutable=1"
    return sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True, timeout=_SECONDS)
