"""The account of what is stored: as the rows keep it, and counted anew."""

from sqlalchemy import Connection, func, select

from caesura.store.schema import (
    artifact_versions,
    conversations,
    events,
    graph_states,
    interrupts,
    tool_calls,
    turns,
)

Accounts = dict[str, int]


def accounts(connection: Connection) -> tuple[Accounts, Accounts]:
    """Bytes by conversation: what the rows say, and what a count of all that is stored gives. The two are the
    same whenever nothing runs."""
    kept = connection.execute(select(conversations.c.id, conversations.c.stored))
    known = {name: int(stored) for name, stored in kept}
    return known, {name: _count(connection, name) for name in known}


def _count(connection: Connection, name: str) -> int:
    own = turns.c.conversation_id == name
    told = func.length(turns.c.content) + func.coalesce(func.length(turns.c.messages), 0)
    told += func.coalesce(func.length(turns.c.about), 0)
    logs = select(func.sum(func.length(events.c.body))).join(turns, turns.c.num == events.c.turn)
    asked = func.length(interrupts.c.body) + func.coalesce(func.length(interrupts.c.answer), 0)
    questions = select(func.sum(asked)).join(turns, turns.c.num == interrupts.c.turn)
    called = func.length(tool_calls.c.args) + func.coalesce(func.length(tool_calls.c.output), 0)
    journal = select(func.sum(called)).join(turns, turns.c.num == tool_calls.c.turn)
    left = select(func.sum(func.length(graph_states.c.body))).join(turns, turns.c.num == graph_states.c.turn)
    size = func.length(artifact_versions.c.content) + func.length(artifact_versions.c.changes)
    versions = select(func.sum(size)).where(artifact_versions.c.conversation_id == name)
    rows = (logs, questions, journal, left)
    parts = (select(func.sum(told)).where(own), *(part.where(own) for part in rows), versions)
    return sum(int(connection.execute(part).scalar() or 0) for part in parts)
