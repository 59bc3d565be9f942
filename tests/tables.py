"""The program's tables: made once in a database, and emptied for each test."""

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


def empty(url: str) -> None:
    """In PostgreSQL: nobody of an earlier test is connected, and nothing of it is left."""
    tables = [sql.Identifier(table.name) for table in reversed(schema.metadata.sorted_tables)]
    deletes = [sql.SQL("DELETE FROM {}").format(table) for table in tables]
    with psycopg.connect(url) as connection:
        connection.execute(sql.SQL("; ").join([_END_OTHERS, *deletes]))
