"""The JSON that the native API gives. Times are milliseconds since 1970, UTC."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import (
    BaseModel,
    Field,
)

from caesura.core import answers as core_answers
from caesura.core import interrupts as core
from caesura.core import messages as msg
from caesura.core import notes
from caesura.core.conversations import Conversation as ConversationRow
from caesura.core.conversations import Grant as GrantRow
from caesura.core.events import ToolStarted
from caesura.core.fold import Writing
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.core.turns import OnDisconnect, Status
from caesura.core.turns import Turn as TurnRow
from caesura.dialects.native import encode
from caesura.service.agents import Agent as LoadedAgent
from caesura.service.agents import is_demo
from caesura.service.pages import BranchPage, Seen, TreePage


class Me(BaseModel):
    user_id: str


class Agent(BaseModel):
    name: str
    description: str
    version: str = Field(description="A hash, which changes with the agent")
    metadata_version: str | None = Field(description="The label that the operator gave it in its file")
    type: Literal["chat_model_agent", "langgraph"]
    sub_agents: list[str]
    is_default: bool
    model: str | None = Field(description="Its model; null if an operator's graph names none")
    demo: bool = Field(description="Whether its model is the demo model, which is no AI")

    @classmethod
    def of(cls, agent: LoadedAgent, default: str, model: str | None) -> Agent:
        return cls(
            name=agent.name,
            description=agent.description,
            version=agent.version,
            metadata_version=agent.metadata.version,
            type=agent.spec.type,
            sub_agents=[link.agent.name for link in agent.sub_agents],
            is_default=agent.name == default,
            model=model,
            demo=is_demo(model),
        )


class Agents(BaseModel):
    agents: list[Agent]


class Conversation(BaseModel):
    id: str
    title: str | None
    agent: str
    status: Literal["idle", "running", "interrupted"]
    active_turn: str | None
    message_count: int
    created_at: int
    updated_at: int

    @classmethod
    def of(cls, row: ConversationRow) -> Conversation:
        status: Literal["idle", "running", "interrupted"] = "running" if row.running else "idle"
        return cls(
            id=row.id,
            title=row.title,
            agent=row.agent,
            status="interrupted" if row.interrupted else status,
            active_turn=row.active_turn,
            message_count=row.message_count,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


class Conversations(BaseModel):
    conversations: list[Conversation]
    total: int
    next: str | None = Field(description="The cursor of the next page; null after the last one")


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
    ms: int | None = Field(default=None, description="How long a tool call took")
    call: int | None = None

    @classmethod
    def of(cls, message: msg.Message, call: int | None = None) -> Message:
        fields = {name: getattr(message, name) for name in msg.Message.__slots__}
        return cls(**{**fields, "tool_calls": list(message.tool_calls)}, call=call)


class Option(BaseModel):
    label: str
    value: str
    allow_custom: bool = False


class Question(BaseModel):
    question: str
    options: list[Option] = Field(default_factory=list)


class FormField(BaseModel):
    name: str
    type: core.FieldType
    label: str
    required: bool
    options: list[str] = Field(default_factory=list)


class File(BaseModel):
    """What a file holds that an approved call would write."""

    path: str
    exists: bool
    content: str | None = Field(description="At most 64 KiB of text; null for anything else")
    size: int
    sha256: str | None = Field(description="Null for a file that does not exist or is very long")


class Interrupt(BaseModel):
    id: str
    kind: core.Kind
    tool_call_id: str | None
    name: str | None
    args: dict[str, Any]
    label: str
    description: str
    unknown: bool = Field(description="The call was begun before a crash, and nobody knows what came of it")
    file: File | None = Field(description="What the file holds now that `write_file` would write")
    changed: bool = Field(
        description="It was approved, but the file had changed since it was shown: nothing was written"
    )
    questions: list[Question]
    reason: str
    fields: list[FormField]
    value: Any
    agent: str
    parent: str | None = Field(description="The tool call under which a sub-agent asks")
    expires_at: int | None
    decisions: list[core.Decision]

    @classmethod
    def of(cls, item: core.Interrupt) -> Interrupt:
        return cls(**encode.interrupt(item))


class Asked(Interrupt):
    turn_id: str
    conversation_id: str
    status: core.Status
    answer: dict[str, Any] | None
    created_at: int

    @classmethod
    def of_row(cls, row: StoredInterrupt) -> Asked:
        return cls(
            **encode.interrupt(row.interrupt),
            turn_id=row.turn_id,
            conversation_id=row.conversation_id,
            status=row.status,
            answer=core_answers.to_dict(row.answer) if row.answer else None,
            created_at=row.created_at,
        )


class Inbox(BaseModel):
    interrupts: list[Asked]
    next: str | None = Field(description="The cursor of the next page; null after the last one")


class Grant(BaseModel):
    tool: str
    turn_id: str = Field(description="The turn in which it was granted")
    granted_at: int

    @classmethod
    def of(cls, row: GrantRow) -> Grant:
        return cls(tool=row.tool, turn_id=row.turn_id, granted_at=row.granted_at)


class Grants(BaseModel):
    grants: list[Grant]


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

    @classmethod
    def of(cls, note: notes.Note) -> Note:
        return cls(**{name: getattr(note, name) for name in notes.Note.__slots__})


class SeenTurn(Turn):
    """A turn with its messages, up to and including the event `cursor`."""

    messages: list[Message]
    interrupts: list[Interrupt]
    running_tools: list[RunningTool]
    writing_tools: list[WritingTool]
    cursor: int
    model: str | None = Field(description="The model of the newest reply; null while there is none")
    demo: bool
    usage: dict[str, int] | None = Field(description="The tokens of all messages together")
    siblings: list[str] = Field(
        description="The turns with the same parent, oldest first: at most 100, around this one"
    )
    notes: list[Note]

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
            usage=msg.usage(seen.messages),
            siblings=list(seen.siblings),
            notes=[Note.of(item) for item in seen.about.notes],
        )


class Tree(Conversation):
    """A page of a conversation's turns, oldest first."""

    turns: list[SeenTurn]
    next: str | None = Field(description="The cursor of the next page; null after the last one")

    @classmethod
    def of_page(cls, page: TreePage) -> Tree:
        return cls(
            **Conversation.of(page.conversation).model_dump(),
            turns=[SeenTurn.of_seen(item) for item in page.turns],
            next=str(page.next) if page.next is not None else None,
        )


class Read(BaseModel):
    """Up to where the person has read, on whichever device."""

    turn_id: str
    cursor: int
    at: int


class Snapshot(BaseModel):
    """The end of the active branch as it is now, oldest turn first. Later changes are the events after
    `cursor` of `turn`, the newest turn here."""

    conversation: Conversation
    turns: list[SeenTurn]
    turn: str | None
    cursor: int
    before: str | None = Field(description="The cursor of the page before this one; null at the beginning")
    read: Read | None = Field(description="What the person has read last; null if nothing is known")

    @classmethod
    def of_page(cls, page: BranchPage) -> Snapshot:
        newest = page.turns[-1] if page.turns else None
        return cls(
            conversation=Conversation.of(page.conversation),
            turns=[SeenTurn.of_seen(item) for item in page.turns],
            turn=newest.turn.id if newest else None,
            cursor=newest.cursor if newest else 0,
            before=page.before,
            read=Read(**page.read._asdict()) if page.read else None,
        )


class Stopped(BaseModel):
    stopped: bool


class Ticket(BaseModel):
    ticket: str = Field(description="For `?ticket=`: good once, for this person and this stream")
    expires_in: int = Field(description="Seconds")


def _turn(row: TurnRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Turn.model_fields}
