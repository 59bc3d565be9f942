"""Idempotency keys: the same request under the same key gets the same response, for a day."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from caesura.core import json_data
from caesura.core.errors import KeyReused
from caesura.store.schema import keys, now_ms

KEPT_MS = 24 * 3600 * 1000


def fingerprint(*parts: Any) -> str:
    return hashlib.sha256(json_data.dumps(parts)).hexdigest()


def find(connection: Connection, user_id: str, key: str, print_: str) -> Any | None:
    """The stored response for this key. Raises `KeyReused` if the key was used for another request."""
    where = (keys.c.user_id == user_id, keys.c.key == key)
    connection.execute(delete(keys).where(*where, keys.c.created_at <= now_ms() - KEPT_MS))
    row = connection.execute(select(keys).where(*where)).first()
    if row is None:
        return None
    if row.fingerprint != print_:
        raise KeyReused
    return json_data.loads(row.response)


def keep(
    connection: Connection, user_id: str, key: str, print_: str, response: Any, conversation_id: str | None
) -> None:
    """Store the response, in the transaction that does the work. The loser of a race violates the primary
    key."""
    connection.execute(
        insert(keys).values(
            user_id=user_id,
            key=key,
            fingerprint=print_,
            conversation_id=conversation_id,
            response=json_data.dumps(response),
            created_at=now_ms(),
        )
    )


def forget_old(connection: Connection) -> int:
    return connection.execute(delete(keys).where(keys.c.created_at <= now_ms() - KEPT_MS)).rowcount
