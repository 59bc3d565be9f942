"""Grants: tools that a person has allowed to an agent from now on, as permits. They are stored in the rows of
turns. A new turn inherits the grants of the turn before it on its branch."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from caesura.core import answers, json_data, tree
from caesura.core import interrupts as core
from caesura.core.conversations import Grant
from caesura.core.permits import Permit
from caesura.store import conversations
from caesura.store.schema import interrupts, turns
from caesura.store.statements import Prepared


class _Holder(NamedTuple):
    """A turn that has grants."""

    num: int
    id: str
    parent_id: str | None
    created_at: int
    permits: frozenset[str]


def add(connection: Connection, turn: int, permit: str) -> None:
    """Permit this from now on along the branch: turns after this one inherit it. The caller holds the turn's
    row."""
    row = _OF_TURN.row(connection, num=turn)
    _set(connection, turn, _permits(row.grants if row else None) | {permit})


def stands(connection: Connection, turn: int, permit: str) -> bool:
    """Whether this is permitted in this turn at this moment."""
    row = _OF_TURN.row(connection, num=turn)
    return row is not None and permit in _permits(row.grants)


def listing(connection: Connection, conversation_id: str, user_id: str) -> list[Grant]:
    """The grants at the end of the active branch, sorted by tool and agent."""
    conversation = conversations.get(connection, conversation_id, user_id)
    holders = [_holder(row) for row in connection.execute(_OF_CONVERSATION, {"of": conversation_id})]
    branch = tree.branch(holders, conversation.active_turn)
    permits = [permit for permit in map(Permit.of, branch[-1].permits) if permit.agent] if branch else []
    return [
        _grant(connection, branch, permit) for permit in sorted(permits, key=lambda it: (it.tool, it.agent))
    ]


def revoke(connection: Connection, conversation_id: str, user_id: str, tool: str) -> bool:
    """Revoke the grants of this tool on every branch of the conversation, whatever agent has them. False if
    there was none."""
    conversations.get(connection, conversation_id, user_id)
    # Lock the turns before the conversation, in the same order as a run that sets its title. After locking
    # the conversation look again: a new turn may have inherited the grant.
    early = _take(connection, conversation_id, tool)
    conversations.lock(connection, conversation_id, user_id)
    return _take(connection, conversation_id, tool) or early


def _take(connection: Connection, conversation_id: str, tool: str) -> bool:
    rows = connection.execute(_OF_CONVERSATION.with_for_update(key_share=True), {"of": conversation_id})
    found = False
    for holder in map(_holder, rows):
        left = frozenset(permit for permit in holder.permits if Permit.of(permit).tool != tool)
        if left != holder.permits:
            _set(connection, holder.num, left)
            found = True
    return found


def _set(connection: Connection, turn: int, permits: frozenset[str]) -> None:
    _SET.count(connection, at_num=turn, grants=json_data.dumps(sorted(permits)) if permits else None)


def _grant(connection: Connection, branch: list[_Holder], permit: Permit) -> Grant:
    """The grant of the last turn of the branch, with the turn that it came from: the first of those that have
    had it without a break."""
    first = branch[-1]
    for holder in reversed(branch):
        if str(permit) not in holder.permits:
            break
        first = holder
    answered = _ANSWERED.rows(connection, turn=first.num)
    given = [row.closed_at for row in answered if _granted(row) == str(permit)]
    return Grant(permit.agent, permit.tool, first.id, max(given, default=first.created_at))


def _granted(row: Any) -> str | None:
    """What this answer permits from then on, if anything."""
    if not answers.from_dict(json_data.loads(row.answer)).grants:
        return None
    item = core.from_dict(json_data.loads(row.body))
    return item.permit if isinstance(item, core.Approval) else None


def _holder(row: Any) -> _Holder:
    return _Holder(row.num, row.id, row.parent_id, row.created_at, _permits(row.grants))


def _permits(stored: bytes | None) -> frozenset[str]:
    return frozenset(json_data.loads(stored)) if stored else frozenset()


_OF_TURN = Prepared(select(turns.c.grants).where(turns.c.num == bindparam("num")))
_OF_CONVERSATION = (
    select(turns.c.num, turns.c.id, turns.c.parent_id, turns.c.created_at, turns.c.grants)
    .where(turns.c.conversation_id == bindparam("of"), turns.c.grants.is_not(None))
    .order_by(turns.c.num)
)
_ANSWERED = Prepared(
    select(interrupts.c.body, interrupts.c.answer, interrupts.c.closed_at).where(
        interrupts.c.turn == bindparam("turn"), interrupts.c.status == "answered"
    )
)
_SET = Prepared(update(turns).where(turns.c.num == bindparam("at_num")))
