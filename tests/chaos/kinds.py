"""The kinds of commits: which tables a transaction writes, and how."""

from __future__ import annotations

import asyncio
import re
import threading
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine, event

from caesura.store import events, sqlite, statements
from tests.sent import listen

_WRITE = re.compile(r"(?:INSERT INTO|UPDATE(?! (?:OF|SKIP|NOWAIT)\b)|DELETE FROM) \w+")


class Kinds:
    """Listens to all statements of this process."""

    def __init__(self) -> None:
        self._written: dict[object, set[str]] = {}
        event.listen(Engine, "before_cursor_execute", self._listen)
        listen(lambda _, text: self._note(text))
        self._run = statements.run
        for module in (statements, sqlite, events):
            setattr(module, "run", self._listen_and_run)  # noqa: B010 - these go straight to SQLite

    def take(self) -> str:
        """The kind of the transaction that was just committed, or is about to be."""
        return ", ".join(sorted(self._written.pop(_writer(), ())))

    def _listen_and_run(self, connection: Connection, text: str, *values: Any) -> Any:
        self._note(text)
        return self._run(connection, text, *values)

    def _listen(self, connection: Connection, cursor: object, text: str, *_: object) -> None:
        self._note(text)

    def _note(self, text: str) -> None:
        if found := _WRITE.findall(text):
            self._written.setdefault(_writer(), set()).update(found)


def _writer() -> object:
    """Each transaction has a thread or, on the event loop, a task of its own."""
    with suppress(RuntimeError):
        return asyncio.current_task()
    return threading.current_thread()
