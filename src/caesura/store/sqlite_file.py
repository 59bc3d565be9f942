"""The file of a SQLite database: owning it, connecting to it, and its write-ahead log."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import QueuePool, StaticPool

from caesura.core.errors import StartupError

#: Bytes of the write-ahead log after which the writer restarts it: readers cannot prevent that.
LOG_LIMIT = 32 * 1024 * 1024
#: Pages of the write-ahead log after which they are copied into the database. SQLite's own number.
COPIED_PAGES = 1000
#: How many KB of the file each reader keeps in memory.
_READERS_KB = 512
#: `secure_delete` overwrites deleted content with zeros. Its default depends on how SQLite was built.
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "temp_store=MEMORY",
    "secure_delete=ON",
    f"journal_size_limit={LOG_LIMIT}",
)


def engine(path: Path, busy_timeout: float, readers: int) -> Engine:
    """An engine whose transactions begin and end with our own statements, not SQLAlchemy's."""
    pool = {"poolclass": QueuePool, "pool_size": readers} if readers else {"poolclass": StaticPool}
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"check_same_thread": False, "timeout": busy_timeout},
        **pool,
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        if readers:
            # The system keeps the file in memory once for all of them.
            connection.execute(f"PRAGMA cache_size=-{_READERS_KB}")
        # SQLite's own only knows the letters of English.
        connection.create_function("lower", 1, _lower, deterministic=True)

    return engine


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def checkpoint(path: Path, busy_timeout: float) -> bool:
    """Copy the whole write-ahead log into the database and restart it. False if a reader prevents that or the
    disk refuses."""
    try:
        with closing(sqlite3.connect(path, timeout=busy_timeout)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy
    except sqlite3.Error:
        return False


def copied(path: Path) -> int | None:
    """When the write-ahead log was last copied into the database: nothing else changes the file itself."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def real(path: Path) -> Path:
    """The file itself, not a link to it. SQLite follows links: its write-ahead log and our lock must be next
    to the file."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise StartupError(f"{path} cannot be opened: it is a link that leads to itself") from error


def own(path: Path, beside: bool) -> int | None:
    """Hold a lock next to the file until this process ends, or refuse. None if another process holds the lock
    and `beside` allows that."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Readable for its owner alone, as are the files that SQLite creates.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StartupError(f"{path} cannot be opened: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if beside:
            return None
        raise StartupError(f"{path} is in use by another Caesura process") from error
    return handle
