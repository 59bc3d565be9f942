"""Turns: a user message and everything that replies to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from caesura.core.messages import Message

Status = Literal["queued", "running", "waiting", "done", "failed", "stopped"]
#: What happens to a run when its last reader leaves. Each turn has one; any dialect may choose it.
OnDisconnect = Literal["continue", "stop"]
LIVE: tuple[Status, ...] = ("queued", "running", "waiting")
ENDED: tuple[Status, ...] = ("done", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class Turn:
    num: int
    id: str
    conversation_id: str
    user_id: str
    ordinal: int
    parent_id: str | None
    agent: str
    status: Status
    #: The process that works on the turn, the end of its lease, and how often the turn was claimed.
    owner: str | None
    lease_until: int | None
    epoch: int
    #: The newest segment, and the number of the event before its first.
    segment: int
    segment_seq: int
    stop_requested: str | None
    on_disconnect: OnDisconnect
    running_ms: int
    waits_until: int | None
    message_count: int
    content: str
    messages: list[Message] | None
    grants: tuple[str, ...]
    created_at: int
    ended_at: int | None
    #: The bytes of the turn that are counted for its owner.
    size: int
    #: What is kept of an ended turn beside its messages, as `core.notes` stores it.
    about: bytes | None = None
    #: The id of the first turn of its branch. The first turn that follows another one continues its branch.
    branch: str | None = None
    #: By the name of an agent: the number of the nearest turn above that has left a state of its graph.
    states: dict[str, int] = field(default_factory=dict)
    #: Whether the conversation had a title when this turn was created; None if that was not checked.
    titled: bool | None = field(default=None, compare=False)

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def begins_with(self) -> int | None:
        """The number of the turn whose state the agent's graph begins with, if there is one."""
        return self.states.get(self.agent)

    def bare(self) -> Turn:
        """The turn without its texts: a reader may wait for hours and does not need them."""
        return replace(self, content="", messages=None, about=None)
