"""A small write that changes nothing, to find out whether the storage takes writes."""

from __future__ import annotations

from sqlalchemy import Connection

_WRITE = "UPDATE alembic_version SET version_num = version_num"
#: A process that migrates the schema holds the row: that is no reason to wait.
_WRITE_SHARED = (
    "UPDATE alembic_version SET version_num = version_num"
    " WHERE ctid IN (SELECT ctid FROM alembic_version FOR UPDATE SKIP LOCKED)"
)


def write(connection: Connection) -> None:
    connection.exec_driver_sql(_WRITE if connection.dialect.name == "sqlite" else _WRITE_SHARED)
