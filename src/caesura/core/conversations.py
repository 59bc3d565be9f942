"""Conversations: turns that follow one another, on branches."""

from __future__ import annotations

from typing import NamedTuple


class Conversation(NamedTuple):
    id: str
    user_id: str
    agent: str
    title: str | None
    session: str | None
    active_turn: str | None
    turn_count: int
    created_at: int
    updated_at: int
    #: The number of messages on the active branch.
    message_count: int = 0
    interrupted: bool = False
    running: bool = False


class Grant(NamedTuple):
    """A tool that is always allowed to an agent, and the turn in which a person said so."""

    agent: str
    tool: str
    turn_id: str
    granted_at: int
