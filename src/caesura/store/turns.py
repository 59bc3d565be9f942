"""Turns: a user message and all that answers it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    ClauseElement,
    Connection,
    Select,
    bindparam,
    case,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from caesura.core import ids, plain
from caesura.core import messages as msg
from caesura.core.errors import Conflict, Fenced, InterruptPending, NotFound, RunInProgress
from caesura.store import conversations, interrupts, shares
from caesura.store.prepared import Prepared
from caesura.store.schema import QUEUED, events, live, now_ms, running, turns
from caesura.store.shares import Share

Status = Literal["queued", "running", "waiting", "done", "failed", "stopped"]
OnDisconnect = Literal["continue", "stop"]
ENDED: tuple[Status, ...] = ("done", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class Turn:
    num: int
    id: str
    conversation_id: str
    user_id: str
    ordinal: int
    parent_id: str | None
    agent: str
    status: Status
    owner: str | None
    lease_until: int | None
    epoch: int
    segment: int
    segment_seq: int
    stop_requested: str | None
    on_disconnect: OnDisconnect
    running_ms: int
    waits_until: int | None
    message_count: int
    content: str
    messages: list[msg.Message] | None
    grants: tuple[str, ...]
    created_at: int
    ended_at: int | None
    #: The bytes of it that are on its owner's account.
    size: int
    #: Whether its conversation had a title when this turn was made; None where nobody looked.
    titled: bool | None = field(default=None, compare=False)

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    def bare(self) -> Turn:
        """The same without what was said: a reader may wait for hours, and needs none of it."""
        return replace(self, content="", messages=None)


class Link(NamedTuple):
    id: str
    parent_id: str | None


class Node(NamedTuple):
    """A turn as far as it takes to find a way through the tree."""

    num: int
    id: str
    parent_id: str | None
    ordinal: int
    #: What it takes to show: its messages, or its log while that is ahead of them.
    size: int


class Underway(NamedTuple):
    """A turn that runs, as far as it takes to count its messages. `above` is how many the branch shows up to
    and with the turn's own message."""

    id: str
    num: int
    epoch: int
    above: int


class Said(NamedTuple):
    """A turn as far as it takes to tell what was said in it."""

    num: int
    id: str
    parent_id: str | None
    status: Status
    content: str
    #: As they are stored: thousands of them are read to show two members of each.
    messages: list[dict[str, Any]] | None


class Refused(NamedTuple):
    """Turns, each with an epoch, that could not be written to: the epoch does not own the turn, or somebody
    else holds its row at the moment."""

    fenced: frozenset[tuple[int, int]] = frozenset()
    locked: frozenset[tuple[int, int]] = frozenset()


NONE_REFUSED = Refused()


class Ended(NamedTuple):
    """What is written of a turn that is over."""

    num: int
    epoch: int
    status: Status
    messages: bytes
    message_count: int
    running_ms: int
    #: Whether its owner lets go of it.
    released: bool


@dataclass(frozen=True, slots=True)
class New:
    """What a turn is made of. `parent` is the id of a turn, None for a new root, or `...` for the end of
    the active branch."""

    conversation_id: str
    content: str
    agent: str | None = None
    parent: str | Any | None = ...
    owner: str | None = None
    lease_ms: int = 0
    on_disconnect: OnDisconnect = "continue"
    #: Whose conversation it must be, when a person asks for it, and how much that person may have.
    user_id: str | None = None
    share: Share = shares.UNBOUNDED


def create(connection: Connection, new: New) -> Turn:
    """A turn at the end of its branch, run by `owner` or queued. A branch has one live turn at most."""
    if new.user_id is not None:
        shares.hold(connection, new.user_id)
    conversation = conversations.lock(connection, new.conversation_id, new.user_id)
    parent_id = conversation.active_turn if new.parent is ... else new.parent
    parent = _parent(connection, new.conversation_id, parent_id)
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
        "content": plain.text(new.content).encode(),
        "grants": parent.grants if parent else None,
    }
    if held:
        values |= {"owner": new.owner, "lease_ms": new.lease_ms}
    row = (_INSERT_HELD if held else _INSERT).row(connection, **values)
    conversations.extend(connection, new.conversation_id, turn_id)
    return replace(made(row), titled=conversation.title is not None)


# Statements that are needed for every turn are built once: building one costs more than running it.
_NEW = insert(turns).values(created_at=now_ms()).returning(turns)
_INSERT = Prepared(_NEW)
_INSERT_HELD = Prepared(_NEW.values(lease_until=now_ms() + bindparam("lease_ms")))
_BY_ID = Prepared(select(turns).where(turns.c.id == bindparam("id")))
_OWNED = Prepared(select(turns).where(turns.c.id == bindparam("id"), turns.c.user_id == bindparam("user_id")))
_BY_NUM = Prepared(select(turns).where(turns.c.num == bindparam("num")))
_EXISTS = Prepared(select(turns.c.num).where(turns.c.num == bindparam("num")))
_HOLD = Prepared(
    select(turns.c.num)
    .where(turns.c.num == bindparam("num"), turns.c.epoch == bindparam("epoch"))
    .with_for_update(key_share=True)
)
_EPOCH_OF = Prepared(select(turns.c.epoch).where(turns.c.num == bindparam("num")))
#: For the rest of the transaction no other lock is waited for longer than this: one that somebody else holds
#: must not hold up all that is written with it.
_HOLD_SOME = (
    "SELECT t.num, t.epoch FROM turns t, set_config('lock_timeout', '50', true)"
    " WHERE t.num = ANY(%s) ORDER BY t.num FOR NO KEY UPDATE OF t SKIP LOCKED"
)
_END_ALL = (
    "UPDATE turns t SET status = n.status, messages = n.messages, message_count = n.message_count,"
    " running_ms = n.running_ms, ended_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT),"
    " stop_requested = NULL, waits_until = NULL,"
    " owner = CASE WHEN n.released THEN NULL ELSE t.owner END,"
    " lease_until = CASE WHEN n.released THEN NULL ELSE t.lease_until END"
    " FROM unnest(%s::bigint[], %s::int[], %s::text[], %s::bytea[], %s::int[], %s::bigint[], %s::bool[])"
    " AS n(num, epoch, status, messages, message_count, running_ms, released)"
    " WHERE t.num = n.num AND t.epoch = n.epoch"
)
_RELEASE_ALL = (
    "UPDATE turns t SET owner = NULL, lease_until = NULL"
    " FROM unnest(%s::bigint[], %s::int[]) AS n(num, epoch) WHERE t.num = n.num AND t.epoch = n.epoch"
)
_PARENT = Prepared(
    select(turns.c.num, turns.c.conversation_id, turns.c.status, turns.c.message_count, turns.c.grants).where(
        turns.c.id == bindparam("id")
    )
)
_LOGGED = select(func.coalesce(func.sum(func.length(events.c.body)), 0)).where(events.c.turn == turns.c.num)
_SHOWN = func.length(turns.c.content) + case(
    (live(turns), _LOGGED.scalar_subquery()), else_=func.coalesce(func.length(turns.c.messages), 0)
)
_NODE = (turns.c.num, turns.c.id, turns.c.parent_id, turns.c.ordinal, _SHOWN.label("size"))


def _walk() -> Select[Any]:
    """Up from a turn, a step for each turn of its branch."""
    leaf = select(*_NODE, literal(1).label("step")).where(
        turns.c.id == bindparam("leaf"), turns.c.conversation_id == bindparam("of")
    )
    above = leaf.cte("above", recursive=True)
    parent = select(*_NODE, above.c.step + 1).where(
        turns.c.id == above.c.parent_id, above.c.step < bindparam("limit")
    )
    found = above.union_all(parent)
    return select(*(found.c[name] for name in Node._fields)).order_by(found.c.step)


_ABOVE = Prepared(_walk())
_NODES = Prepared(
    select(*_NODE)
    .where(turns.c.conversation_id == bindparam("of"), turns.c.ordinal > bindparam("after"))
    .order_by(turns.c.ordinal)
    .limit(bindparam("limit"))
)
_EPOCH = Prepared(select(turns.c.epoch).where(turns.c.id == bindparam("id")))
_TREE = Prepared(
    select(turns.c.id, turns.c.parent_id)
    .where(turns.c.conversation_id == bindparam("of"))
    .order_by(turns.c.ordinal)
)
_FOLLOWED = Prepared(
    select(turns.c.num)
    .where(
        turns.c.conversation_id == bindparam("of"),
        turns.c.ordinal > bindparam("after"),
        turns.c.parent_id == bindparam("id"),
    )
    .limit(1)
)
_UPDATE = update(turns).where(turns.c.num == bindparam("at_num"), turns.c.epoch == bindparam("at_epoch"))
_CHANGE = Prepared(_UPDATE)
_CHANGE_ENDED = Prepared(_UPDATE.values(ended_at=now_ms()))


def get(connection: Connection, turn_id: str) -> Turn:
    row = _BY_ID.row(connection, id=turn_id)
    if row is None:
        raise NotFound("turn not found")
    return made(row)


def owned(connection: Connection, turn_id: str, user_id: str) -> Turn:
    """A person's own turn: another's and one that does not exist look the same."""
    row = _OWNED.row(connection, id=turn_id, user_id=user_id)
    if row is None:
        raise NotFound("turn not found")
    return made(row)


def at(connection: Connection, conversation_id: str, ordinal: int) -> Turn | None:
    """The turn that came at this place in a conversation."""
    where = (turns.c.conversation_id == conversation_id, turns.c.ordinal == ordinal)
    row = connection.execute(select(turns).where(*where)).first()
    return made(row) if row else None


def numbered(connection: Connection, num: int) -> Turn | None:
    row = _BY_NUM.row(connection, num=num)
    return made(row) if row else None


def exists(connection: Connection, num: int) -> bool:
    return _EXISTS.row(connection, num=num) is not None


def of(connection: Connection, conversation_id: str) -> list[Turn]:
    """All turns of a conversation, oldest first: the whole tree."""
    statement = select(turns).where(turns.c.conversation_id == conversation_id).order_by(turns.c.ordinal)
    return [made(row) for row in connection.execute(statement)]


def above(connection: Connection, conversation_id: str, leaf: str | None, limit: int) -> list[Node]:
    """The branch that ends in this turn, from there upwards, so many turns of it at the most."""
    if leaf is None:
        return []
    return [Node(*row) for row in _ABOVE.rows(connection, leaf=leaf, of=conversation_id, limit=limit)]


def nodes(connection: Connection, conversation_id: str, after: int, limit: int) -> list[Node]:
    """The turns of a conversation behind this ordinal, oldest first, so many at the most."""
    return [Node(*row) for row in _NODES.rows(connection, of=conversation_id, after=after, limit=limit)]


def tree(connection: Connection, conversation_id: str) -> list[Link]:
    """All turns of a conversation, oldest first, each with its parent alone."""
    return [Link(*row) for row in _TREE.rows(connection, of=conversation_id)]


def followed(connection: Connection, turn: Turn) -> bool:
    """Whether another turn follows this one."""
    where = {"of": turn.conversation_id, "after": turn.ordinal, "id": turn.id}
    return _FOLLOWED.row(connection, **where) is not None


def epoch(connection: Connection, turn_id: str) -> int | None:
    """How often the turn was claimed; None when it is gone."""
    row = _EPOCH.row(connection, id=turn_id)
    return row[0] if row else None


def unfinished(connection: Connection, conversation_id: str) -> list[int]:
    """The turns of a conversation that somebody works on or must work on."""
    mine = (turns.c.conversation_id == conversation_id, or_(live(turns), turns.c.owner.is_not(None)))
    return list(connection.execute(select(turns.c.num).where(*mine)).scalars())


def some(connection: Connection, numbers: Collection[int]) -> list[Turn]:
    """These turns, in the order of their ordinals."""
    statement = select(turns).where(turns.c.num.in_(numbers)).order_by(turns.c.ordinal)
    return [made(row) for row in connection.execute(statement)]


def underway(connection: Connection, turn_ids: Collection[str]) -> list[Underway]:
    """Those of these turns that run or are about to."""
    parents = turns.alias("parents")
    above = func.coalesce(parents.c.message_count, 0) + 1
    statement = (
        select(turns.c.id, turns.c.num, turns.c.epoch, above)
        .join(parents, parents.c.id == turns.c.parent_id, isouter=True)
        .where(turns.c.id.in_(turn_ids), running(turns))
    )
    return [Underway(*row) for row in connection.execute(statement)]


def said(connection: Connection, numbers: Collection[int]) -> list[Said]:
    """These turns, oldest first, without what only their owner needs to know."""
    columns = (turns.c[name] for name in Said._fields)
    statement = select(*columns).where(turns.c.num.in_(numbers)).order_by(turns.c.ordinal)
    return [
        Said(num, turn_id, parent_id, status, bytes(content).decode(), plain.loads(told) if told else None)
        for num, turn_id, parent_id, status, content, told in connection.execute(statement)
    ]


def count_queued(connection: Connection) -> int:
    """How many wait for somebody to go on with them."""
    queued = select(func.count()).select_from(turns).where(QUEUED)
    return connection.execute(queued).scalar_one()


def request_stop(connection: Connection, num: int, reason: str) -> bool:
    """Ask whoever runs this turn to stop it; false when it is not live. A turn that waits for a person is not
    stopped because its readers have left."""
    which = running(turns) if reason == "disconnect" else live(turns)
    statement = update(turns).where(turns.c.num == num, which).values(stop_requested=reason)
    return connection.execute(statement).rowcount == 1


def hold(connection: Connection, num: int, epoch: int) -> None:
    """Make sure, until the transaction ends, that this epoch still owns the turn."""
    if _HOLD.row(connection, num=num, epoch=epoch) is None:
        raise Fenced


def hold_some(connection: Connection, wanted: Collection[tuple[int, int]]) -> Refused:
    """As `hold`, for turns with their epochs, without a wait: those that are not held then."""
    numbers = {num for num, _ in wanted}
    if connection.dialect.name == "sqlite":
        found = {num: row[0] for num in numbers if (row := _EPOCH_OF.row(connection, num=num))}
        return Refused(frozenset(one for one in wanted if found.get(one[0]) != one[1]))
    rows = connection.exec_driver_sql(_HOLD_SOME, (list(numbers),))
    held: dict[int, int] = {row.num: row.epoch for row in rows}
    if all(held.get(num) == epoch for num, epoch in wanted):
        return NONE_REFUSED
    return refused(connection, wanted, held)


def refused(
    connection: Connection, wanted: Collection[tuple[int, int]], held: Collection[int] | None = None
) -> Refused:
    """Which of these turns and epochs could not be written to, where the turns in `held` could be; without
    it, all of them."""
    numbers = {num for num, _ in wanted}
    found = connection.execute(select(turns.c.num, turns.c.epoch).where(turns.c.num.in_(numbers)))
    owned = {(row.num, row.epoch) for row in found}
    locked = owned.intersection(wanted) if held is not None else ()
    return Refused(
        frozenset(one for one in wanted if one not in owned),
        frozenset(one for one in locked if held is not None and one[0] not in held),
    )


def lock(connection: Connection, numbers: Collection[int]) -> None:
    """Hold these rows, in the order of their numbers, until the transaction ends."""
    rows = select(turns.c.num).where(turns.c.num.in_(numbers)).order_by(turns.c.num)
    connection.execute(rows.with_for_update(key_share=True))


def change(connection: Connection, num: int, epoch: int, **values: Any) -> None:
    """Set columns of a turn that this epoch owns."""
    computed = {name: value for name, value in values.items() if isinstance(value, ClauseElement)}
    plainly = {name: value for name, value in values.items() if name not in computed}
    at = {"at_num": num, "at_epoch": epoch}
    if computed and computed.keys() != {"ended_at"}:
        changed = connection.execute(_UPDATE.values(**computed), plainly | at).rowcount
    else:
        changed = (_CHANGE_ENDED if computed else _CHANGE).count(connection, **plainly, **at)
    if changed == 0:
        raise Fenced


def told(turn: Turn, messages: Sequence[msg.Message]) -> dict[str, Any]:
    """What was said so far, as columns, with what that makes the branch's length."""
    above = turn.message_count - len(msg.shown(turn.messages or ()))
    return {
        "messages": plain.dumps([msg.to_dict(message) for message in messages]),
        "message_count": above + len(msg.shown(messages)),
    }


def keep_messages(connection: Connection, turn: Turn, messages: Sequence[msg.Message]) -> None:
    change(connection, turn.num, turn.epoch, **told(turn, messages))


def ended(status: Status) -> dict[str, Any]:
    """The columns of a turn that is over."""
    return {"status": status, "ended_at": now_ms(), "stop_requested": None, "waits_until": None}


def end_all(connection: Connection, items: Sequence[Ended]) -> None:
    """End all of these turns, each owned by its epoch."""
    if connection.dialect.name != "sqlite":
        _change_all(connection, _END_ALL, items)
        return
    for item in items:
        said = {"messages": item.messages, "message_count": item.message_count, "running_ms": item.running_ms}
        values = said | ended(item.status) | (RELEASED if item.released else {})
        change(connection, item.num, item.epoch, **values)


def release_all(connection: Connection, owned: Sequence[tuple[int, int]]) -> None:
    """Let go of these turns, each owned by its epoch."""
    if connection.dialect.name != "sqlite":
        _change_all(connection, _RELEASE_ALL, owned)
        return
    for num, epoch in owned:
        release(connection, num, epoch)


def _change_all(connection: Connection, statement: str, lines: Sequence[tuple[Any, ...]]) -> None:
    columns = tuple(list(column) for column in zip(*lines, strict=True))
    if connection.exec_driver_sql(statement, columns).rowcount != len(lines):
        raise Fenced


def end(connection: Connection, num: int, epoch: int, status: Status) -> None:
    change(connection, num, epoch, **ended(status))


#: The columns of a turn that nobody holds.
RELEASED: dict[str, Any] = {"owner": None, "lease_until": None}


def release(connection: Connection, num: int, epoch: int, *, requeue: bool = False) -> None:
    """Let go of a turn; with `requeue` another owner is to go on with it at once."""
    change(connection, num, epoch, **_HANDED_OVER if requeue else RELEASED)


_GOES_ON = turns.c.status.in_(("queued", "running"))
#: One that has come to its outcome is not begun again: whoever finds its lease run out writes its last event.
_HANDED_OVER: dict[str, Any] = {
    "status": case((_GOES_ON, "queued"), else_=turns.c.status),
    "owner": case((_GOES_ON, None), else_=turns.c.owner),
    "lease_until": case((_GOES_ON, None), else_=0),
}


def reopen(connection: Connection, turn_id: str) -> Turn:
    """Queue an ended turn for another attempt."""
    statement = (
        update(turns)
        .where(turns.c.id == turn_id, turns.c.status.in_(("failed", "stopped")), turns.c.owner.is_(None))
        .values(status="queued", ended_at=None, stop_requested=None, running_ms=0)
    )
    if connection.execute(statement).rowcount == 0:
        raise Conflict("only a failed or stopped turn can be tried again")
    return get(connection, turn_id)


def _parent(connection: Connection, conversation_id: str, parent_id: str | None) -> Any | None:
    """The row of a parent that may be followed, without its messages: a new turn needs none of them."""
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


def made(row: Any) -> Turn:
    """A turn from its row."""
    *first, content, messages, grants, created_at, ended_at, size = row
    allowed = tuple(plain.loads(grants)) if grants else ()
    values = [*first, bytes(content).decode(), _messages(messages), allowed, created_at, ended_at, size]
    return Turn(*values)


def _messages(stored: bytes | None) -> list[msg.Message] | None:
    return None if stored is None else [msg.from_dict(item) for item in plain.loads(stored)]
