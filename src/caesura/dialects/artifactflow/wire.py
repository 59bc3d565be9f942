"""The JSON that this API takes and gives. Times are ISO, UTC, with a `Z`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field, StringConstraints

from caesura.core.answers import Answer
from caesura.core.conversations import Conversation
from caesura.core.interrupts import Decision
from caesura.core.messages import Message
from caesura.core.turns import Status, Turn
from caesura.dialects.artifactflow import encode, names
from caesura.service.pages import Seen

Id = Annotated[str, StringConstraints(max_length=200)]
AgentName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=100)]


class _In(BaseModel):
    model_config = ConfigDict(strict=True)


class Chat(_In):
    """Without `parent_message_id` the message continues the active branch. `null` begins a new root. An id
    branches there."""

    content: str = Field(description="What the person says")
    conversation_id: Id | None = Field(default=None, description="Absent: a new conversation")
    parent_message_id: Id | None = None
    agent: AgentName | None = Field(default=None, description="Which agent replies; else the default")
    supersede: bool = Field(default=False, description="Refuse what waits for an answer, and go on")


class Resume(_In):
    """`approved` decides on everything that waits in the run. `decision`, with the member that belongs to it,
    says more than yes and no."""

    thread_id: Id
    message_id: Id
    approved: bool | None = None
    decision: Decision | None = None
    args: dict[str, Any] | None = Field(default=None, description="With `edit`")
    message: str = Field(default="", description="With `respond` or `reject`")
    answers: Annotated[list[str], FailFast()] = Field(default_factory=list, description="With `answers`")
    fields: dict[str, Any] = Field(default_factory=dict, description="With `fields`")
    value: Any = Field(default=None, description="With `value`")
    always_allow: bool = Field(default=False, description="Allow this tool from now on along the branch")
    interrupt_id: Id | None = Field(
        default=None, description="The question that the decision is about; absent: all that wait"
    )

    def answer(self, decision: Decision) -> Answer:
        return Answer(
            decision,
            self.args,
            self.message,
            tuple(self.answers),
            self.fields,
            self.value,
            self.always_allow,
        )


class Cancel(_In):
    message_id: Id | None = Field(default=None, description="Absent: every run of the conversation")


class Started(BaseModel):
    conversation_id: str
    message_id: str
    thread_id: str
    stream_url: str


class Resumed(BaseModel):
    stream_url: str
    interrupt: dict[str, Any] | None = Field(
        default=None, description="What still waits, if the decision was about only some of the questions"
    )


class Cancelled(BaseModel):
    cancelled: bool


class Listed(BaseModel):
    id: str
    title: str | None
    message_count: int = Field(description="How many messages `GET /api/v1/chat/{id}` gives")
    created_at: str
    updated_at: str


class Conversations(BaseModel):
    conversations: list[Listed]
    total: int
    has_more: bool


class TreeMessage(BaseModel):
    """A message of a person and the reply. Messages that continue from this one are its `children`."""

    id: str
    parent_id: str | None
    content: str
    response: str | None = Field(description="The reply as far as there is one")
    created_at: str
    children: list[str]
    thread_id: str = Field(description="The run that makes the reply")
    agent: str
    status: Status
    interrupt: dict[str, Any] | None = Field(description="What waits for an answer, as in the stream")


class Detail(BaseModel):
    id: str
    title: str | None
    active_branch: str | None
    session_id: str
    created_at: str
    updated_at: str
    messages: list[TreeMessage]


class Refusal(BaseModel):
    detail: str


class PendingRefusal(Refusal):
    interrupt: dict[str, Any] | None = Field(default=None, description="What waits for an answer")
    decision: dict[str, Any] | None = Field(default=None, description="What somebody else has decided")


def time_of(milliseconds: int) -> str:
    return encode.time_of(milliseconds).decode()


def started(turn: Turn, root: str) -> Started:
    return Started(
        conversation_id=names.conversation(turn.conversation_id),
        message_id=names.message(turn.id),
        thread_id=names.thread(turn.id),
        stream_url=names.stream(turn.id, root),
    )


def listed(item: Conversation) -> Listed:
    return Listed(
        id=names.conversation(item.id),
        title=item.title,
        message_count=item.turn_count,
        created_at=time_of(item.created_at),
        updated_at=time_of(item.updated_at),
    )


def detail(item: Conversation) -> dict[str, Any]:
    """A `Detail` without its messages, as plain data."""
    return {
        "id": names.conversation(item.id),
        "title": item.title,
        "active_branch": names.message(item.active_turn) if item.active_turn else None,
        "session_id": names.session(item.id),
        "created_at": time_of(item.created_at),
        "updated_at": time_of(item.updated_at),
    }


def message(seen: Seen, children: Mapping[str | None, Sequence[str]]) -> dict[str, Any]:
    """A `TreeMessage`, as plain data."""
    turn = seen.turn
    return {
        "id": names.message(turn.id),
        "parent_id": names.message(turn.parent_id) if turn.parent_id else None,
        "content": turn.content,
        "response": _response(seen.messages),
        "created_at": time_of(turn.created_at),
        "children": [names.message(child) for child in children.get(turn.id, ())],
        "thread_id": names.thread(turn.id),
        "agent": turn.agent,
        "status": turn.status,
        "interrupt": encode.interrupt_data(seen.pending) if seen.pending else None,
    }


def _response(messages: Sequence[Message]) -> str | None:
    """The last text of the agent itself, not of a sub-agent."""
    own = (m.content for m in reversed(messages) if m.role == "assistant" and m.parent is None and m.content)
    return next(own, None)
