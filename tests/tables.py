"""The program's tables: made once in a database, and emptied for each test."""

import tempfile
from functools import cache
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import create_engine

from caesura.store import migrate, schema

_END_OTHERS = sql.SQL(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def make(url: str) -> None:
    """Bring a database to this program's schema."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        migrate.upgrade(connection)
    engine.dispose()


@cache
def sqlite_file() -> bytes:
    """A SQLite file with empty tables. Making them takes longer than most tests do."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "caesura.db")
        make(f"sqlite:///{path}")
        return path.read_bytes()


class Tables:
    """Tables in a PostgreSQL database, emptied over one connection: another one costs more than all else."""

    def __init__(self, url: str) -> None:
        self.url = url
        names = [sql.Identifier(table.name) for table in reversed(schema.metadata.sorted_tables)]
        deletes = [sql.SQL("DELETE FROM {}").format(name) for name in names]
        self._emptying = sql.SQL("; ").join([_END_OTHERS, *deletes])
        make(url)
        self._connection = psycopg.connect(url, autocommit=True)

    def empty(self) -> None:
        """Nobody of an earlier test is connected, and nothing of it is left."""
        try:
            self._connection.execute(self._emptying)
        except psycopg.OperationalError:  # a test may have ended the server
            self.close()
            self._connection = psycopg.connect(self.url, autocommit=True)
            self._connection.execute(self._emptying)

    def close(self) -> None:
        self._connection.close()
