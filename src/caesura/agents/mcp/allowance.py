"""What an MCP server may send that nobody asked for: messages, requests of its own, comments, empty lines.

Each costs something, and what was spent comes back with time. A server that sends more is cut off.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from caesura.agents.mcp.messages import Unwieldy

#: An answer to a request of ours, a request of the server, what cannot be read, or anything else.
Kind = Literal["answer", "request", "unreadable", "other"]

#: How much may be spent at once, and how much comes back in a second.
_MOST, _PER_SECOND = 2_000, 100
#: A request of the server costs more, because a task answers it, and so does what cannot be read, because the
#: package logs it. So many bytes cost as much as another message.
_DEAR, _BYTES = 10, 4096
#: The largest message that nobody asked for, and how many answers wait for the server to take them.
_LARGEST, _UNANSWERED = 1024 * 1024, 50


def kind_of(message: Any) -> Kind:
    """The kind of a message, given its fields."""
    if not isinstance(message, dict):
        return "unreadable"
    if "method" in message:
        return "request" if "id" in message else "other"
    return "answer" if "result" in message or "error" in message else "unreadable"


class Allowance:
    def __init__(self, exceeded: Callable[[str], None]) -> None:
        """`exceeded` is called with the reason when the server has sent too much."""
        self.exceeded = exceeded
        self._spent, self._since = 0.0, time.monotonic()
        #: The requests of ours without an answer, and those of the server.
        self._asked, self._unanswered = 0, 0

    def send(self, kind: Kind) -> None:
        """A message goes to the server. Whatever does not ask counts as an answer."""
        if kind == "request":
            self._asked += 1
        else:
            self._unanswered = max(self._unanswered - 1, 0)

    def take(self, size: int, kind: Kind = "other") -> None:
        """So many bytes have come. Raises `Unwieldy` if that is too much."""
        if kind == "answer" and self._asked:
            self._asked -= 1
            return
        now = time.monotonic()
        self._spent = max(self._spent - (now - self._since) * _PER_SECOND, 0.0)
        self._since = now
        self._spent += size / _BYTES + (_DEAR if kind in ("request", "unreadable") else 1)
        self._unanswered += kind == "request"
        if size > _LARGEST:
            self._end(f"it sent a message of more than {_LARGEST // 1024} KiB that nobody asked for")
        if self._spent > _MOST or self._unanswered > _UNANSWERED:
            self._end("it sends too much that nobody asked for")

    def _end(self, reason: str) -> None:
        self.exceeded(reason)
        raise Unwieldy(reason)
