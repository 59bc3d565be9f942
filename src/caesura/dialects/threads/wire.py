"""The JSON that this API takes and gives."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from caesura.core.conversations import Conversation
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Line, Role
from caesura.dialects.threads.encode import interrupt_data, short
from caesura.service.conversations import Status


class NewSession(BaseModel):
    model_config = ConfigDict(strict=True)

    agent: str | None = Field(default=None, description="Which agent replies; the server's default if absent")


class Chat(BaseModel):
    model_config = ConfigDict(strict=True)

    message: str = Field(description="What the person says")
    supersede: bool = Field(default=False, description="Refuse what waits for an answer, and go on")
    on_disconnect: Literal["stop", "continue"] | None = Field(
        default=None,
        description="What becomes of the run when the client leaves; else the server's setting",
    )


_SHOWN = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        {"type": "null"},
    ]
}


class Resume(BaseModel):
    """The members are checked by hand: the errors' texts are part of the API."""

    action: Any = Field(default=None, description="'continue', 'cancel' or 'answer'")
    answers: Any = Field(
        default=None, description="One text for each entry of `questions`, with action 'answer'"
    )
    args: Any = Field(
        default=None, description="An object, with 'continue': make the one tool call with these arguments"
    )
    respond: Any = Field(
        default=None,
        description="A text, with 'continue': do not make the one tool call, and let this be its result",
    )
    message: Any = Field(default=None, description="A text, with 'cancel': the reason, for the agent")
    interrupt_id: Annotated[Any, WithJsonSchema(_SHOWN)] = Field(
        default=None,
        description="What the person was shown: the `interrupt_id` of the interrupt, or a list of those in "
        "its `data` to decide on these alone. Where something else waits now, nothing is decided",
    )


class Session(BaseModel):
    thread_id: str
    title: str | None
    created_at: str = Field(description="ISO, UTC, without a zone")
    message_count: int
    status: Literal["idle", "interrupted"]


class Sessions(BaseModel):
    threads: list[Session]
    total: int


class InterruptInfo(BaseModel):
    task_name: str
    interrupts: list[dict[str, Any]] = Field(description="The data of the interrupt event")


class ThreadStatus(BaseModel):
    thread_id: str
    status: Literal["idle", "interrupted"]
    has_pending_tasks: bool
    interrupt_info: InterruptInfo | None
    message_count: int
    running: bool


class Said(BaseModel):
    role: Role
    content: str


class History(BaseModel):
    thread_id: str
    messages: list[Said]


class Stopped(BaseModel):
    stopped: bool


class Refusal(BaseModel):
    detail: str


class PendingRefusal(Refusal):
    interrupt: dict[str, Any] | None = Field(default=None, description="What waits for an answer")
    decision: dict[str, Any] | None = Field(default=None, description="What somebody else has decided")


def session(item: Conversation) -> Session:
    return Session(
        thread_id=item.id,
        title=None if item.title is None else short(item.title),
        created_at=time_of(item.created_at),
        message_count=item.message_count,
        status="interrupted" if item.interrupted else "idle",
    )


def status(found: Status) -> ThreadStatus:
    return ThreadStatus(
        thread_id=found.conversation.id,
        status="interrupted" if found.interrupted else "idle",
        has_pending_tasks=found.interrupted,
        interrupt_info=_info(found.pending) if found.pending else None,
        message_count=found.message_count,
        running=found.running,
    )


def history(thread_id: str, lines: list[Line]) -> dict[str, Any]:
    """A `History`, as plain data."""
    return {"thread_id": thread_id, "messages": said(lines)}


def said(lines: list[Line]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in lines]


def time_of(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC).replace(tzinfo=None)
    return moment.isoformat(timespec="seconds")


def _info(items: tuple[Interrupt, ...]) -> InterruptInfo:
    data = interrupt_data(items)
    return InterruptInfo(task_name=data["taskName"], interrupts=[data])
