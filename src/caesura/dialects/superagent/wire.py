"""The JSON that this API takes and gives."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from caesura.core.errors import BadInput
from caesura.core.interrupt_state import Session
from caesura.service.agents import Agent

#: The most characters of a session's id.
LONGEST_SESSION = 200
#: Categories of characters that a session's id may not have: control characters, and line and paragraph
#: separators. Half of a surrogate pair is no text.
_UNFIT = frozenset(("Cc", "Cs", "Zl", "Zp"))

_AGENT_ID = "The name of the agent"
_SESSION_ID = "Chosen by the client: together with the person and the agent it names a conversation"
Text = Annotated[Any, WithJsonSchema({"type": "string"})]
SessionText = Annotated[
    Any, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_SESSION, "pattern": r"\S"})
]


class InSession(BaseModel):
    """The members are checked by hand: the errors' texts are part of the API."""

    model_config = ConfigDict(json_schema_extra={"required": ["agent_id", "session_id"]})

    agent_id: Text = Field(default=None, description=_AGENT_ID)
    session_id: SessionText = Field(default=None, description=_SESSION_ID)


class Chat(InSession):
    model_config = ConfigDict(json_schema_extra={"required": ["agent_id", "session_id", "message"]})

    message: Text = Field(default=None, description="What the person says")
    supersede: bool = Field(
        default=False, strict=True, description="Refuse what waits for an answer, and go on"
    )
    on_disconnect: Literal["stop", "continue"] | None = Field(
        default=None,
        description="What becomes of the run when the client leaves; else the server's setting",
    )


class Resume(InSession):
    model_config = ConfigDict(json_schema_extra={"required": ["agent_id", "session_id", "input"]})

    input: Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": True})] = Field(
        default=None, description="A value for each field of the interrupt, by its name"
    )
    checkpoint_id: Annotated[str, Field(strict=True)] | None = Field(
        default=None,
        description="What the person was shown. If something else waits now, nothing is decided",
    )


class InputField(BaseModel):
    name: str
    type: Literal["text", "confirm", "select"]
    label: str
    required: bool
    options: list[str] | None = Field(default=None, description="Of a `select`; of a `text`: suggestions")
    labels: list[str] | None = Field(
        default=None, description="Texts for the options, if they have others than their values"
    )


class ToolCall(BaseModel):
    id: str | None
    name: str
    arguments: dict[str, Any]


class InterruptState(BaseModel):
    session_id: str
    agent_name: str
    reason: str
    fields: list[InputField]
    timestamp: int = Field(description="Seconds since 1970")
    checkpoint_id: str
    tool_calls: list[ToolCall] | None = Field(
        default=None, description="The tool calls that wait for an approval"
    )


class Waiting(BaseModel):
    interrupted: bool
    state: InterruptState | None = Field(default=None, description="If `interrupted`")


class Aborted(BaseModel):
    aborted: bool


class InterruptSupport(BaseModel):
    """Whether the agent stops when it asks for a confirmation in words, and for how long it waits."""

    enabled: bool
    timeout_seconds: int


class AgentInfo(BaseModel):
    id: str = Field(description="The `agent_id` of a request")
    name: str
    description: str
    version: str = Field(description="`metadata.version` of the agent's file, or a hash if there is none")
    type: Literal["chat_model_agent", "langgraph"]
    interrupt: InterruptSupport


class AgentList(BaseModel):
    agents: list[AgentInfo]


class ErrorBody(BaseModel):
    error: str


class PendingError(ErrorBody):
    state: InterruptState | None = Field(default=None, description="What waits for an answer")
    decision: dict[str, Any] | None = Field(default=None, description="What somebody else has decided")


def agent(found: Agent) -> AgentInfo:
    spec = found.spec.interrupt
    return AgentInfo(
        id=found.name,
        name=found.name,
        description=found.description,
        version=found.metadata.version or found.version,
        type=found.spec.type,
        interrupt=InterruptSupport(enabled=spec.enabled, timeout_seconds=spec.timeout_seconds),
    )


def session(agent_id: Any, session_id: Any) -> Session:
    """The session that a request names."""
    agent_id = required(agent_id, "agent_id")
    session_id = required(session_id, "session_id")
    if len(session_id) > LONGEST_SESSION:
        raise BadInput(f"session_id must not be longer than {LONGEST_SESSION} characters")
    if any(unicodedata.category(character) in _UNFIT for character in session_id):
        raise BadInput("session_id must have no control characters and no line breaks")
    return Session(agent_id, session_id)


def required(value: Any, name: str) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        raise BadInput(f"{name} is required")
    if not isinstance(value, str):
        raise BadInput(f"{name} must be a text")
    return value


def filled_in(value: Any) -> dict[str, Any]:
    if value is None:
        raise BadInput("input is required")
    if not isinstance(value, dict):
        raise BadInput("input must be an object")
    return value
