"""A run: the state of a turn while an agent works on it, and the only way to append its events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from caesura.agents.aside import Aside
from caesura.core import codec
from caesura.core import events as ev
from caesura.core.fold import Transcript
from caesura.core.interrupts import Interrupt
from caesura.core.language import Language
from caesura.core.messages import Message
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.core.turns import Turn
from caesura.engine import cancellation, served
from caesura.engine.agent import Compiled
from caesura.engine.branch import Branch
from caesura.engine.failures import LogLimit, StepLimit
from caesura.engine.holdings import Holding
from caesura.engine.limits import Limits
from caesura.engine.observers import NOT_WATCHED, Watching
from caesura.engine.served import Patience
from caesura.engine.view import Place, View
from caesura.engine.windows import Window
from caesura.log.stream import Also, Stream
from caesura.models.model import Model
from caesura.store.database import Database
from caesura.store.graph_states import Kept
from caesura.store.summaries import Summary
from caesura.store.tool_calls import ToolCall

#: The most characters of one event of text.
LONGEST_DELTA = 16 * 1024
_DELTAS = (ev.TextDelta, ev.ReasoningDelta, ev.CallDelta)


@dataclass(slots=True)
class Control:
    """How other code controls a run: stop it for a reason, make it release its turn at the next step, hurry
    it."""

    stop: ev.StopReason | None = None
    #: Whether a stop has to cancel the run's task. That is so only while the agent works: before that the run
    #: checks for a stop itself, and after the outcome a stop is too late.
    stoppable: bool = False
    leaving: bool = False
    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    _on_leaving: list[Callable[[], None]] = field(default_factory=list)

    def leave(self) -> None:
        """Release the turn at the next step, so that another process continues it."""
        self.leaving = True
        self.hurry.set()
        for callback in self._on_leaving:
            callback()

    @contextmanager
    def when_leaving(self, callback: Callable[[], None]) -> Iterator[None]:
        """While this lasts, `callback` is called if the run has to release its turn."""
        self._on_leaving.append(callback)
        try:
            if self.leaving:
                callback()
            yield
        finally:
            self._on_leaving.remove(callback)


class Released(Exception):
    """The run released its turn at the end of a step: another process continues it."""


class AnswersNeeded(Exception):
    """The run cannot continue before a person has answered these interrupts. They are `asked` by the id under
    which the agent expects the answer."""

    def __init__(self, asked: Mapping[str, Interrupt]) -> None:
        super().__init__(f"{len(asked)} interrupts wait for an answer")
        self.asked = asked

    @classmethod
    def about(cls, item: Interrupt) -> AnswersNeeded:
        """An interrupt of an agent of ours, which finds its answer by the interrupt."""
        return cls({item.id: item})


def stop_reason(text: str) -> ev.StopReason:
    """The stop reason from a row's text; `user` if the text is not a known reason."""
    known: tuple[ev.StopReason, ...] = get_args(ev.StopReason)
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
    history: Branch
    journal: dict[str, ToolCall]
    #: The interrupts that the turn had when this process claimed it.
    interrupts: list[StoredInterrupt]
    control: Control
    aside: Aside
    database: Database
    holding: Holding
    grants: set[str] = field(default_factory=set)
    #: What stands for turns that a model is not shown.
    summaries: Sequence[Summary] = ()
    #: What models were shown in this run, of the agent (None) and of sub-agents under their tool calls.
    places: dict[tuple[str | None, int], Place] = field(default_factory=dict)
    #: The newest reply of the agent itself: who made it, and what was shown for it.
    last_view: tuple[Model, Window, View] | None = None
    #: What observers see of the run.
    watching: Watching = NOT_WATCHED
    #: LangChain's callbacks, with which a graph is observed.
    callbacks: list[Any] = field(default_factory=list)
    cause: ev.Cause = "start"
    #: The model calls that an earlier attempt was making when it ended. Their text is the reply until this
    #: attempt begins one.
    stale: Sequence[int] = ()
    #: The interrupts with which this segment ends, by graph id.
    new_interrupts: dict[str, Interrupt] = field(default_factory=dict)
    #: The ids of tool calls that a graph makes through the journal.
    journalled: set[str] = field(default_factory=set)
    #: The state that a graph leaves to the turns that follow.
    state: Sequence[Kept] = ()
    began: float = field(default_factory=time.monotonic)
    #: How long the run still waits for MCP servers.
    patience: Patience = field(default_factory=lambda: Patience(0, 0))
    #: Held by the tool call that is made again because its rows were refused.
    retries: asyncio.Lock = field(default_factory=asyncio.Lock)
    _reserved: set[str] = field(default_factory=set)
    _under_way: int = 0

    def say(self, event: ev.Event, *, lax: bool = False) -> None:
        """Append an event without waiting; readers see the event as soon as it is on disk. A long text
        becomes several events, so that no reader has to take all of it at once."""
        if isinstance(event, _DELTAS) and len(event.text) > LONGEST_DELTA:
            for place in range(0, len(event.text), LONGEST_DELTA):
                self.say(replace(event, text=event.text[place : place + LONGEST_DELTA]), lax=lax)
                event = replace(event, name="") if isinstance(event, ev.CallDelta) else event
            return
        if isinstance(event, ev.ModelStarted):
            self.void_stale()
        self.stream.put(event, lax=lax)
        self.transcript.apply(event, self.stream.stamped)
        self.stream.size += codec.size(event)
        if self.stream.size > self.limits.log:
            self.bound()

    def void_stale(self) -> None:
        stale, self.stale = self.stale, ()
        for call in stale:
            if call in self.transcript.drafts:
                self.say(ev.TextVoided(call))

    def note(self, *events: ev.Event, also: Also, lax: bool = False) -> None:
        """Append events together with their rows, without waiting. If the write fails, all later writes
        fail."""
        self.stream.note(*events, also=also, lax=lax)
        self._apply(events, self.stream.stamped)
        self.bound()

    async def record(
        self, *events: ev.Event, also: Also | None = None, durable: bool = False, at: int | None = None
    ) -> Any:
        """Append events together with their rows, and return when they are on disk. `at` is the time of the
        events, if the rows contain it."""
        done = self.stream.submit(*events, also=also, durable=durable, at=at)
        stamped = self.stream.stamped
        try:
            result = await done
        except asyncio.CancelledError:
            self._apply(events, stamped)  # the events are being written all the same
            raise
        self._apply(events, stamped)
        return result

    async def offer(self, *events: ev.Event, also: Also) -> None:
        """As `record`, for rows that may be refused: then the error of `also` is raised, none of it is
        written, and later writes go on. A caller that is cancelled waits for the outcome first, so that the
        transcript says what the log says."""
        done = self.stream.submit(*events, also=also)
        stamped = self.stream.stamped
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            await asyncio.wait([done])
            if done.exception() is None:
                self._apply(events, stamped)
            raise
        self._apply(events, stamped)
        self.bound()

    def _apply(self, events: Iterable[ev.Event], at: int) -> None:
        for event in events:
            self.transcript.apply(event, at)
            self.stream.size += codec.size(event)

    def bound(self, held: int = 0) -> None:
        """Fail the turn if its log plus `held` bytes that are not yet written is too long. The events that
        end the turn are written all the same."""
        if self.control.stoppable and self.full(held):
            raise self.too_long()

    def full(self, held: int = 0) -> bool:
        return self.stream.size + held > self.limits.log

    def too_long(self) -> LogLimit:
        return LogLimit(f"the turn came to more than {self.limits.log} bytes")

    def is_broken_off(self) -> bool:
        """Whether the run was stopped, or the current task was cancelled. A stop cancels the run's own task.
        The tasks of its tool calls, in which sub-agents work, are cancelled a moment later."""
        return self.control.stop is not None or cancellation.is_requested()

    def check(self) -> None:
        """Raise `CancelledError` if the run was stopped. Third-party code may have swallowed the
        cancellation."""
        if self.is_broken_off():
            raise asyncio.CancelledError

    @contextmanager
    def step(self) -> Iterator[None]:
        """While this lasts, a model call is under way. Sub-agents that work at the same time count against
        one limit, so a call counts from its beginning."""
        self.check_steps()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def check_steps(self) -> None:
        """Fail the turn if no model may be called any more."""
        if self.transcript.steps + self._under_way >= self.limits.steps:
            raise StepLimit(f"the agent did not come to an end in {self.limits.steps} steps")

    def next_call(self) -> int:
        return self.transcript.last_call + 1

    def replies_of(self, parent: str | None) -> list[Message]:
        """The replies so far in this turn of the agent, or of the sub-agent under the tool call `parent`."""
        return [m for m in self.transcript.finished if m.role == "assistant" and m.parent == parent]

    def reserve(self, ids: Iterable[str]) -> None:
        """Mark tool call ids as used, so that an agent that replies at the same time gets other ids."""
        self._reserved.update(ids)

    def call_ids(self) -> list[str]:
        """The ids of the turn's tool calls, in order."""
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

    def call_id(self, given: str) -> str:
        """The id in the log of a tool call that a graph knows as `given`. The graphs of several sub-agents
        may use the same ids."""
        prefix = f"{self.parent}:"
        return given if self.parent is None or given.startswith(prefix) else prefix + given

    async def equipped(self) -> Scope:
        """The same with the tools that its agent's MCP servers offer now."""
        return self if not self.agent.servers else replace(self, agent=await _equipped(self))

    async def calling(self, equipped: Scope, calls: Iterable[Mapping[str, Any]]) -> Scope:
        """What `equipped` gave, or the same anew if there are calls to make of tools that MCP servers did not
        list: they may have them by now."""
        known = self.run.journal
        new = [call for call in calls if (done := known.get(str(call["id"]))) is None or done.output is None]
        missing = [str(call["name"]) for call in new if call["name"] not in equipped.agent.tools]
        servers = [item for item in self.agent.servers if any(map(item.is_of, missing))]
        if not servers:
            return equipped
        await self.run.patience.insist(servers)
        return await self.equipped()

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


async def _equipped(scope: Scope) -> Compiled:
    agent = scope.agent
    offers = await scope.run.patience.offers(agent.servers)
    tools, permissions, notes = served.offered(agent.servers, offers, agent.tools)
    return replace(
        agent,
        tools={**agent.tools, **tools},
        permissions={**agent.permissions, **permissions},
        schemas=(*agent.schemas, *(tool.schema for tool in tools.values())),
        notes=notes,
    )


_SCOPE: ContextVar[Scope] = ContextVar("caesura_scope")
