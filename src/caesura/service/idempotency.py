"""The same request under the same key is done once, and gets the same answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from caesura.core.errors import BadInput, Conflict
from caesura.core.turns import Turn
from caesura.store import keys, turns
from caesura.store.database import Database

_LONGEST = 200

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Key:
    """A client's key and what it was sent with: everything that makes the request what it is."""

    value: str
    request: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not 0 < len(self.value) <= _LONGEST or not self.value.isprintable() or not self.value.isascii():
            raise BadInput(f"Idempotency-Key must be 1 to {_LONGEST} printable ASCII characters")


async def once(
    database: Database,
    user_id: str,
    key: Key | None,
    work: Callable[[Connection], Turn],
    found: Callable[[Turn, bool], None],
) -> Turn:
    """Do the work that makes or moves a turn, unless this key has done it. `found` is told which turn it is,
    and whether the work was done just now, while the disk still writes; the turn is given when it is safe
    there."""

    def attempt(connection: Connection) -> tuple[Turn, bool]:
        return _once(connection, user_id, key, work) if key else (work(connection), True)

    def committed(outcome: tuple[Turn, bool]) -> None:
        found(*outcome)

    try:
        turn, _ = await database.write_ahead(attempt, committed)
    except (IntegrityError, Conflict):
        if key is None:
            raise
        # Two at once under one key: the other one was first, in keeping the key or in what it is for, and is
        # to be found now. If it was somebody else the conflict comes again.
        turn, _ = await database.write_ahead(attempt, committed)
    return turn


def _once(
    connection: Connection, user_id: str, key: Key, work: Callable[[Connection], Turn]
) -> tuple[Turn, bool]:
    fingerprint = keys.fingerprint(*key.request)
    known = keys.find(connection, user_id, key.value, fingerprint)
    if known is not None:
        return turns.get(connection, known), False
    turn = work(connection)
    keys.keep(connection, user_id, key.value, fingerprint, turn.id, turn.conversation_id)
    return turn, True
