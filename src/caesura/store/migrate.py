"""Bringing a database to this program's schema, in one transaction: killed half-way, nothing happened."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from caesura.core.errors import StartupError

_LOCK = 0x_CAE5


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run what is missing up to `revision`. Whoever comes second finds it done."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    config = _config()
    _refuse_newer(connection, ScriptDirectory.from_config(config))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def require_newest(connection: Connection) -> None:
    """Refuse a database of another schema than this program's."""
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    current = MigrationContext.configure(connection).get_current_revision()
    if current != newest:
        raise StartupError("the database has another schema than this Caesura: stop its server first")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def _refuse_newer(connection: Connection, scripts: ScriptDirectory) -> None:
    known = {script.revision for script in scripts.walk_revisions()}
    current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current not in known:
        raise StartupError(f"the database has schema {current}, made by a newer Caesura than this one")
