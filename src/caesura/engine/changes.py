"""Changes: the one place that is told of a conversation that has changed, after the commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from caesura.core.turns import Turn


class Change(NamedTuple):
    """Questions of the conversation were asked or closed, a turn began or ended, another branch became the
    active one, or the conversation was deleted. `agent` is that of the turn, or None if the change is not
    about one turn."""

    user_id: str
    conversation_id: str
    agent: str | None = None


Heard = Callable[[Change], None]


class Changes:
    """Changes by this process. What other processes change, and what a crash kept from being told, a listener
    finds in the rows."""

    def __init__(self) -> None:
        self._listeners: list[Heard] = []

    def listen(self, heard: Heard) -> None:
        """`heard` is called in the event loop. It returns at once and does not raise."""
        self._listeners.append(heard)

    def tell(self, user_id: str, conversation_id: str, agent: str | None = None) -> None:
        for heard in self._listeners:
            heard(Change(user_id, conversation_id, agent))

    def tell_of(self, turn: Turn) -> None:
        self.tell(turn.user_id, turn.conversation_id, turn.agent)
