"""Conversations: one row each, whichever API created it. Only this module checks who owns one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from caesura.core import ids, json_data
from caesura.core.conversations import Conversation
from caesura.core.errors import Conflict, NoConversation, NotFound, TooManyConversations, Unauthenticated
from caesura.store import changes, remains, shares
from caesura.store.schema import (
    conversations,
    events,
    interrupts,
    keys,
    live,
    now_ms,
    place_of,
    turns,
    users,
    waits,
)
from caesura.store.statements import Prepared, send

Order = Literal["created", "updated"]
_TITLE = 200
_ANY = 2**31 - 1


class Page(NamedTuple):
    items: list[Conversation]
    total: int


def create(
    connection: Connection,
    conversation_id: str,
    user_id: str,
    agent: str,
    session: str | None = None,
    *,
    most: int | None = None,
) -> Conversation:
    """Create a conversation, unless the person has reached their limit."""
    if _COUNT.count(connection, at_id=user_id, most=_ANY if most is None else most) == 0:
        raise _uncounted(connection, user_id)
    try:
        _CREATE.count(connection, id=conversation_id, user_id=user_id, agent=agent, session=session)
    except IntegrityError as error:
        raise Conflict("this conversation exists already") from error
    changes.note(connection, conversation_id)
    return get(connection, conversation_id, user_id)


def _uncounted(connection: Connection, user_id: str) -> TooManyConversations | Unauthenticated:
    found = select(users.c.conversation_count).where(users.c.id == user_id)
    count = connection.execute(found).scalar()
    if count is None:
        return Unauthenticated()
    return TooManyConversations(f"{count} conversations, the most that may be: delete some")


def get(connection: Connection, conversation_id: str, user_id: str) -> Conversation:
    """The only access check: another person's conversation and a missing one look the same."""
    row = None if "\0" in conversation_id else _GET.row(connection, id=conversation_id, user_id=user_id)
    if row is None:
        raise NoConversation
    return _conversation(row)


def exists(connection: Connection, conversation_id: str) -> bool:
    """Whether anybody has this conversation."""
    found = select(conversations.c.id).where(conversations.c.id == conversation_id)
    return connection.execute(found).first() is not None


def find(connection: Connection, conversation_id: str) -> Conversation:
    """The conversation without an access check: for the engine, which works for every owner."""
    row = connection.execute(_listed(conversations).where(conversations.c.id == conversation_id)).first()
    if row is None:
        raise NoConversation
    return _conversation(row)


def known(connection: Connection, conversation_ids: Sequence[str]) -> set[str]:
    """The ids that exist, whoever owns the conversations."""
    found = select(conversations.c.id).where(conversations.c.id.in_(conversation_ids))
    return set(connection.execute(found).scalars())


def of_person(connection: Connection, user_id: str) -> list[str]:
    """The ids of all conversations of a person."""
    found = select(conversations.c.id).where(conversations.c.user_id == user_id)
    return list(connection.execute(found).scalars())


def of_session(connection: Connection, user_id: str, agent: str, session: str) -> Conversation | None:
    mine = and_(
        conversations.c.user_id == user_id,
        conversations.c.agent == agent,
        conversations.c.session == session,
    )
    row = connection.execute(_listed(conversations).where(mine)).first()
    return _conversation(row) if row else None


def page(
    connection: Connection,
    user_id: str,
    limit: int,
    *,
    after: tuple[int, str] | None = None,
    offset: int = 0,
    order: Order = "created",
    titled: str = "",
) -> Page:
    """One page, newest first, and the total number, in one query. `after` is the time and id of the last row
    seen: with it every page costs the same, however far back. `titled` is a part of the title of those that
    are wanted, in any case of its letters."""
    seen, seen_id = after or (None, None)
    values = {"user_id": user_id, "limit": limit, "offset": offset, "seen": seen, "seen_id": seen_id}
    if titled:
        values |= {"part": _part(titled), "lowered": _part(titled.lower())}
    rows = connection.execute(_page(order, after is not None, bool(titled)), values).all()
    return Page([_conversation(row[:-1]) for row in rows if row[0] is not None], rows[0][-1] if rows else 0)


def _part(titled: str) -> str:
    """No title has a NUL, and PostgreSQL takes none."""
    return titled.replace("\0", "\uffff")


class Listed(NamedTuple):
    """A conversation as a list shows it, with the number of questions that wait in it."""

    conversation: Conversation
    questions: int


def some(connection: Connection, user_id: str, conversation_ids: Collection[str]) -> dict[str, Listed]:
    """Those of these conversations that belong to this person, by id."""
    mine = and_(conversations.c.user_id == user_id, conversations.c.id.in_(conversation_ids))
    found = [_conversation(row) for row in connection.execute(_listed(conversations).where(mine))]
    counted = (
        select(turns.c.conversation_id, func.count())
        .join(interrupts, interrupts.c.turn == turns.c.num)
        .where(interrupts.c.user_id == user_id, waits(interrupts))
        .where(turns.c.conversation_id.in_(conversation_ids))
        .group_by(turns.c.conversation_id)
    )
    questions = {name: count for name, count in connection.execute(counted)}
    return {item.id: Listed(item, questions.get(item.id, 0)) for item in found}


def set_title(connection: Connection, conversation_id: str, title: str) -> bool:
    """Set the title. False if there is no such conversation."""
    changes.note(connection, conversation_id)
    return _RETITLE.count(connection, at_id=conversation_id, title=_short(title)) == 1


def set_first_titles(connection: Connection, titles: Mapping[str, str]) -> int:
    """Set the titles of conversations that have none, by id. Returns how many were set."""
    for id_ in titles:
        changes.note(connection, id_)
    if connection.dialect.name == "sqlite":
        return sum(_TITLE_FIRST.count(connection, at_id=id_, title=_short(titles[id_])) for id_ in titles)
    values = (list(titles), [_short(title) for title in titles.values()])
    return send(connection, _TITLE_FIRST_ALL, values).changed


def _short(title: str) -> str:
    return json_data.text(title).replace("\0", "")[:_TITLE]


def activate(connection: Connection, conversation_id: str, turn_id: str) -> None:
    """Make the branch that ends in this turn the active one."""
    changes.note(connection, conversation_id)
    connection.execute(
        update(conversations).where(conversations.c.id == conversation_id).values(active_turn=turn_id)
    )


def extend(connection: Connection, conversation_id: str, turn_id: str) -> None:
    """A new turn was made: the active branch ends in it."""
    changes.note(connection, conversation_id)
    _EXTEND.later(connection, at_id=conversation_id, active_turn=turn_id)


def lock(connection: Connection, conversation_id: str, user_id: str | None = None) -> Any:
    """Lock the row until the end of the transaction. With `user_id`, only if this person owns it."""
    if user_id is None:
        row = _LOCK.row(connection, id=conversation_id)
    else:
        row = _LOCK_OWNED.row(connection, id=conversation_id, user_id=user_id)
    if row is None:
        raise NoConversation
    return row


def remove(connection: Connection, conversation_id: str, user_id: str) -> list[int]:
    """Delete the conversation from every table. If it is large it is only taken from its owner, and the
    caller deletes the rest with `remains.clear`. Returns the numbers of its turns, whose streams must end."""
    shares.hold(connection, user_id)
    get(connection, conversation_id, user_id)
    numbers, row = _lock_whole(connection, conversation_id)
    if row.stored > remains.BYTES:
        remains.leave(connection, conversation_id)
    else:
        connection.execute(delete(events).where(events.c.turn.in_(numbers)))
        connection.execute(delete(conversations).where(conversations.c.id == conversation_id))
    used = {
        "past_turns": users.c.past_turns + row.turn_count,
        "past_input_tokens": users.c.past_input_tokens + row.input_tokens,
        "past_output_tokens": users.c.past_output_tokens + row.output_tokens,
    }
    fewer = users.c.conversation_count - 1
    connection.execute(update(users).where(users.c.id == user_id).values(conversation_count=fewer, **used))
    changes.blank(connection, user_id, conversation_id)
    changes.note_deleted(connection, user_id, conversation_id)
    return numbers


def give(connection: Connection, conversation_id: str, user_id: str, other: str) -> None:
    """Make this conversation another person's. Its turns that have not ended are stopped: whoever runs one
    loses it, and the next node that looks for work ends it. What the first person always allowed is not
    allowed any more. What they called it in API C is forgotten, because the other one may call a conversation
    the same."""
    for name in sorted((user_id, other)):
        shares.hold(connection, name)
    get(connection, conversation_id, user_id)
    numbers, _ = _lock_whole(connection, conversation_id)
    for name, more in ((other, 1), (user_id, -1)):
        counted = update(users).where(users.c.id == name)
        changed = connection.execute(counted.values(conversation_count=users.c.conversation_count + more))
        if changed.rowcount == 0:
            raise NotFound(f"user not found: {name}")
    here = conversations.c.id == conversation_id
    connection.execute(update(conversations).where(here).values(user_id=other, session=None))
    mine = turns.c.conversation_id == conversation_id
    connection.execute(update(turns).where(mine).values(user_id=other, grants=None))
    connection.execute(update(interrupts).where(interrupts.c.turn.in_(numbers)).values(user_id=other))
    stopped = {"stop_requested": func.coalesce(turns.c.stop_requested, "user"), "epoch": turns.c.epoch + 1}
    lost = {"owner": ids.owner(), "lease_until": 0}  # nobody has this name, so nobody renews its lease
    connection.execute(update(turns).where(mine, turns.c.owner.is_not(None)).values(**lost))
    connection.execute(update(turns).where(mine, live(turns)).values(**stopped))
    connection.execute(delete(keys).where(keys.c.conversation_id == conversation_id))
    changes.blank(connection, user_id, conversation_id)
    changes.note(connection, conversation_id)


def _lock_whole(connection: Connection, conversation_id: str) -> tuple[list[int], Any]:
    """Lock the conversation and its turns. Returns the numbers of the turns, and the conversation's row."""
    # Lock the turns before the conversation, in the same order as a run that sets its title. A writer that
    # appends to one of them has finished by then, or will find it gone. After locking the conversation look
    # again: a turn may be new.
    held = select(turns.c.num).where(turns.c.conversation_id == conversation_id).order_by(turns.c.num)
    connection.execute(held.with_for_update())
    row = lock(connection, conversation_id)
    return list(connection.execute(held.with_for_update()).scalars()), row


def _columns(source: Any) -> Select[Any]:
    in_time = or_(turns.c.waits_until.is_(None), turns.c.waits_until > now_ms())
    waits = and_(turns.c.status == "waiting", in_time)
    return select(
        *(source.c[name] for name in Conversation._fields[:9]),
        turns.c.message_count,
        waits,
        or_(turns.c.status == "queued", turns.c.status == "running"),
    )


def _listed(source: Any) -> Select[Any]:
    joined = source.outerjoin(turns, turns.c.id == source.c.active_turn)
    return _columns(source).select_from(joined)


def _conversation(row: Any) -> Conversation:
    *columns, message_count, interrupted, running = row
    return Conversation._make((*columns, message_count or 0, bool(interrupted), bool(running)))


@cache
def _page(order: Order, behind: bool, titled: bool) -> Select[Any]:
    at = conversations.c.created_at if order == "created" else conversations.c.updated_at
    mine = select(conversations).where(conversations.c.user_id == bindparam("user_id"))
    total: ColumnElement[int] = users.c.conversation_count
    if titled:
        mine = mine.where(_TITLED)
        total = _count_titled()
    if behind:
        place = tuple_(bindparam("seen", type_=BigInteger), bindparam("seen_id", type_=String))
        mine = mine.where(tuple_(at, conversations.c.id) < place)
    newest = mine.order_by(at.desc(), conversations.c.id.desc())
    found = newest.limit(bindparam("limit")).offset(bindparam("offset")).subquery("c")
    shown = found.c.created_at if order == "created" else found.c.updated_at
    # Select from the person's row, so that the total is known even when the page is empty.
    return (
        _columns(found)
        .add_columns(total)
        .select_from(users)
        .join(found, true(), isouter=True)
        .join(turns, turns.c.id == found.c.active_turn, isouter=True)
        .where(users.c.id == bindparam("user_id"))
        .order_by(shown.desc(), found.c.id.desc())
    )


#: PostgreSQL lowers the letters that its locale knows: others are found as they are written.
_TITLED = or_(
    place_of(conversations.c.title, bindparam("part", type_=String)) > 0,
    place_of(func.lower(conversations.c.title), bindparam("lowered", type_=String)) > 0,
)


def _count_titled() -> ColumnElement[int]:
    """How many conversations of a person have such a title. A person has a bounded number of them."""
    mine = and_(conversations.c.user_id == bindparam("user_id"), _TITLED)
    return select(func.count()).select_from(conversations).where(mine).scalar_subquery()


# Built once: building a statement costs more than running it.
_MINE = and_(conversations.c.id == bindparam("id"), conversations.c.user_id == bindparam("user_id"))
_GET = Prepared(_listed(conversations).where(_MINE))
_LOCK = Prepared(select(conversations).where(conversations.c.id == bindparam("id")).with_for_update())
_LOCK_OWNED = Prepared(select(conversations).where(_MINE).with_for_update())
_UPDATE = update(conversations).where(conversations.c.id == bindparam("at_id"))
_EXTEND = Prepared(_UPDATE.values(turn_count=conversations.c.turn_count + 1, updated_at=now_ms()))
_RETITLE = Prepared(_UPDATE)
_TITLE_FIRST = Prepared(_UPDATE.where(conversations.c.title.is_(None)))
_TITLE_FIRST_ALL = (
    "UPDATE conversations c SET title = n.title FROM unnest(%s::text[], %s::text[]) AS n(id, title)"
    " WHERE c.id = n.id AND c.title IS NULL"
)
_COUNT = Prepared(
    update(users)
    .where(users.c.id == bindparam("at_id"), users.c.conversation_count < bindparam("most"))
    .values(conversation_count=users.c.conversation_count + 1)
)
_CREATE = Prepared(insert(conversations).values(created_at=now_ms(), updated_at=now_ms()))
