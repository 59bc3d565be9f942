"""The kinds of commits: which tables a transaction writes, and how. Known on PostgreSQL alone: there all
statements go through SQLAlchemy."""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import suppress

from sqlalchemy import Connection, Engine, event

_WRITE = re.compile(r"(?:INSERT INTO|UPDATE(?! (?:OF|SKIP|NOWAIT)\b)|DELETE FROM) \w+")


class Kinds:
    """Listens to all statements of this process."""

    def __init__(self) -> None:
        self._written: dict[object, set[str]] = {}
        event.listen(Engine, "before_cursor_execute", self._listen)

    def take(self) -> str:
        """The kind of the transaction that was just committed, or is about to be."""
        return ", ".join(sorted(self._written.pop(_writer(), ())))

    def _listen(self, connection: Connection, cursor: object, text: str, *_: object) -> None:
        if found := _WRITE.findall(text):
            self._written.setdefault(_writer(), set()).update(found)


def _writer() -> object:
    """Each transaction has a task of its own. A heartbeat has a thread."""
    with suppress(RuntimeError):
        return asyncio.current_task()
    return threading.current_thread()
