"""Usage: what people have used. Tokens are counted for each conversation, in the transaction that ends a
segment, and added to its owner's past usage when it is deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from caesura.core.turns import Turn
from caesura.store.schema import conversations, users
from caesura.store.statements import Prepared
from caesura.store.users import Role, User


class Person(NamedTuple):
    """A person and what they have used. `active_at` is when one of their conversations changed last."""

    id: str
    role: Role
    disabled: bool
    subject: str | None
    created_at: int
    active_at: int | None
    conversations: int
    turns: int
    input_tokens: int
    output_tokens: int
    stored_bytes: int


class Spent(NamedTuple):
    """The tokens of one segment of a turn."""

    conversation_id: str
    input_tokens: int = 0
    output_tokens: int = 0

    @classmethod
    def of(cls, turn: Turn, counted: Mapping[str, int]) -> Spent:
        return cls(turn.conversation_id, *(counted.get(name, 0) for name in _COUNTED))


def count(connection: Connection, items: Iterable[Spent]) -> None:
    """Count these tokens. The conversations are locked in the order of their ids."""
    for at_id, more_in, more_out in sorted(item for item in items if any(item[1:])):
        _ADD.count(connection, at_id=at_id, more_in=more_in, more_out=more_out)


def page(connection: Connection, limit: int, after: str) -> list[Person]:
    """People by name, after this one. A person has a bounded number of conversations."""
    found = select(users).where(users.c.id > after).order_by(users.c.id).limit(limit)
    return [_person(connection, User(*row)) for row in connection.execute(found)]


def _person(connection: Connection, user: User) -> Person:
    sums = _SUMS.rows(connection, user_id=user.id)[0]
    return Person(
        id=user.id,
        role=user.role,
        disabled=user.disabled,
        subject=user.subject,
        created_at=user.created_at,
        active_at=sums.active_at,
        conversations=user.conversation_count,
        turns=user.past_turns + int(sums.turns),
        input_tokens=user.past_input_tokens + int(sums.input_tokens),
        output_tokens=user.past_output_tokens + int(sums.output_tokens),
        stored_bytes=int(sums.stored),  # PostgreSQL gives a decimal
    )


_COUNTED = ("input_tokens", "output_tokens")
_ADD = Prepared(
    update(conversations)
    .where(conversations.c.id == bindparam("at_id"))
    .values(
        input_tokens=conversations.c.input_tokens + bindparam("more_in"),
        output_tokens=conversations.c.output_tokens + bindparam("more_out"),
    )
)
_SUMS = Prepared(
    select(
        func.max(conversations.c.updated_at).label("active_at"),
        func.coalesce(func.sum(conversations.c.turn_count), 0).label("turns"),
        func.coalesce(func.sum(conversations.c.stored), 0).label("stored"),
        *(func.coalesce(func.sum(conversations.c[name]), 0).label(name) for name in _COUNTED),
    ).where(conversations.c.user_id == bindparam("user_id"))
)
