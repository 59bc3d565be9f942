"""The tool journal: an intent before a call, its result after it. A finished call is never run again.

A call that has stopped to ask a person has no result, but the time when it stopped. It is not under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from caesura.core import json_data
from caesura.store.schema import now_ms, tool_calls
from caesura.store.statements import Prepared


class ToolCall(NamedTuple):
    """`place` says where an operator's own graph makes the call, and is None if it was made before the turn
    was tried again."""

    id: str
    name: str
    args: dict[str, Any]
    status: Literal["begun", "asked", "ended"]
    output: dict[str, Any] | None
    place: str | None = None


def begin(
    connection: Connection,
    turn: int,
    call_id: str,
    name: str,
    args: dict[str, Any],
    place: str | None = None,
) -> None:
    """Record that the call is about to be made, perhaps again because a person approved that."""
    values = {"name": name, "args": json_data.dumps(args), "status": "begun", "place": place}
    if _BEGIN_AGAIN.count(connection, at_turn=turn, at_id=call_id, **values) == 0:
        _BEGIN.count(connection, turn=turn, id=call_id, **values)


def ask(connection: Connection, turn: int, call_id: str) -> None:
    """Record that the call has stopped to ask a person, and runs no more until it begins again."""
    _ASK.count(connection, at_turn=turn, at_id=call_id)


def finish(connection: Connection, turn: int, call_id: str, output: dict[str, Any]) -> None:
    _FINISH.count(connection, at_turn=turn, at_id=call_id, output=json_data.dumps(output))


def forget_places(connection: Connection, turn: int) -> None:
    """The turn is tried again: a graph may make its calls elsewhere."""
    _FORGET.count(connection, at_turn=turn)


def take_over(connection: Connection, turn: int, call: ToolCall) -> None:
    """Record that a graph makes the call at this place now. What came of it may count as unknown again."""
    unknown = {"status": "begun", "output": None, "ended_at": None} if call.status == "begun" else {}
    _TAKE_OVER.count(connection, at_turn=turn, at_id=call.id, place=call.place, **unknown)


def of(connection: Connection, turn: int) -> dict[str, ToolCall]:
    return _calls(_OF.rows(connection, turn=turn))


def of_ahead(connection: Connection, turn: int) -> Callable[[], dict[str, ToolCall]]:
    """As `of`, asked for together with the next statement."""
    rows = _OF.ahead(connection, turn=turn)
    return lambda: _calls(rows())


def _calls(rows: Iterable[Any]) -> dict[str, ToolCall]:
    return {
        row.id: ToolCall(
            row.id,
            row.name,
            json_data.loads(row.args),
            "asked" if row.status == "begun" and row.ended_at is not None else row.status,
            None if row.output is None else json_data.loads(row.output),
            row.place,
        )
        for row in rows
    }


# Built once: building a statement costs more than running it.
_ONE = (tool_calls.c.turn == bindparam("at_turn"), tool_calls.c.id == bindparam("at_id"))
_BEGIN = Prepared(insert(tool_calls).values(begun_at=now_ms()))
_BEGIN_AGAIN = Prepared(update(tool_calls).where(*_ONE).values(begun_at=now_ms(), ended_at=None))
_ASK = Prepared(update(tool_calls).where(*_ONE, tool_calls.c.status == "begun").values(ended_at=now_ms()))
_FINISH = Prepared(update(tool_calls).where(*_ONE).values(status="ended", ended_at=now_ms()))
_FORGET = Prepared(update(tool_calls).where(tool_calls.c.turn == bindparam("at_turn")).values(place=None))
_TAKE_OVER = Prepared(update(tool_calls).where(*_ONE))
_OF = Prepared(select(tool_calls).where(tool_calls.c.turn == bindparam("turn")))
