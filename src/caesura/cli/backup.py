"""A copy of SQLite's database, made while a server may use it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from caesura.cli import database
from caesura.cli.files import publish
from caesura.core.errors import Conflict, StartupError, Unavailable
from caesura.settings import Settings
from caesura.store.open import file_of

_SECONDS = 30


def make(target: Path, **flags: str | None) -> None:
    """Copy the database into a new file. Until the copy is whole and on the disk, the file is not there under
    this name."""
    if not target.name:
        raise StartupError("FILE must be the name of a new file")
    settings = Settings.load(**flags)
    source = file_of(settings.database)
    if source is None:
        raise StartupError("this database is PostgreSQL: back it up with its own program, pg_dump")
    database.require(settings)
    seen = database.look(settings)
    part = target.with_name(f".{target.name}.part")
    if os.path.lexists(target):
        raise Conflict(f"{target} exists already: nothing is overwritten")
    part.unlink(missing_ok=True)  # what an earlier attempt left
    try:
        _copy(source, part)
        _publish(part, target)
    finally:
        part.unlink(missing_ok=True)
    print(f"{target}: {target.stat().st_size:,} bytes, schema {seen.schema}")
    print(f"Workspaces are plain files, and not in it: copy {settings.data_dir / 'workspaces'} too.")


def _copy(source: Path, part: Path) -> None:
    """The whole database as of one moment, with what stands in its write-ahead log. The server goes on
    writing meanwhile. A plain copy of the file would lack what is in the log."""
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))  # it holds what people have said
    try:
        with closing(_open(source)) as given, closing(_open(part)) as made:
            given.backup(made)
            # One file, which needs no log beside it until a server opens it.
            made.execute("PRAGMA journal_mode=DELETE")
            (found,) = made.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise Unavailable(f"the database could not be copied: {error}") from error
    if found != "ok":
        raise Unavailable(f"the copy is not whole, and was removed: {found}")


def _open(path: Path) -> sqlite3.Connection:
    """Opened for writing, also to read: SQLite cannot read a log that a dead server has left otherwise."""
    return sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=_SECONDS)


def _publish(part: Path, target: Path) -> None:
    _sync(part)
    publish(part, target)
    with suppress(OSError):  # not every file system can do that for a folder
        _sync(target.absolute().parent)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
