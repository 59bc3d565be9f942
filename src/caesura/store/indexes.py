"""The indexes of some of a table's rows. They are apart from the tables because SQLAlchemy loads PostgreSQL's
dialect for them, which a server on SQLite does not need. Migrations create them; no query names them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, Index, MetaData, literal_column

from caesura.store.schema import QUEUED, interrupts, metadata, running, turns


def complete() -> MetaData:
    """The whole schema: the tables of `schema`, which have these indexes once this module is imported."""
    return metadata


def _some(name: str, where: ColumnElement[bool], *columns: Column[Any]) -> None:
    Index(name, *columns, sqlite_where=where, postgresql_where=where)


_some("turns_running", running(turns), turns.c.user_id)
_some("turns_queued", QUEUED, turns.c.user_id, turns.c.num)
# A turn that has ended keeps its owner while its last event (the title) is still being written.
_some("turns_held", turns.c.owner.is_not(None), turns.c.lease_until)
_some("turns_expiring", turns.c.waits_until.is_not(None), turns.c.waits_until)
# Each owner looks for its own twice a second, whatever other owners have to stop.
_some("turns_stopping", turns.c.stop_requested.is_not(None), turns.c.owner, turns.c.num)
# A literal: SQLite does not match a bound value with the condition of an index.
_some(
    "interrupts_waiting",
    interrupts.c.status == literal_column("'pending'"),
    interrupts.c.user_id,
    interrupts.c.created_at,
)
