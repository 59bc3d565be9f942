"""The tool journal: an intent before a call, its result after it. A call that ended is never run again."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, insert, select, update

from caesura.core import plain
from caesura.store.schema import now_ms, tool_calls


class ToolCall(NamedTuple):
    id: str
    name: str
    args: dict[str, Any]
    status: Literal["begun", "ended"]
    output: dict[str, Any] | None


def begin(connection: Connection, turn: int, call_id: str, name: str, args: dict[str, Any]) -> None:
    """Note that the call is about to be made (again: a person may have said so)."""
    where = (tool_calls.c.turn == turn, tool_calls.c.id == call_id)
    values = {"name": name, "args": plain.dumps(args), "status": "begun", "begun_at": now_ms()}
    if connection.execute(update(tool_calls).where(*where).values(**values)).rowcount == 0:
        connection.execute(insert(tool_calls).values(turn=turn, id=call_id, **values))


def finish(connection: Connection, turn: int, call_id: str, output: dict[str, Any]) -> None:
    connection.execute(
        update(tool_calls)
        .where(tool_calls.c.turn == turn, tool_calls.c.id == call_id)
        .values(status="ended", output=plain.dumps(output), ended_at=now_ms())
    )


def of(connection: Connection, turn: int) -> dict[str, ToolCall]:
    rows = connection.execute(select(tool_calls).where(tool_calls.c.turn == turn))
    return {
        row.id: ToolCall(
            row.id,
            row.name,
            plain.loads(row.args),
            row.status,
            None if row.output is None else plain.loads(row.output),
        )
        for row in rows
    }
