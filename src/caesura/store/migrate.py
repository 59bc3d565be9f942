"""Migrating a database to this program's schema, in one transaction: if it is killed half-way, nothing has
changed.

Alembic takes a moment to import: it is imported only when there is something to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect

if TYPE_CHECKING:
    from alembic.config import Config

from caesura.core.errors import StartupError

_LOCK = 0x_CAE5
_MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the missing migrations up to `revision`. A concurrent process that comes second finds them done."""
    if revision == "head" and current(connection) == newest():
        return
    from alembic import command

    if connection.dialect.name == "postgresql":
        # Another process may be migrating, which may take long.
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    config = _config()
    _refuse_newer(connection, config)
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def require_newest(connection: Connection) -> None:
    """Refuse a database of another schema than this program's."""
    if current(connection) != newest():
        raise StartupError("the database has another schema than this Caesura: stop its server first")


def newest() -> str:
    """The schema of this program: the highest number among its migrations."""
    return max(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def current(connection: Connection) -> str | None:
    """The schema of a database; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


def _refuse_newer(connection: Connection, config: Config) -> None:
    from alembic.script import ScriptDirectory

    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = current(connection)
    if found is not None and found not in known:
        raise StartupError(f"the database has schema {found}, made by a newer Caesura than this one")
