"""Versions of agents: what a turn needs to go on with the version that it began with."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from caesura.store.schema import agent_versions, now_ms

#: At most this many versions of one agent are kept.
MOST = 100


def keep(connection: Connection, name: str, version: str, body: bytes) -> None:
    """Keep a version as the newest of its agent. The oldest beyond the limit are removed."""
    values = {"name": name, "version": version, "body": body}
    here = agent_versions.c.name == name
    same = update(agent_versions).where(here, agent_versions.c.version == version).values(kept_at=now_ms())
    if connection.execute(same).rowcount == 0:
        _add(connection, values)
    newest = select(agent_versions.c.version).where(here).order_by(*_NEWEST).limit(MOST)
    connection.execute(delete(agent_versions).where(here, agent_versions.c.version.not_in(newest)))


def _add(connection: Connection, values: dict[str, Any]) -> None:
    if connection.dialect.name == "sqlite":
        connection.execute(insert(agent_versions).values(kept_at=now_ms()), values)
        return
    from sqlalchemy.dialects import postgresql  # takes a moment to load

    # Several nodes may keep the same version at once.
    together = postgresql.insert(agent_versions).values(kept_at=now_ms()).on_conflict_do_nothing()
    connection.execute(together, values)


def get(connection: Connection, name: str, version: str) -> bytes | None:
    row = connection.execute(_GET, {"name": name, "version": version}).first()
    return bytes(row.body) if row else None


_NEWEST = (agent_versions.c.kept_at.desc(), agent_versions.c.version)
_GET = select(agent_versions.c.body).where(
    agent_versions.c.name == bindparam("name"), agent_versions.c.version == bindparam("version")
)
