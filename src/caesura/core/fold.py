"""The fold from events to messages: what a turn's log says, as a transcript."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from caesura.core import events as ev
from caesura.core import json_data, messages
from caesura.core import notes as between
from caesura.core.interrupts import Approval, Interrupt, Questions
from caesura.core.messages import Message
from caesura.core.notes import About, Note

NOT_DONE = "Not done: the turn ended before this call was made."
UNKNOWN = "Unknown: the turn ended while this call was under way; it may or may not have taken effect."

_NONE: Mapping[str, ev.ToolStarted] = {}


@dataclass(frozen=True, slots=True)
class Writing:
    """A tool call that a model is writing in the model call `call`: its arguments so far, as JSON text.
    `index` counts the tool calls of the reply from 0."""

    call: int
    index: int
    name: str
    text: str
    agent: str
    parent: str | None


@dataclass(slots=True)
class _Draft:
    """A model call that has not finished."""

    agent: str
    parent: str | None
    ref: str = ""
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    #: For each tool call that is being written: its name, and the pieces of its arguments.
    tool_calls: dict[int, tuple[str, list[str]]] = field(default_factory=dict)

    def message(self, done: ev.ModelFinished | None, at: int | None = None) -> Message:
        return Message(
            "assistant",
            "".join(self.text),
            reasoning="".join(self.reasoning),
            tool_calls=done.tool_calls if done else (),
            agent=self.agent,
            parent=self.parent,
            cut=done is None,
            kept=done.kept if done else (),
            usage=done.usage if done else None,
            at=at,
            ms=done.thought_ms if done else None,
        )


@dataclass(slots=True)
class Transcript:
    """The messages of one turn after its user message, built event by event."""

    finished: list[Message] = field(default_factory=list)
    calls: dict[int, tuple[str, Message]] = field(default_factory=dict)
    drafts: dict[int, _Draft] = field(default_factory=dict)
    #: The arguments of each tool call as the model gave them.
    wanted: dict[str, dict[str, Any]] = field(default_factory=dict)
    running: dict[str, ev.ToolStarted] = field(default_factory=dict)
    #: What each tool call that runs does now, if it tells.
    progress: dict[str, str] = field(default_factory=dict)
    #: The tool calls about whose unknown outcome a person was asked since they were last started.
    doubted: set[str] = field(default_factory=set)
    pending: tuple[Interrupt, ...] = ()
    #: The ids of all interrupts, and of those asked before the person stopped the turn: approving one of
    #: those no longer counts.
    interrupt_ids: set[str] = field(default_factory=set)
    lapsed: set[str] = field(default_factory=set)
    #: The ids of interrupts asked before the turn was retried.
    ids_before_retry: set[str] = field(default_factory=set)
    retries: int = 0
    outcome: ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped | None = None
    segment: int = 0
    #: Whether the segment still waits for its `SegmentEnded`.
    open: bool = False
    #: How often the segment was adopted after a crash since it last made progress.
    adoptions: int = 0
    #: How often a model has replied since the turn began or was retried.
    steps: int = 0
    #: The tokens of replies since the last outcome, with which those before were counted.
    spent: Counter[str] = field(default_factory=Counter)
    title: str | None = None
    #: The epoch of the newest attempt.
    epoch: int = 0
    #: The version of the agent that works on the turn.
    version: str = ""
    last_call: int = 0
    #: The model of the agent's newest reply, and the first turn that it was shown, if not all.
    model: str = ""
    context_from: str | None = None
    #: The version that the turn has made last of each artifact, in the order in which it first changed them.
    artifacts: dict[str, int] = field(default_factory=dict)
    #: What a graph has written, by the task and the author: the `mark` of each value, whether another task
    #: may have written it, and whether it has words.
    written: dict[tuple[str, str], list[tuple[bytes, bool, bool]]] = field(default_factory=dict)
    #: Their places count the finished messages, in the order of the log.
    notes: list[Note] = field(default_factory=list)
    #: When each tool call that runs was started, and the time of the newest event.
    started: dict[str, int | None] = field(default_factory=dict)
    last_at: int | None = field(default=None, compare=False)

    def apply(self, event: ev.Event, at: int | None = None) -> None:  # noqa: C901 - one case for each event
        """`at` is the time of the event, if it is known."""
        before, self.last_at = self.last_at, at
        if type(event) is ev.TextDelta:  # nearly all events of a log: a pattern would cost more
            self.drafts[event.call].text.append(event.text)
            return
        match event:
            case ev.TextDelta():
                pass
            case ev.ReasoningDelta(call, text):
                self.drafts[call].reasoning.append(text)
            case ev.CallDelta(call, index, text, name):
                self.drafts[call].tool_calls.setdefault(index, (name, []))[1].append(text)
            case ev.RunStarted():
                self._begin(event, before, at)
            case ev.ModelStarted(call, agent, model, parent, ref):
                self.drafts[call] = _Draft(agent, parent, ref)
                self.last_call = max(self.last_call, call)
                if parent is None:
                    self.model, self.context_from = model or self.model, event.context_from
            case ev.TextVoided(call):
                self._void(call)
            case ev.ModelFinished(call):
                self._finish(call, event, at)
            case ev.ToolStarted():
                self._start(event, at)
            case ev.ToolProgress(id, text):
                self.progress[id] = text
            case ev.ToolFinished():
                self._return(event, at)
            case ev.GraphWrote():
                self._write(event)
            case ev.TitleChanged(title):
                self.title = title
            case ev.Interrupted():
                self._ask(event, at)
            case ev.InterruptClosed():
                self._close(event, at)
            case ev.Finished() | ev.Failed() | ev.Stopped():
                self.pending, self.outcome = (), event
                self.spent.clear()
                for draft in self.drafts.values():
                    draft.tool_calls.clear()  # nobody will make them
                self.lapsed = set(self.interrupt_ids) if isinstance(event, ev.Stopped) else self.lapsed
                if not isinstance(event, ev.Finished):
                    self.notes.append(between.ended(event, len(self.finished), at))
            case ev.SegmentEnded():
                self.open = False
            case ev.ArtifactChanged(id, version):
                self.artifacts[id] = version
            case unreachable:
                assert_never(unreachable)

    def messages(self, ended: int | None = None) -> list[Message]:
        """The messages so far, drafts last, as the person saw them. `ended` is when the drafts were cut, if
        they were."""
        drafts = [
            draft.message(None, ended) for draft in self.drafts.values() if draft.text or draft.reasoning
        ]
        return [*self.finished, *drafts]

    def writing(self) -> list[Writing]:
        """The tool calls that models are writing now, of those that are shown while they are written."""
        return [
            Writing(call, index, name, "".join(pieces), draft.agent, draft.parent)
            for call, draft in self.drafts.items()
            for index, (name, pieces) in draft.tool_calls.items()
        ]

    def about(self, shown: list[Message], outcome: ev.Event | None = None, at: int | None = None) -> About:
        """What is told of the turn beside the messages that are shown. `outcome` is one that is not applied
        yet, with its time."""
        return About(self.model, self.placed(shown, outcome, at), self.artifacts, self.context_from)

    def placed(
        self, shown: list[Message], outcome: ev.Event | None = None, at: int | None = None
    ) -> list[Note]:
        """The notes among the messages that are shown. `outcome` is one that is not applied yet, with its
        time."""
        notes = self.notes
        if isinstance(outcome, ev.Stopped | ev.Failed):
            notes = [*notes, between.ended(outcome, len(self.finished), at)]
        placed = between.placed(notes, self.finished, shown)
        if isinstance(outcome or self.outcome, ev.Stopped | ev.Failed):
            placed[-1] = replace(placed[-1], after=len(shown))  # after the replies that it cut
        return placed

    def shown(self) -> int:
        """How many of the messages so far a history shows. Joins no text."""
        drafts = [draft for draft in self.drafts.values() if draft.parent is None]
        return len(messages.shown(self.finished)) + sum(
            any(text and not text.isspace() for text in draft.text) for draft in drafts
        )

    def closed(self, ended: int | None = None) -> list[Message]:
        """The messages of an ended turn: every tool call has a result, so that any provider accepts them.
        What a provider wanted back as long as the turn lasted is dropped."""
        said = (replace(item, kept=()) if item.kept else item for item in self.messages(ended))
        return close(said, self.running)

    @property
    def text(self) -> str:
        """The reply: the last text of the agent itself, not of a sub-agent."""
        own = [m.content for m in self.messages() if m.role == "assistant" and m.parent is None and m.content]
        return own[-1] if own else ""

    def _begin(self, event: ev.RunStarted, before: int | None, at: int | None) -> None:
        if event.cause == "adopt":
            self.notes.append(Note("restart", len(self.finished), at, between.between(before, at)))
        self.segment, self.outcome, self.open = event.segment, None, True
        self.progress.clear()  # what runs now runs from its beginning
        self.epoch = event.epoch
        self.version = event.version or self.version
        self.adoptions = self.adoptions + 1 if event.cause == "adopt" else 0
        if event.cause == "retry":
            self.steps, self.ids_before_retry = 0, set(self.interrupt_ids)
            self.retries += 1

    def _finish(self, call: int, event: ev.ModelFinished, at: int | None) -> None:
        draft = self.drafts.pop(call)
        message = draft.message(event, at)
        self.finished.append(message)
        self.calls[call] = (draft.ref, message)
        self.wanted |= {item["id"]: item["args"] for item in event.tool_calls}
        self.adoptions = 0
        self.steps += 1
        self.spent.update(event.usage or {})

    def _start(self, event: ev.ToolStarted, at: int | None) -> None:
        self.running[event.id], self.started[event.id] = event, at
        self.doubted.discard(event.id)
        self.progress.pop(event.id, None)

    def _return(self, event: ev.ToolFinished, at: int | None) -> None:
        begun, started = self.running.pop(event.id, None), self.started.pop(event.id, None)
        self.progress.pop(event.id, None)
        args = _edited(begun, self.wanted.get(event.id))
        self.finished.append(_tool_message(event, args, started, at))
        self.adoptions = 0

    def _void(self, call: int) -> None:
        self.drafts.pop(call, None)
        if call in self.calls:
            _, void = self.calls.pop(call)
            place = next(place for place, message in enumerate(self.finished) if message is void)
            del self.finished[place]
            self.notes = [
                replace(note, after=note.after - 1) if note.after > place else note for note in self.notes
            ]

    def _write(self, event: ev.GraphWrote) -> None:
        written = mark(event.value), "," in event.tasks, bool(event.words)
        for task in event.tasks.split(",") if event.tasks else ():
            if event.kind == "restart":
                self.written.pop((task, event.author), None)
            else:
                self.written.setdefault((task, event.author), []).append(written)

    def _ask(self, event: ev.Interrupted, at: int | None) -> None:
        new = [item for item in event.interrupts if item.id not in self.interrupt_ids]
        self.notes += [between.paused(item, len(self.finished), at) for item in new]
        for item in event.interrupts:
            if isinstance(item, Approval) and item.tool_call_id and not item.unknown:
                # An operator's own graph tells of a call when its model asks for it.
                self.running.pop(item.tool_call_id, None)
                self.started.pop(item.tool_call_id, None)
        asked = [item for item in new if isinstance(item, Approval) and item.unknown]
        self.doubted.update(item.tool_call_id for item in asked if item.tool_call_id)
        self.pending, self.outcome = event.interrupts, event
        self.spent.clear()
        self.interrupt_ids.update(item.id for item in event.interrupts)

    def _close(self, event: ev.InterruptClosed, at: int | None) -> None:
        asked = next((item for item in self.pending if item.id == event.id), None)
        self.pending = tuple(item for item in self.pending if item.id != event.id)
        if event.outcome != "answered" and isinstance(asked, Questions) and asked.name:
            self.running.pop(asked.tool_call_id or "", None)  # a call that only asks has done nothing
        self.notes = [
            between.resumed(note, asked, event, at) if note.interrupt_id == event.id else note
            for note in self.notes
        ]
        if event.message:
            self.finished.append(Message("user", event.message, at=at))


def mark(value: Any) -> bytes:
    """Tells values that a graph writes apart. When it writes one again, only the time differs."""
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if name != "timestamp"}
    return hashlib.blake2b(json_data.dumps(value), digest_size=16).digest()


def fold(events: Iterable[ev.Event]) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    return transcript


def timed(log: Iterable[ev.Envelope]) -> Transcript:
    """As `fold`, with the times of the events."""
    transcript = Transcript()
    for _, at, event in log:
        transcript.apply(event, at)
    return transcript


def close(messages: Iterable[Message], running: Mapping[str, ev.ToolStarted] = _NONE) -> list[Message]:
    """The same messages with a result after every tool call: the real result, or one that says it was not
    done.

    Results come directly after the message of their call, in the order of the calls: providers refuse
    anything else. A call that was running when the turn ended gets a result that says its outcome is unknown.
    """
    items = list(messages)
    results = {m.tool_call_id: m for m in items if m.role == "tool"}
    closed: list[Message] = []
    for message in items:
        if message.role == "tool":
            continue
        closed.append(message)
        for call in message.tool_calls:
            closed.append(results.get(call["id"]) or _missing(call, message, running.get(call["id"])))
    return closed


def _missing(call: dict[str, Any], message: Message, begun: ev.ToolStarted | None) -> Message:
    return Message(
        "tool",
        NOT_DONE if begun is None else UNKNOWN,
        tool_call_id=call["id"],
        name=call["name"],
        status="not_done" if begun is None else "unknown",
        agent=message.agent,
        parent=message.parent,
        args=_edited(begun, call["args"]),
    )


def _edited(begun: ev.ToolStarted | None, wanted: dict[str, Any] | None) -> dict[str, Any] | None:
    """The arguments of a call that runs, if they are not those that the model gave."""
    return None if begun is None or wanted is None or begun.args == wanted else begun.args


def _tool_message(
    event: ev.ToolFinished, args: dict[str, Any] | None, started: int | None, at: int | None
) -> Message:
    return Message(
        "tool",
        event.output,
        tool_call_id=event.id,
        name=event.name,
        status=event.status,
        agent=event.agent,
        parent=event.parent,
        args=args,
        at=at,
        ms=between.between(started, at),
    )
