"""The same request under the same key is done once, and gets the same response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from caesura.core.errors import BadInput, Conflict
from caesura.store import keys

_LONGEST = 200


D = TypeVar("D")
Unit = Callable[[Connection], D]


class Made(NamedTuple):
    """What is kept of a result: the id by which it is found again, and its conversation."""

    id: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class Kept(Generic[D]):
    """How a result is kept under a key, and read again."""

    made: Callable[[D], Made]
    again: Callable[[Connection, str], D]


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
    kept: Kept[D],
    do: Callable[[Unit[D]], Awaitable[D]],
) -> D:
    """Let `do` run the work in a transaction. If a request with this key has already done the work, the
    result is the one that it kept."""
    if key is None:
        return await do(work)

    def unit(connection: Connection) -> D:
        fingerprint = keys.fingerprint(*key.request)
        known = keys.find(connection, user_id, key.value, fingerprint)
        if known is not None:
            return kept.again(connection, known)
        done = work(connection)
        keys.keep(connection, user_id, key.value, fingerprint, *kept.made(done))
        return done

    try:
        return await do(unit)
    except (IntegrityError, Conflict):
        # Perhaps another request with the same key was faster: then its key is found now. If the conflict has
        # another cause, it is raised again.
        return await do(unit)
