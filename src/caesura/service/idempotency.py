"""The same request under the same key is done once, and gets the same response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from caesura.core.errors import BadInput, Conflict
from caesura.core.turns import Turn
from caesura.store import keys, turns

_LONGEST = 200


class Done(Protocol):
    """The result of a request: it has a turn."""

    @property
    def turn(self) -> Turn: ...


D = TypeVar("D", bound=Done)
Unit = Callable[[Connection], D]


@dataclass(frozen=True, slots=True)
class Key:
    """A client's idempotency key, and everything that identifies the request that it was sent with."""

    value: str
    request: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not 0 < len(self.value) <= _LONGEST or not self.value.isprintable() or not self.value.isascii():
            raise BadInput(f"Idempotency-Key must be 1 to {_LONGEST} printable ASCII characters")


async def once(
    user_id: str,
    key: Key | None,
    work: Unit[D],
    again: Callable[[Turn], D],
    do: Callable[[Unit[D]], Awaitable[D]],
) -> D:
    """Let `do` run the work in a transaction. If a request with this key has already done the work, `again`
    makes the result from its turn."""
    if key is None:
        return await do(work)

    def unit(connection: Connection) -> D:
        fingerprint = keys.fingerprint(*key.request)
        known = keys.find(connection, user_id, key.value, fingerprint)
        if known is not None:
            return again(turns.get(connection, known))
        done = work(connection)
        keys.keep(connection, user_id, key.value, fingerprint, done.turn.id, done.turn.conversation_id)
        return done

    try:
        return await do(unit)
    except (IntegrityError, Conflict):
        # Perhaps another request with the same key was faster: then its key is found now. If the conflict has
        # another cause, it is raised again.
        return await do(unit)
