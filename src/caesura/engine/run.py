"""A run: what is known while a turn is being worked on, and the one way to say what happened."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from caesura.agents.aside import Aside
from caesura.core import codec
from caesura.core import events as ev
from caesura.core.fold import Transcript
from caesura.core.interrupts import Asked, Interrupt
from caesura.core.language import Language
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.engine import cancellation
from caesura.engine.compiled import Compiled
from caesura.engine.failures import LogLimit
from caesura.engine.limits import Limits
from caesura.log.stream import Also, Stream
from caesura.store.tool_calls import ToolCall


@dataclass(slots=True)
class Control:
    """How others reach a run: to stop it for a reason, to make it leave at the next step, to hurry it."""

    stop: ev.StopReason | None = None
    #: Only while the agent works there is something to break off: before it begins a stop is seen in time,
    #: and once the outcome is known it comes too late.
    stoppable: bool = False
    leaving: bool = False
    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    _told: Callable[[], None] | None = None

    def leave(self) -> None:
        """Let go of the turn at the next step: somebody else goes on with it."""
        self.leaving = True
        self.hurry.set()
        if self._told is not None:
            self._told()

    def when_leaving(self, tell: Callable[[], None]) -> None:
        self._told = tell
        if self.leaving:
            tell()


class Released(Exception):
    """The run let go of its turn at a step's end: somebody else goes on with it."""


class Asks(Exception):
    """The run cannot go on before these are answered."""

    def __init__(self, items: list[Interrupt]) -> None:
        super().__init__(f"{len(items)} questions wait")
        self.items = items


def stop_reason(text: str) -> ev.StopReason:
    """The reason as it stands in a row, where any text could stand."""
    known: tuple[ev.StopReason, ...] = ("user", "disconnect", "superseded", "timeout")
    return next((reason for reason in known if reason == text), "user")


@dataclass(slots=True)
class Run:
    turn: Turn
    agent: Compiled
    language: Language
    workspace: Path
    limits: Limits
    stream: Stream
    transcript: Transcript
    history: list[BaseMessage]
    journal: dict[str, ToolCall]
    asked: list[Asked]
    control: Control
    aside: Aside
    grants: set[str] = field(default_factory=set)
    callbacks: tuple[Any, ...] = ()
    #: What LangChain must know to tell the callbacks; None where nobody listens.
    config: RunnableConfig | None = None
    cause: ev.Cause = "start"
    questions: dict[str, Interrupt] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    #: Bytes of the turn's log so far, about.
    logged: int = 0
    _reserved: set[str] = field(default_factory=set)

    def say(self, event: ev.Event, *, soon: bool = True) -> None:
        """Append without waiting; readers see it as soon as it is on disk."""
        self.stream.put(event, soon=soon)
        self.transcript.apply(event)
        self.logged += codec.size(event)
        if self.logged > self.limits.log:
            self.bound()

    def note(self, *events: ev.Event, also: Also, soon: bool = True) -> None:
        """Append, with rows that belong to it, without waiting. If it fails, all that follows fails."""
        self.stream.note(*events, also=also, soon=soon)
        self._apply(events)
        self.bound()

    async def record(self, *events: ev.Event, also: Also | None = None, durable: bool = False) -> Any:
        """Append, with rows that belong to it, and go on when it is on disk."""
        try:
            result = await self.stream.commit(*events, also=also, durable=durable)
        except asyncio.CancelledError:
            self._apply(events)  # they are on their way to the disk all the same
            raise
        self._apply(events)
        return result

    def _apply(self, events: Iterable[ev.Event]) -> None:
        for event in events:
            self.transcript.apply(event)
            self.logged += codec.size(event)

    def bound(self, held: int = 0) -> None:
        """Fail the turn once its log, with so many bytes that are still to come, is too long. What ends the
        turn is written all the same."""
        if self.control.stoppable and self.full(held):
            raise self.too_long()

    def full(self, held: int = 0) -> bool:
        return self.logged + held > self.limits.log

    def too_long(self) -> LogLimit:
        return LogLimit(f"the turn came to more than {self.limits.log} bytes")

    def is_broken_off(self) -> bool:
        """Whether the run was stopped, or this task of it cancelled. A stop cancels the run's own task: those
        of its tool calls, in which sub-agents speak, are cancelled a moment later."""
        return self.control.stop is not None or cancellation.is_asked_for()

    def check(self) -> None:
        """Break off if the run was cancelled. Code that is not ours may have swallowed the cancellation."""
        if self.is_broken_off():
            raise asyncio.CancelledError

    def next_call(self) -> int:
        return self.transcript.last_call + 1

    def answers_of(self, parent: str | None) -> list[Message]:
        """What the agent (or the sub-agent under a tool call) has said so far in this turn."""
        return [m for m in self.transcript.finished if m.role == "assistant" and m.parent == parent]

    def reserve(self, ids: Iterable[str]) -> None:
        """These tool call ids are given out: another agent that speaks at the same time gets others."""
        self._reserved.update(ids)

    def call_ids(self) -> list[str]:
        """The ids of the turn's tool calls, in their order."""
        said = [call["id"] for message in self.transcript.finished for call in message.tool_calls]
        return list(dict.fromkeys([*said, *self._reserved]))

    @property
    def running_ms(self) -> int:
        return self.turn.running_ms + int((time.monotonic() - self.began) * 1000)


@dataclass(frozen=True, slots=True)
class Scope:
    """Who works in a run: its agent, or a sub-agent under the tool call `parent`."""

    run: Run
    agent: Compiled
    parent: str | None = None

    @contextmanager
    def active(self) -> Iterator[None]:
        """While this lasts, code that a tool call runs finds the scope with `current`."""
        token = _SCOPE.set(self)
        try:
            yield
        finally:
            _SCOPE.reset(token)

    @staticmethod
    def current() -> Scope:
        """The scope of the tool call that this code runs in."""
        return _SCOPE.get()


_SCOPE: ContextVar[Scope] = ContextVar("caesura_scope")
