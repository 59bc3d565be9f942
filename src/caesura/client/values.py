"""The server's responses as values. Members added by a newer server are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from caesura.core import answers, interrupts
from caesura.core.answers import Answer
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Message

T = TypeVar("T")
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    description: str
    version: str
    type: str
    sub_agents: list[str]
    is_default: bool
    metadata_version: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """A person and what they have used, as an admin sees it."""

    id: str
    role: Literal["member", "admin"]
    disabled: bool
    subject: str | None
    created_at: int
    active_at: int | None
    conversations: int
    turns: int
    input_tokens: int
    output_tokens: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    title: str | None
    agent: str
    status: Literal["idle", "running", "interrupted"]
    active_turn: str | None
    message_count: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    conversation_id: str
    parent_id: str | None
    ordinal: int
    agent: str
    status: Literal["queued", "running", "waiting", "done", "failed", "stopped"]
    segment: int
    content: str
    on_disconnect: Literal["stop", "continue"]
    created_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True)
class RunningTool:
    """`progress` is what it does now, if it tells."""

    id: str
    name: str
    args: dict[str, Any]
    agent: str
    parent: str | None
    progress: str | None = None


@dataclass(frozen=True, slots=True)
class WritingTool:
    """A tool call that the model is writing in the model call `call`: its arguments so far, as JSON text."""

    call: int
    index: int
    name: str
    text: str
    agent: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class SeenTurn:
    """A turn with its messages up to the event `cursor`, inclusive. `calls` has, for each message, the model
    call whose later text belongs to it."""

    turn: Turn
    messages: tuple[Message, ...]
    calls: tuple[int | None, ...]
    interrupts: tuple[Interrupt, ...]
    running_tools: tuple[RunningTool, ...]
    cursor: int
    writing_tools: tuple[WritingTool, ...] = ()
    #: The version that it made last of each artifact that it changed.
    artifacts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tree:
    """A conversation with all its turns, on all branches."""

    conversation: Conversation
    turns: tuple[SeenTurn, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The current active branch. Later changes are in the events of `turn` after `cursor`."""

    conversation: Conversation
    turns: tuple[SeenTurn, ...]
    turn: str | None
    cursor: int
    #: The first turn that the model sees; None if it sees all.
    context_from: str | None = None


@dataclass(frozen=True, slots=True)
class StoredInterrupt:
    """An interrupt with its status, its turn and its conversation, and with its answer once there is one."""

    interrupt: Interrupt
    turn_id: str
    conversation_id: str
    status: str
    answer: Answer | None
    created_at: int


@dataclass(frozen=True, slots=True)
class Grant:
    """A tool that is always allowed to an agent, and the turn in which a person allowed it."""

    tool: str
    turn_id: str
    granted_at: int
    agent: str = ""


def pick(kind: type[T], data: Data, **given: Any) -> T:
    """A value made from the members that its class knows."""
    names: Mapping[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: data[name] for name in names if name in data} | given)


def interrupt(data: Data) -> Interrupt:
    known = {name: data[name] for name in interrupts.MEMBERS if name in data}
    return interrupts.from_dict(known)


def message(data: Data) -> Message:
    return pick(Message, data, tool_calls=tuple(data.get("tool_calls", ())))


def seen_turn(data: Data) -> SeenTurn:
    return SeenTurn(
        pick(Turn, data),
        tuple(message(item) for item in data["messages"]),
        tuple(item.get("call") for item in data["messages"]),
        tuple(interrupt(item) for item in data["interrupts"]),
        tuple(pick(RunningTool, item) for item in data["running_tools"]),
        data["cursor"],
        tuple(pick(WritingTool, item) for item in data.get("writing_tools", ())),
        {item["id"]: item["version"] for item in data.get("artifacts", ())},
    )


def tree(data: Data) -> Tree:
    return Tree(pick(Conversation, data), tuple(seen_turn(item) for item in data["turns"]))


def snapshot(data: Data) -> Snapshot:
    turns = tuple(seen_turn(item) for item in data["turns"])
    conversation = pick(Conversation, data["conversation"])
    return Snapshot(conversation, turns, data["turn"], data["cursor"], data.get("context_from"))


def stored_interrupt(data: Data) -> StoredInterrupt:
    answer = answers.from_dict(data["answer"]) if data["answer"] else None
    return pick(StoredInterrupt, data, interrupt=interrupt(data), answer=answer)
