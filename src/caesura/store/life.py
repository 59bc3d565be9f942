"""The life of a turn: every change of its status and of who owns it. `docs/protocol.md` draws it.

A verb that does not fit the turn's status, or the epoch that owns it, is refused with `Fenced` or `Conflict`
and changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    Boolean,
    ClauseElement,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from caesura.core import codec, ids, json_data
from caesura.core import events as ev
from caesura.core import messages as msg
from caesura.core.answers import Answer
from caesura.core.errors import Conflict, Fenced, InterruptPending, NotFound, RunInProgress, StopRequested
from caesura.core.interrupts import closed_by
from caesura.core.notes import NOTHING, About
from caesura.core.turns import ENDED, LIVE, OnDisconnect, Status, Turn
from caesura.store import changes, conversations, events, interrupts, shares, tool_calls
from caesura.store.schema import QUEUED, graph_states, live, now_ms, running, turns
from caesura.store.shares import Share
from caesura.store.statements import Prepared, send
from caesura.store.turns import get, made

logger = logging.getLogger(__name__)

Outcome = Literal["done", "failed", "stopped"]


class Owned(NamedTuple):
    """A turn and the epoch under which the caller owns it."""

    num: int
    epoch: int


# --- creating and claiming


@dataclass(frozen=True, slots=True)
class New:
    """The values for a new turn. `parent` is the id of a turn, None for a new root, or `...` for the end of
    the active branch."""

    conversation_id: str
    content: str
    agent: str | None = None
    parent: str | Any | None = ...
    owner: str | None = None
    lease_ms: int = 0
    on_disconnect: OnDisconnect = "continue"
    #: The person that must own the conversation, if a person asks, and their limits.
    user_id: str | None = None
    share: Share = shares.UNBOUNDED


def create(connection: Connection, new: New) -> Turn:
    """Create a turn at the end of its branch, run by `owner` or queued. A branch has at most one live
    turn."""
    used = None
    if new.user_id is not None:
        shares.hold(connection, new.user_id)
        used = shares.used_ahead(connection, new.user_id)
    conversation = conversations.lock(connection, new.conversation_id, new.user_id)
    parent_id = conversation.active_turn if new.parent is ... else new.parent
    parent = _parent(connection, new.conversation_id, parent_id)
    if used is not None:
        shares.refuse(new.share, used())
    else:
        shares.check(connection, conversation.user_id, new.share)
    turn_id = ids.turn()
    held = new.owner is not None
    values = {
        "id": turn_id,
        "conversation_id": new.conversation_id,
        "user_id": conversation.user_id,
        "ordinal": conversation.turn_count + 1,
        "parent_id": parent_id,
        "agent": new.agent or conversation.agent,
        "status": "running" if held else "queued",
        "epoch": 1 if held else 0,
        "segment": 1 if held else 0,
        "on_disconnect": new.on_disconnect,
        "message_count": (parent.message_count if parent else 0) + 1,
        "content": json_data.text(new.content).encode(),
        "grants": parent.grants if parent else None,
        "branch": parent.branch or parent.id if parent and not parent.followed else turn_id,
        "states": _states(parent) if parent else None,
    }
    if held:
        values |= {"owner": new.owner, "lease_ms": new.lease_ms}
    conversations.extend(connection, new.conversation_id, turn_id)
    row = (_INSERT_HELD if held else _INSERT).row(connection, **values)
    return replace(made(row), titled=conversation.title is not None)


def claim(connection: Connection, num: int, owner: str, lease_ms: int) -> Turn | None:
    """Claim this turn under a new epoch, if nobody holds it."""
    row = _CLAIM_ONE.row(connection, at_num=num, owner=owner, lease_ms=lease_ms)
    return made(row) if row else None


def claim_some(
    connection: Connection,
    owner: str,
    lease_ms: int,
    limit: int,
    busy: Collection[int] = (),
    agents: Collection[str] | None = None,
) -> list[Turn]:
    """Claim turns that need work: those with an expired lease, then waiting turns that expired or were
    stopped, then queued ones. From the queue, first the oldest turn of each person, then each person's next.
    Turns in `busy` are left out: the owner works on them. It slept, or the clock was set, and it will renew
    their leases soon. So are turns that need an agent which is not one of `agents`, if those are given."""
    numbers: dict[int, None] = {}
    known = {"agents": list(agents or ()), "every_agent": agents is None}
    for statement in _LOOKS:
        found = connection.execute(statement, {"limit": limit - len(numbers) + len(busy), **known})
        numbers |= {row.num: None for row in found if row.num not in busy}
        if len(numbers) >= limit:
            break
    return _claim(connection, list(numbers)[:limit], owner, lease_ms) if numbers else []


def claim_stopped(connection: Connection, num: int, owner: str, lease_ms: int) -> Turn | None:
    """Claim this turn in order to end it, if it is asked to stop and nothing of it runs: it waits for a
    person or is queued. A run that still holds it, such as one that only waits for a title, loses it. Its
    questions are closed, so that later answers are refused."""
    row = _CLAIM_STOPPED.row(connection, at_num=num, owner=owner, lease_ms=lease_ms)
    if row is None:
        return None
    interrupts.close(connection, num, closed_by(row.stop_requested))
    return made(row)


def seize(connection: Connection, num: int, epoch: int, lease_ms: int) -> Turn | None:
    """Take this turn from the run that holds it under this epoch, for the same owner."""
    row = _SEIZE.row(connection, at_num=num, at_epoch=epoch, lease_ms=lease_ms)
    return made(row) if row else None


def renew(connection: Connection, owner: str, numbers: Iterable[int], lease_ms: int) -> dict[int, str | None]:
    """Renew the leases of these turns. For each renewed turn, returns whether it is asked to stop. A missing
    number was claimed by another owner, or deleted, or its row is locked: `held` tells which. Waiting for
    that lock would delay every writer to one of the other turns."""
    if connection.dialect.name != "sqlite":
        # One statement with one value for all numbers: a list of thousands would be compiled each time.
        found = send(connection, _RENEW_ALL, (list(numbers), owner, lease_ms))
        return {row.num: row.stop_requested for row in found.rows}
    mine = and_(turns.c.num.in_(numbers), turns.c.owner == owner)
    statement = update(turns).where(mine).values(lease_until=now_ms() + lease_ms)
    renewed = connection.execute(statement.returning(turns.c.num, turns.c.stop_requested))
    return {row.num: row.stop_requested for row in renewed}


def held(connection: Connection, owner: str, numbers: Iterable[int]) -> dict[int, str | None]:
    """The turns of these that belong to this owner, and whether each is asked to stop. Renews no lease."""
    if connection.dialect.name != "sqlite":
        found = send(connection, _HELD_ALL, (list(numbers), owner)).rows
    else:
        mine = and_(turns.c.num.in_(numbers), turns.c.owner == owner)
        found = list(connection.execute(select(turns.c.num, turns.c.stop_requested).where(mine)))
    return {row.num: row.stop_requested for row in found}


def stops(connection: Connection, owner: str) -> dict[int, str]:
    """The turns of this owner that are asked to stop, each with the reason."""
    return {row.num: row.stop_requested for row in _STOPS.rows(connection, at_owner=owner)}


def orphan(connection: Connection, owner: str) -> None:
    """End every lease except this owner's. For a process that knows that it is the only one."""
    others = and_(turns.c.owner.is_not(None), turns.c.owner != owner)
    connection.execute(update(turns).where(others).values(lease_until=0))


# --- running


def begin_segment(
    connection: Connection, turn: Turn, segment: int, start: int | None = None, stop: str | None = None
) -> None:
    """Set the turn to running. `start` is the last event before the segment, if the segment begins now.
    `stop` says that the segment only closes the turn."""
    values: dict[str, Any] = {"segment": segment, "status": "running"}
    if start is not None:
        values["segment_seq"] = start
    if stop is not None:
        values["stop_requested"] = stop
    _change(connection, turn, values, *LIVE)
    if turn.status == "waiting":
        changes.note(connection, turn.conversation_id)


class Settled(NamedTuple):
    """The outcome of a segment, with all messages of the turn. With `released`, its owner also releases
    it."""

    turn: Turn
    status: Outcome
    messages: Sequence[msg.Message]
    running_ms: int
    released: bool
    about: About = NOTHING


def settle(connection: Connection, items: Sequence[Settled]) -> None:
    """End these turns."""
    for item in items:
        changes.note(connection, item.turn.conversation_id)
    if connection.dialect.name != "sqlite":
        _change_all(connection, _SETTLE_ALL, [_line(item) for item in items])
        return
    for item in items:
        values = _told(item.turn, item.messages) | {"running_ms": item.running_ms} | _over(item.status)
        values["about"] = item.about.dumps()
        _change(connection, item.turn, values | (_RELEASED if item.released else {}), "running")


def give_up(
    connection: Connection, turn: Turn, messages: Sequence[msg.Message] | None, about: About = NOTHING
) -> None:
    """End a turn as failed without a run, and release it. `messages` is None if they cannot be read."""
    told = _told(turn, messages) | {"about": about.dumps()} if messages is not None else {}
    _change(connection, turn, _over("failed") | _RELEASED | told, *LIVE)
    changes.note(connection, turn.conversation_id)


def wait(
    connection: Connection,
    turn: Turn,
    messages: Sequence[msg.Message],
    running_ms: int,
    until: int | None,
    released: bool,
) -> None:
    """Set the turn to waiting for a person, until `until` if given. Raises `StopRequested` if it is asked to
    stop: a person who has stopped the turn must not be able to answer it."""
    at = {"at_num": turn.num, "at_epoch": turn.epoch}
    values = {"status": "waiting", "waits_until": until, "running_ms": running_ms} | _told(turn, messages)
    if _WAIT.count(connection, **values, **(_RELEASED if released else {}), **at):
        changes.note(connection, turn.conversation_id)
        return
    if stop := _STOP.row(connection, **at):
        raise StopRequested(stop.stop_requested)
    raise Fenced


def release(connection: Connection, items: Sequence[Owned]) -> None:
    """Release these turns: they have ended, or wait."""
    if connection.dialect.name != "sqlite":
        _change_all(connection, _RELEASE_ALL, items)
        return
    for item in items:
        _change(connection, item, _RELEASED)


def hand_over(connection: Connection, num: int, epoch: int) -> None:
    """Release a turn so that another owner continues it at once. A turn that has reached its outcome is not
    run again: the next owner, after the lease expires, writes its last event."""
    _change(connection, Owned(num, epoch), _HANDED_OVER)


# --- decisions of a person


def request_stop(connection: Connection, num: int, reason: str) -> str | None:
    """Ask the owner of this turn to stop it. Returns the reason of the stop, which is that of the first
    request, or None if the turn is not live. A turn that waits for a person is not stopped because its
    readers have left."""
    statement = _STOP_RUNNING if reason == "disconnect" else _STOP_LIVE
    row = statement.row(connection, at_num=num, reason=reason)
    return row.stop_requested if row else None


def answer(
    connection: Connection,
    user_id: str,
    answers: Mapping[str, Answer],
    *,
    blind: bool = False,
    viewer: str | None = None,
) -> bool:
    """Answer all of these interrupts or none, as `interrupts.decide` does. True if nothing of the turn is
    pending any more: the turn is then queued."""
    left = interrupts.decide(connection, user_id, answers, blind=blind, viewer=viewer)
    for num in (num for num, pending in left.items() if not pending):
        _WAKE.count(connection, at_num=num)
    shares.charge(connection, *left)
    return not any(left.values())


def reopen(connection: Connection, turn_id: str) -> Turn:
    """Queue an ended turn for another attempt."""
    statement = (
        update(turns)
        .where(turns.c.id == turn_id, turns.c.status.in_(("failed", "stopped")), turns.c.owner.is_(None))
        .values(status="queued", ended_at=None, stop_requested=None, running_ms=0)
    )
    if connection.execute(statement).rowcount == 0:
        raise Conflict("only a failed or stopped turn can be tried again")
    turn = get(connection, turn_id)
    tool_calls.forget_places(connection, turn.num)
    changes.note(connection, turn.conversation_id)
    return turn


# --- private


def _parent(connection: Connection, conversation_id: str, parent_id: str | None) -> Any | None:
    """The row of a parent that may be followed, without its messages, which a new turn does not need."""
    if parent_id is None:
        return None
    parent = _PARENT.row(connection, id=parent_id)
    if parent is None or parent.conversation_id != conversation_id:
        raise NotFound("turn not found")
    if parent.status == "waiting":
        raise InterruptPending(tuple(row.interrupt for row in interrupts.pending(connection, parent.num)))
    if parent.status not in ENDED:
        raise RunInProgress
    return parent


def _states(parent: Any) -> bytes | None:
    """Where the graphs of agents begin in a turn after this one. It costs the same on a branch of any
    length."""
    known: dict[str, int] = json_data.loads(parent.states) if parent.states else {}
    if parent.left_state:
        known[parent.agent] = parent.num
    return json_data.dumps(known) if known else None


def _claim(connection: Connection, numbers: Sequence[int], owner: str, lease_ms: int) -> list[Turn]:
    values = {"numbers": list(numbers), "owner": owner, "lease_ms": lease_ms}
    claimed = [_readable(connection, row) for row in connection.execute(_CLAIM, values).all()]
    return sorted((turn for turn in claimed if turn is not None), key=lambda turn: turn.num)


def _readable(connection: Connection, row: Any) -> Turn | None:
    """The turn, or None if its row cannot be read. Such a turn is ended, so that the others can be
    claimed."""
    try:
        return made(row)
    except Exception:
        logger.exception("turn %s cannot be read and is set aside", row.id)
        _set_aside(connection, Owned(row.num, row.epoch))
        changes.note(connection, row.conversation_id)
        return None


def _set_aside(connection: Connection, item: Owned) -> None:
    at = connection.execute(select(now_ms())).scalar_one()
    outcome = ev.Failed("the turn cannot be read", "unreadable")
    body = codec.encode([outcome, ev.SegmentEnded()])
    first = events.last(connection, item.num) + 1
    events.insert_fenced(connection, [events.Rows(item.num, item.epoch, first, first + 1, at, body)])
    _change(connection, item, _over("failed") | _RELEASED)
    shares.charge(connection, item.num)


def _change(connection: Connection, item: Owned | Turn, values: Mapping[str, Any], *statuses: Status) -> None:
    """Set columns of a turn that the caller owns, if its status is one of `statuses`, or any if none is
    given."""
    computed = {name: value for name, value in values.items() if isinstance(value, ClauseElement)}
    plainly = {name: value for name, value in values.items() if name not in computed}
    at = {"at_num": item.num, "at_epoch": item.epoch}
    if computed and computed.keys() != {"ended_at"}:
        changed = connection.execute(_UPDATE.values(**computed), plainly | at).rowcount
    else:
        changed = _changing(statuses, bool(computed)).count(connection, **plainly, **at)
    if changed == 0:
        raise Fenced


@cache
def _changing(statuses: tuple[Status, ...], ended: bool) -> Prepared:
    statement = _UPDATE.values(ended_at=now_ms()) if ended else _UPDATE
    if statuses:
        statement = statement.where(turns.c.status.in_([literal_column(f"'{name}'") for name in statuses]))
    return Prepared(statement)


def _change_all(connection: Connection, statement: str, lines: Sequence[tuple[Any, ...]]) -> None:
    columns = tuple(list(column) for column in zip(*lines, strict=True))
    if send(connection, statement, columns).changed != len(lines):
        raise Fenced


def _line(item: Settled) -> tuple[Any, ...]:
    turn, told = item.turn, _told(item.turn, item.messages)
    said = told["messages"], told["message_count"]
    return turn.num, turn.epoch, item.status, *said, item.running_ms, item.released, item.about.dumps()


def _told(turn: Turn, messages: Sequence[msg.Message]) -> dict[str, Any]:
    """The messages so far, as columns, with the resulting message count of the branch."""
    above = turn.message_count - len(msg.shown(turn.messages or ()))
    return {
        "messages": json_data.dumps([msg.to_dict(message) for message in messages]),
        "message_count": above + len(msg.shown(messages)),
    }


def _over(status: Status) -> dict[str, Any]:
    return {"status": status, "ended_at": now_ms(), "stop_requested": None, "waits_until": None}


def _look(few: ColumnElement[bool], order: Any) -> Select[tuple[int]]:
    """Each query reads the rows of one partial index: the table itself only grows."""
    found = select(turns.c.num).where(few).order_by(order).limit(bindparam("limit"))
    return found.with_for_update(skip_locked=True)


def _fair() -> Select[tuple[int]]:
    place = func.row_number().over(partition_by=turns.c.user_id, order_by=turns.c.num)
    ranked = select(turns.c.num, place.label("place")).where(_QUEUED, _ABLE).subquery()
    return select(ranked.c.num).order_by(ranked.c.place, ranked.c.num).limit(bindparam("limit"))


# Statements that are needed for every turn are built once: building one costs more than running it.
_FREE = turns.c.owner.is_(None)
_DEAD = and_(turns.c.owner.is_not(None), turns.c.lease_until < now_ms())
_EXPIRED = and_(turns.c.status == "waiting", _FREE, turns.c.waits_until < now_ms())
_STOPPING = and_(turns.c.status == "waiting", _FREE, turns.c.stop_requested.is_not(None))
_QUEUED = and_(QUEUED, _FREE)
#: A turn that only has to be ended needs no agent.
_ABLE = or_(
    bindparam("every_agent", type_=Boolean),
    turns.c.agent.in_(bindparam("agents", expanding=True)),
    turns.c.stop_requested.is_not(None),
    turns.c.status.not_in([literal_column("'queued'"), literal_column("'running'")]),
)
_LOOKS = (
    _look(and_(_DEAD, _ABLE), turns.c.lease_until),
    _look(_EXPIRED, turns.c.waits_until),
    _look(_STOPPING, turns.c.num),
    _fair(),
)
_NEW = insert(turns).values(created_at=now_ms()).returning(turns)
_INSERT = Prepared(_NEW)
_INSERT_HELD = Prepared(_NEW.values(lease_until=now_ms() + bindparam("lease_ms")))
_NEXT = (
    update(turns)
    .values(lease_until=now_ms() + bindparam("lease_ms"), epoch=turns.c.epoch + 1)
    .returning(turns)
)
_SEIZE = Prepared(_NEXT.where(turns.c.num == bindparam("at_num"), turns.c.epoch == bindparam("at_epoch")))
_TAKE = _NEXT.where(or_(_QUEUED, _DEAD, _EXPIRED, _STOPPING))
_CLAIM = _TAKE.where(turns.c.num.in_(bindparam("numbers", expanding=True)))
_CLAIM_ONE = Prepared(_TAKE.where(turns.c.num == bindparam("at_num")))
_CLAIM_STOPPED = Prepared(
    _NEXT.where(
        turns.c.num == bindparam("at_num"),
        or_(turns.c.status == "waiting", QUEUED),
        turns.c.stop_requested.is_not(None),
    )
)
_CHILDREN = turns.alias("children")
_FOLLOWED = exists().where(
    _CHILDREN.c.conversation_id == turns.c.conversation_id,
    _CHILDREN.c.ordinal > turns.c.ordinal,
    _CHILDREN.c.parent_id == turns.c.id,
)
_PARENT = Prepared(
    select(
        turns.c.num,
        turns.c.id,
        turns.c.conversation_id,
        turns.c.agent,
        turns.c.status,
        turns.c.message_count,
        turns.c.grants,
        turns.c.branch,
        turns.c.states,
        _FOLLOWED.label("followed"),
        exists().where(graph_states.c.turn == turns.c.num).label("left_state"),
    ).where(turns.c.id == bindparam("id"))
)
_UPDATE = update(turns).where(turns.c.num == bindparam("at_num"), turns.c.epoch == bindparam("at_epoch"))
_WAKE = Prepared(
    update(turns)
    .where(turns.c.num == bindparam("at_num"), turns.c.status == "waiting")
    .values(status="queued", waits_until=None)
)
_RUNS = turns.c.status == literal_column("'running'")
_WAIT = Prepared(_UPDATE.where(_RUNS, turns.c.stop_requested.is_(None)))
_STOP = Prepared(
    select(turns.c.stop_requested).where(
        turns.c.num == bindparam("at_num"),
        turns.c.epoch == bindparam("at_epoch"),
        _RUNS,
        turns.c.stop_requested.is_not(None),
    )
)
_STOPS = Prepared(
    select(turns.c.num, turns.c.stop_requested).where(
        turns.c.owner == bindparam("at_owner"), turns.c.stop_requested.is_not(None)
    )
)
_REQUEST_STOP = (
    update(turns)
    .where(turns.c.num == bindparam("at_num"))
    .values(stop_requested=func.coalesce(turns.c.stop_requested, bindparam("reason")))
    .returning(turns.c.stop_requested)
)
_STOP_LIVE = Prepared(_REQUEST_STOP.where(live(turns)))
_STOP_RUNNING = Prepared(_REQUEST_STOP.where(running(turns)))
# The rows are locked in order, as every other transaction locks several turns.
_RENEW_ALL = (
    "WITH free AS (SELECT num FROM turns WHERE num = ANY(%s) AND owner = %s"
    " ORDER BY num FOR NO KEY UPDATE SKIP LOCKED)"
    " UPDATE turns t SET lease_until = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + %s"
    " FROM free WHERE t.num = free.num RETURNING t.num, t.stop_requested"
)
_HELD_ALL = "SELECT num, stop_requested FROM turns WHERE num = ANY(%s) AND owner = %s"
_SETTLE_ALL = (
    "UPDATE turns t SET status = n.status, messages = n.messages, message_count = n.message_count,"
    " running_ms = n.running_ms, about = n.about,"
    " ended_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT),"
    " stop_requested = NULL, waits_until = NULL,"
    " owner = CASE WHEN n.released THEN NULL ELSE t.owner END,"
    " lease_until = CASE WHEN n.released THEN NULL ELSE t.lease_until END"
    " FROM unnest(%s::bigint[], %s::int[], %s::text[], %s::bytea[], %s::int[], %s::bigint[], %s::bool[],"
    " %s::bytea[]) AS n(num, epoch, status, messages, message_count, running_ms, released, about)"
    " WHERE t.num = n.num AND t.epoch = n.epoch AND t.status = 'running'"
)
_RELEASE_ALL = (
    "UPDATE turns t SET owner = NULL, lease_until = NULL"
    " FROM unnest(%s::bigint[], %s::int[]) AS n(num, epoch) WHERE t.num = n.num AND t.epoch = n.epoch"
)
#: The columns of a turn that nobody holds.
_RELEASED: dict[str, Any] = {"owner": None, "lease_until": None}
_GOES_ON = turns.c.status.in_(("queued", "running"))
_HANDED_OVER: dict[str, Any] = {
    "status": case((_GOES_ON, "queued"), else_=turns.c.status),
    "owner": case((_GOES_ON, None), else_=turns.c.owner),
    "lease_until": case((_GOES_ON, None), else_=0),
}
