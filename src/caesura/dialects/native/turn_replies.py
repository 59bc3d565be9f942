"""The JSON of turns: what was said, what is under way, what happened between messages."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from caesura.core import messages as msg
from caesura.core import notes
from caesura.core.events import ToolStarted
from caesura.core.fold import Writing
from caesura.core.turns import OnDisconnect, Status
from caesura.core.turns import Turn as TurnRow
from caesura.dialects.native.question_replies import Interrupt
from caesura.service.agents import is_demo
from caesura.service.pages import Seen


class Message(BaseModel):
    """An unfinished message has a `call`. Append the text of later `text_delta` events with the same `call`
    to it."""

    role: msg.Role
    content: str
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    tool_call_id: str | None = None
    name: str | None = None
    status: str = "ok"
    agent: str = ""
    parent: str | None = None
    cut: bool = False
    args: dict[str, Any] | None = Field(
        default=None,
        description="Of a tool's result: the arguments with which it ran, if a person edited them",
    )
    usage: dict[str, int] | None = None
    at: int | None = Field(default=None, description="When it ended; null if that is not known")
    ms: int | None = Field(default=None, description="How long a tool call took, or a model thought")
    call: int | None = None

    @classmethod
    def of(cls, message: msg.Message, call: int | None = None) -> Message:
        fields = {name: getattr(message, name) for name in msg.Message.__slots__}
        return cls(**{**fields, "tool_calls": list(message.tool_calls)}, call=call)


class Turn(BaseModel):
    id: str
    conversation_id: str
    parent_id: str | None
    ordinal: int
    agent: str
    status: Status
    segment: int
    content: str
    on_disconnect: OnDisconnect
    created_at: int
    ended_at: int | None

    @classmethod
    def of(cls, row: TurnRow) -> Turn:
        return cls(**_turn(row))


class RunningTool(BaseModel):
    id: str
    name: str
    args: dict[str, Any]
    agent: str
    parent: str | None
    progress: str | None = Field(description="What it does now, if it tells")

    @classmethod
    def of(cls, event: ToolStarted, progress: str | None) -> RunningTool:
        return cls(
            id=event.id,
            name=event.name,
            args=event.args,
            agent=event.agent,
            parent=event.parent,
            progress=progress,
        )


class WritingTool(BaseModel):
    """A tool call that the model is writing. Append the text of later `call_delta` events with the same
    `call` and `index` to its `text`."""

    call: int
    index: int
    name: str
    text: str = Field(description="Its arguments so far: the beginning of a JSON text")
    agent: str
    parent: str | None

    @classmethod
    def of(cls, item: Writing) -> WritingTool:
        return cls(**{name: getattr(item, name) for name in Writing.__slots__})


class QuestionAnswer(BaseModel):
    """A question and the answer to it, in the words in which it was offered."""

    question: str
    answer: str


class Note(BaseModel):
    """What happened between messages."""

    kind: notes.Kind
    after: int = Field(description="How many messages come before it")
    at: int | None
    ms: int | None = Field(description="How long a pause or an outage took")
    outcome: str | None = Field(
        description="The decision that ended a pause, or why the turn was stopped or failed"
    )
    interrupt_id: str | None
    tool_call_id: str | None
    message: str | None = Field(description="What is said about a failure")
    error_id: str | None
    asked: str | None = Field(description="The kind of the question for which the turn paused")
    tool: str | None = Field(description="The tool that the question was about")
    always: bool | None = Field(description="True if the person allowed the tool for the rest of the branch")
    answers: list[QuestionAnswer] | None = Field(description="The questions that were answered")

    @classmethod
    def of(cls, note: notes.Note) -> Note:
        members = {name: getattr(note, name) for name in notes.Note.__slots__ if name != "answers"}
        answers = None if note.answers is None else [QuestionAnswer(**item) for item in note.answers]
        return cls(**members, answers=answers)


class Change(BaseModel):
    """An artifact that a turn changed."""

    id: str
    version: int = Field(description="The version that the turn made last")


class SeenTurn(Turn):
    """A turn with its messages, up to and including the event `cursor`."""

    messages: list[Message]
    interrupts: list[Interrupt]
    running_tools: list[RunningTool]
    writing_tools: list[WritingTool]
    cursor: int
    model: str | None = Field(description="The model of the newest reply; null while there is none")
    demo: bool
    context_from: str | None = Field(
        description="The first turn of the conversation that this model was shown; null if all"
    )
    usage: dict[str, int] | None = Field(description="The tokens of all messages together")
    siblings: list[str] = Field(
        description="The turns with the same parent, oldest first: at most 100, around this one"
    )
    notes: list[Note]
    artifacts: list[Change] = Field(
        description="The artifacts that it changed, in the order in which it first did"
    )

    @classmethod
    def of_seen(cls, seen: Seen) -> SeenTurn:
        calls = seen.calls or (None,) * len(seen.messages)
        return cls(
            **_turn(seen.turn),
            messages=[Message.of(item, call) for item, call in zip(seen.messages, calls, strict=True)],
            interrupts=[Interrupt.of(item) for item in seen.pending],
            running_tools=[RunningTool.of(item, seen.progress.get(item.id)) for item in seen.running],
            writing_tools=[WritingTool.of(item) for item in seen.writing],
            cursor=seen.cursor,
            model=seen.about.model or None,
            demo=is_demo(seen.about.model),
            context_from=seen.about.context_from,
            usage=msg.usage(seen.messages),
            siblings=list(seen.siblings),
            notes=[Note.of(item) for item in seen.about.notes],
            artifacts=[Change(id=name, version=made) for name, made in seen.about.artifacts.items()],
        )


class Stopped(BaseModel):
    stopped: bool


def _turn(row: TurnRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Turn.model_fields}
