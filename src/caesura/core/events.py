"""What can happen in a turn: a small closed set of facts. Everything a reader sees is folded from these.

A segment is what runs between a start or a resume and the next end. In the log of a turn every segment is
`RunStarted … (Interrupted | Finished | Failed | Stopped) … SegmentEnded`; between the outcome and
`SegmentEnded` only a `TitleChanged` may come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from caesura.core.interrupts import Interrupt

Cause = Literal["start", "resume", "adopt", "retry", "close"]
StopReason = Literal["user", "disconnect", "superseded", "timeout"]
ToolStatus = Literal["ok", "error", "refused", "answered", "not_done", "unknown"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A segment begins, or (cause `adopt`) another owner, or the same one, continues it after a crash or a
    failure of the database. With the cause `close` nothing runs: the pending interrupts are closed, because
    they expired or somebody stopped the turn. All events that follow are written under `epoch`. `version`
    names what the agent's file said, and is empty if there is no such agent. It has `changed` if the file
    says something else now than when the turn began."""

    agent: str
    segment: int
    cause: Cause = "start"
    epoch: int = 0
    version: str = ""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class ModelStarted:
    """A model call begins to produce output. `call` numbers the calls of a turn. `parent` is the tool call of
    a sub-agent. `ref` is the message's name inside a user's own graph, `tasks:id`. `context_from` is the
    first turn of the conversation that the model is shown, if it is not shown all of them."""

    call: int
    agent: str
    model: str = ""
    parent: str | None = None
    ref: str = ""
    context_from: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    call: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    call: int
    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of the arguments of a tool call that the model is writing, as JSON text. `index` counts the
    tool calls of the reply from 0. The first piece of a tool call has the `name` of the tool. Nothing runs
    with this text: `ModelFinished` has the whole arguments."""

    call: int
    index: int
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class TextVoided:
    """All output of this call is void, even if the call had finished. The call is repeated under another
    number."""

    call: int


@dataclass(frozen=True, slots=True)
class ModelFinished:
    """`kept` are blocks that the provider wants back with this reply as long as the turn lasts. No client is
    shown them. `thought_ms` is how long the model thought before its first word, if it showed its reasoning
    and that is known."""

    call: int
    tool_calls: tuple[dict[str, Any], ...] = ()
    usage: dict[str, int] | None = None
    finish_reason: str | None = None
    kept: tuple[dict[str, Any], ...] = ()
    thought_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ToolStarted:
    id: str
    name: str
    args: dict[str, Any]
    agent: str
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """What a tool call does now, on one line for people. It replaces what the call told before."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    id: str
    name: str
    output: str
    status: ToolStatus = "ok"
    agent: str = ""
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class GraphWrote:
    """An operator's own graph has written this with LangGraph's stream writer. `tasks` are the ids of the
    graph's tasks that ran then, with commas between, if there were few: one of them wrote it."""

    value: Any
    agent: str = ""
    parent: str | None = None
    tasks: str = ""

    @property
    def kind(self) -> str:
        """The `type` of a value in the form of an event of API B, such as `start` or `llm_chunk`."""
        return _text(self.value, "type")

    @property
    def author(self) -> str:
        return _text(self.value, "agent") or self.agent

    @property
    def words(self) -> str:
        return _text(self.value.get("data"), "content") if self.kind == "llm_chunk" else ""


@dataclass(frozen=True, slots=True)
class TitleChanged:
    title: str


@dataclass(frozen=True, slots=True)
class ArtifactChanged:
    id: str
    version: int
    update_type: str
    agent: str = ""
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The turn waits for a person. Lists all pending interrupts, including those of earlier segments."""

    interrupts: tuple[Interrupt, ...]


@dataclass(frozen=True, slots=True)
class InterruptClosed:
    """An interrupt is no longer pending. `message` is passed to the agent as a user message, if present."""

    id: str
    outcome: Literal["answered", "expired", "superseded", "cancelled"]
    answer: dict[str, Any] = field(default_factory=dict)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The agent has finished its reply."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn ended in an error; `error_id` is also in the server's log."""

    message: str
    code: str = "internal"
    error_id: str | None = None
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    reason: StopReason


@dataclass(frozen=True, slots=True)
class SegmentEnded:
    """Always the last event of a segment, exactly once."""


Event = (
    RunStarted
    | ModelStarted
    | TextDelta
    | ReasoningDelta
    | CallDelta
    | TextVoided
    | ModelFinished
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | GraphWrote
    | TitleChanged
    | ArtifactChanged
    | Interrupted
    | InterruptClosed
    | Finished
    | Failed
    | Stopped
    | SegmentEnded
)


#: Members of events that no client is shown.
HIDDEN = frozenset(("kept", "tasks"))


class Envelope(NamedTuple):
    """One event in its place: `seq` counts from 1 in each turn, without gaps; `at` is in milliseconds."""

    seq: int
    at: int
    event: Event


def _text(value: Any, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
