"""One person's share: their limits, and the accounting of what is stored for them.

The row of each turn has the turn's size in bytes, and the row of each conversation its total size. Both are
updated in the transaction that ends a segment, packs a log or adds a version. The total of a person is the
sum over their conversations, so deleting a row gives its bytes back. There is no row that all turns of a
person write to when they end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Table, bindparam, func, select, update

from caesura.core.errors import StorageFull, TooManyQuestions, TooManyRuns
from caesura.store.schema import (
    conversations,
    events,
    graph_states,
    interrupts,
    running,
    tool_calls,
    turns,
    users,
    waits,
)
from caesura.store.statements import Prepared, on_postgres

#: Seconds after which a retry may succeed.
_RETRY = 2


@dataclass(frozen=True, slots=True)
class Share:
    """The limits of one person; None for no limit."""

    runs: int | None = None
    questions: int | None = None
    conversations: int | None = None
    stored_bytes: int | None = None


UNBOUNDED = Share()


def hold(connection: Connection, user_id: str) -> None:
    """Until the transaction ends, nobody else begins or deletes work of this person. This lock is taken
    before all others."""
    if connection.dialect.name != "sqlite":  # SQLite has only one writer
        _HOLD.later(connection, id=user_id)


def check(connection: Connection, user_id: str, share: Share) -> None:
    """Refuse more work for a person who has reached a limit. The caller holds the person."""
    if share.runs is share.questions is share.stored_bytes is None:
        return
    refuse(share, _USED.rows(connection, user_id=user_id))


def used_ahead(connection: Connection, user_id: str) -> Callable[[], Sequence[Any]]:
    """What `refuse` needs, asked for together with the next statement."""
    return _USED.ahead(connection, user_id=user_id)


def refuse(share: Share, used: Sequence[Any]) -> None:
    runs, questions, total = used[0]
    stored = int(total)  # PostgreSQL gives a decimal
    if share.stored_bytes is not None and stored >= share.stored_bytes:
        raise StorageFull(f"{stored} bytes are stored and {share.stored_bytes} may be: delete conversations")
    if share.questions is not None and questions >= share.questions:
        text = f"{questions} questions wait, the most that may: answer some, or stop their turns"
        raise TooManyQuestions(message=text)
    if share.runs is not None and runs >= share.runs:
        raise TooManyRuns(_RETRY, f"{runs} runs at once, the most that may: wait for one to end, or stop one")


def charge(connection: Connection, *numbers: int) -> None:
    """Update the accounting to the current size of these turns. The caller holds the turns."""
    if connection.dialect.name != "sqlite":
        on_postgres(connection).later(_CHARGE, (list(numbers),))
        return
    for num in numbers:
        row = _MEASURE.row(connection, num=num)
        if row is not None and row.now != row.size:
            _SET_SIZE.count(connection, at_num=num, size=row.now)
            add(connection, row.conversation_id, row.now - row.size)


def add(connection: Connection, conversation_id: str, size: int) -> None:
    """Add `size` bytes to this conversation."""
    _ADD.count(connection, at_id=conversation_id, more=size)


def _bytes(column: Any) -> Any:
    return func.coalesce(func.length(column), 0)


def _sum(table: Table, *columns: Column[bytes]) -> Any:
    """The bytes of these columns, over the rows of a turn."""
    size = sum((_bytes(column) for column in columns[1:]), _bytes(columns[0]))
    return select(func.coalesce(func.sum(size), 0)).where(table.c.turn == turns.c.num).scalar_subquery()


_MINE: Any = bindparam("user_id")
_RUNS = select(func.count()).where(turns.c.user_id == _MINE, running(turns))
_QUESTIONS = select(func.count()).where(interrupts.c.user_id == _MINE, waits(interrupts))
_STORED = select(func.coalesce(func.sum(conversations.c.stored), 0)).where(conversations.c.user_id == _MINE)
_USED = Prepared(
    select(
        _RUNS.scalar_subquery().label("runs"),
        _QUESTIONS.scalar_subquery().label("questions"),
        _STORED.scalar_subquery().label("stored"),
    )
)
_HOLD = Prepared(select(users.c.id).where(users.c.id == bindparam("id")).with_for_update(key_share=True))


_SIZE = (
    _bytes(turns.c.content)
    + _bytes(turns.c.messages)
    + _bytes(turns.c.about)
    + _sum(events, events.c.body)
    + _sum(interrupts, interrupts.c.body, interrupts.c.answer)
    + _sum(tool_calls, tool_calls.c.args, tool_calls.c.output)
    + _sum(graph_states, graph_states.c.body)
)
_MEASURE = Prepared(
    select(
        turns.c.conversation_id,
        turns.c.size,
        _SIZE.label("now"),
    ).where(turns.c.num == bindparam("num"))
)
_SET_SIZE = Prepared(update(turns).where(turns.c.num == bindparam("at_num")))
_ADD = Prepared(
    update(conversations)
    .where(conversations.c.id == bindparam("at_id"))
    .values(stored=conversations.c.stored + bindparam("more"))
)
#: As above in one statement, for many turns. Conversations are locked in the order of their ids.
_CHARGE = (
    "WITH measured AS (SELECT t.num, t.conversation_id, t.size, length(t.content)"
    " + coalesce(length(t.messages), 0) + coalesce(length(t.about), 0)"
    " + coalesce((SELECT sum(length(e.body)) FROM events e WHERE e.turn = t.num), 0)"
    " + coalesce((SELECT sum(length(i.body) + coalesce(length(i.answer), 0)) FROM interrupts i"
    " WHERE i.turn = t.num), 0)"
    " + coalesce((SELECT sum(length(c.args) + coalesce(length(c.output), 0)) FROM tool_calls c"
    " WHERE c.turn = t.num), 0)"
    " + coalesce((SELECT sum(length(g.body)) FROM graph_states g WHERE g.turn = t.num), 0) AS now"
    " FROM turns t WHERE t.num = ANY(%s)),"
    " sized AS (UPDATE turns t SET size = m.now FROM measured m WHERE t.num = m.num AND m.now <> m.size),"
    " grown AS (SELECT conversation_id, sum(now - size)::bigint AS more FROM measured"
    " GROUP BY conversation_id),"
    " held AS (SELECT c.id FROM conversations c WHERE c.id IN"
    " (SELECT conversation_id FROM grown WHERE more <> 0) ORDER BY c.id FOR NO KEY UPDATE)"
    " UPDATE conversations c SET stored = c.stored + g.more"
    " FROM held h JOIN grown g ON g.conversation_id = h.id WHERE c.id = h.id"
)
