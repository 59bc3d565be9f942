"""The fold from events to messages: what a turn's log says, as a transcript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, assert_never

from caesura.core import events as ev
from caesura.core import messages
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Message

NOT_DONE = "Not done: the turn ended before this call was made."
UNKNOWN = "Unknown: the turn ended while this call was under way; it may or may not have taken effect."


@dataclass(slots=True)
class _Draft:
    """A model call that has not finished."""

    agent: str
    parent: str | None
    ref: str = ""
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)

    def message(self, done: ev.ModelFinished | None) -> Message:
        return Message(
            "assistant",
            "".join(self.text),
            reasoning="".join(self.reasoning),
            tool_calls=done.tool_calls if done else (),
            agent=self.agent,
            parent=self.parent,
            cut=done is None,
            usage=done.usage if done else None,
        )


@dataclass(slots=True)
class Transcript:
    """The messages of one turn after its user message, built event by event."""

    finished: list[Message] = field(default_factory=list)
    calls: dict[int, tuple[str, Message]] = field(default_factory=dict)
    drafts: dict[int, _Draft] = field(default_factory=dict)
    running: dict[str, ev.ToolStarted] = field(default_factory=dict)
    #: How often each tool call was started.
    attempts: dict[str, int] = field(default_factory=dict)
    pending: tuple[Interrupt, ...] = ()
    #: The ids of all interrupts, and of those asked before the person stopped the turn: approving one of
    #: those no longer counts.
    interrupt_ids: set[str] = field(default_factory=set)
    lapsed: set[str] = field(default_factory=set)
    #: The ids of interrupts asked before the turn was retried.
    ids_before_retry: set[str] = field(default_factory=set)
    outcome: ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped | None = None
    segment: int = 0
    #: Whether the segment still waits for its `SegmentEnded`.
    open: bool = False
    #: How often the segment was adopted after a crash since it last made progress.
    adoptions: int = 0
    #: How often a model has replied since the turn began or was retried.
    steps: int = 0
    title: str | None = None
    #: The epoch of the newest attempt.
    epoch: int = 0
    #: The version of the agent that works on the turn.
    version: str = ""
    last_call: int = 0

    def apply(self, event: ev.Event) -> None:  # noqa: C901 - one case for each event
        if type(event) is ev.TextDelta:  # nearly all events of a log: a pattern would cost more
            self.drafts[event.call].text.append(event.text)
            return
        match event:
            case ev.TextDelta():
                pass
            case ev.ReasoningDelta(call, text):
                self.drafts[call].reasoning.append(text)
            case ev.RunStarted():
                self._begin(event)
            case ev.ModelStarted(call, agent, _, parent, ref):
                self.drafts[call] = _Draft(agent, parent, ref)
                self.last_call = max(self.last_call, call)
            case ev.TextVoided(call):
                self._void(call)
            case ev.ModelFinished(call):
                self._finish(call, event)
            case ev.ToolStarted():
                self.running[event.id] = event
                self.attempts[event.id] = self.attempts.get(event.id, 0) + 1
            case ev.ToolFinished():
                self.running.pop(event.id, None)
                self.finished.append(_tool_message(event))
                self.adoptions = 0
            case ev.TitleChanged(title):
                self.title = title
            case ev.Interrupted(interrupts):
                self.pending, self.outcome = interrupts, event
                self.interrupt_ids.update(item.id for item in interrupts)
            case ev.InterruptClosed():
                self._close(event)
            case ev.Finished() | ev.Failed() | ev.Stopped():
                self.pending, self.outcome = (), event
                self.lapsed = set(self.interrupt_ids) if isinstance(event, ev.Stopped) else self.lapsed
            case ev.SegmentEnded():
                self.open = False
            case ev.ArtifactChanged():
                pass
            case unreachable:
                assert_never(unreachable)

    def messages(self) -> list[Message]:
        """The messages so far, drafts last, as the person saw them."""
        drafts = [draft.message(None) for draft in self.drafts.values() if draft.text or draft.reasoning]
        return [*self.finished, *drafts]

    def shown(self) -> int:
        """How many of the messages so far a history shows. Joins no text."""
        drafts = [draft for draft in self.drafts.values() if draft.parent is None]
        return len(messages.shown(self.finished)) + sum(
            any(text and not text.isspace() for text in draft.text) for draft in drafts
        )

    def closed(self) -> list[Message]:
        """The messages of an ended turn: every tool call has a result, so that any provider accepts them."""
        return close(self.messages(), self.running)

    @property
    def text(self) -> str:
        """The reply: the last text of the agent itself, not of a sub-agent."""
        own = [m.content for m in self.messages() if m.role == "assistant" and m.parent is None and m.content]
        return own[-1] if own else ""

    def _begin(self, event: ev.RunStarted) -> None:
        self.segment, self.outcome, self.open = event.segment, None, True
        self.epoch = event.epoch
        self.version = event.version or self.version
        self.adoptions = self.adoptions + 1 if event.cause == "adopt" else 0
        if event.cause == "retry":
            self.steps, self.ids_before_retry = 0, set(self.interrupt_ids)

    def _finish(self, call: int, event: ev.ModelFinished) -> None:
        draft = self.drafts.pop(call)
        message = draft.message(event)
        self.finished.append(message)
        self.calls[call] = (draft.ref, message)
        self.adoptions = 0
        self.steps += 1

    def _void(self, call: int) -> None:
        self.drafts.pop(call, None)
        if call in self.calls:
            _, void = self.calls.pop(call)
            self.finished = [message for message in self.finished if message is not void]

    def _close(self, event: ev.InterruptClosed) -> None:
        self.pending = tuple(item for item in self.pending if item.id != event.id)
        if event.message:
            self.finished.append(Message("user", event.message))


def fold(events: Iterable[ev.Event]) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    return transcript


def close(messages: Iterable[Message], running: Iterable[str] = ()) -> list[Message]:
    """The same messages with a result after every tool call: the real result, or one that says it was not
    done.

    Results come directly after the message of their call, in the order of the calls: providers refuse
    anything else. A call that was running when the turn ended gets a result that says its outcome is unknown.
    """
    items = list(messages)
    begun = set(running)
    results = {m.tool_call_id: m for m in items if m.role == "tool"}
    closed: list[Message] = []
    for message in items:
        if message.role == "tool":
            continue
        closed.append(message)
        for call in message.tool_calls:
            closed.append(results.get(call["id"]) or _missing(call, message, call["id"] in begun))
    return closed


def _missing(call: dict[str, Any], message: Message, begun: bool) -> Message:
    return Message(
        "tool",
        UNKNOWN if begun else NOT_DONE,
        tool_call_id=call["id"],
        name=call["name"],
        status="unknown" if begun else "not_done",
        agent=message.agent,
        parent=message.parent,
    )


def _tool_message(event: ev.ToolFinished) -> Message:
    return Message(
        "tool",
        event.output,
        tool_call_id=event.id,
        name=event.name,
        status=event.status,
        agent=event.agent,
        parent=event.parent,
    )
