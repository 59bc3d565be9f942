"""A copy of SQLite's database, made while a server may use it."""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from caesura.cli import database
from caesura.cli.files import publish
from caesura.core.errors import Conflict, StartupError, Unavailable
from caesura.settings import Settings
from caesura.store.open import file_of

_SECONDS = 30
#: What SQLite adds to the name of a database for the files that it keeps beside it.
_BESIDE = ("-journal", "-wal", "-shm")


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
    if os.path.lexists(target):
        raise Conflict(f"{target} exists already: nothing is overwritten")
    with _workplace(target) as folder:
        part = folder / target.name
        _copy(source, part)
        _publish(part, target)
    print(f"{target}: {target.stat().st_size:,} bytes, schema {seen.schema}")
    print(f"Workspaces are plain files, and not in it: copy {settings.data_dir / 'workspaces'} too.")


@contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """A new folder beside the target, for the unfinished copy and its journal. It is removed in the end, also
    with SIGTERM. It is locked until then, so that a later backup knows what a killed one has left."""
    begin, end = f".{target.name}.", ".part"
    for left in target.parent.glob(f"{glob.escape(begin)}*{end}"):
        _clear(left, target.name)
    folder = Path(tempfile.mkdtemp(end, begin, target.parent))
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    held = os.open(folder, os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)
        signal.signal(signal.SIGTERM, before)


def _clear(left: Path, name: str) -> None:
    """Remove what a killed backup has left: a folder with nothing but a copy and SQLite's files for it. One
    that has just begun may not have its lock yet."""
    with suppress(OSError):
        held = os.open(left, os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = set(os.listdir(held))
            ours = found <= {name, *(f"{name}{suffix}" for suffix in _BESIDE)}
            if ours and time.time() - os.fstat(held).st_mtime > _SECONDS:
                for item in found:
                    os.unlink(item, dir_fd=held)
                left.rmdir()
        finally:
            os.close(held)


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
