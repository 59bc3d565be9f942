"""The values of an agent's YAML: every field that an operator may write."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationInfo,
    field_validator,
)

from caesura.core import interrupts
from caesura.core.language import Language

Permission = Literal["auto", "confirm", "deny"]


def _unquoted(value: Any) -> Any:
    """`version: 1.0` without quotes is a number to YAML, but a text is meant."""
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


NAME = r"^[a-z0-9][a-z0-9_-]*$"
TARGET = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"

Name = Annotated[str, StringConstraints(pattern=NAME, max_length=100)]
Target = Annotated[str, StringConstraints(pattern=TARGET, max_length=300)]
Version = Annotated[str, BeforeValidator(_unquoted), StringConstraints(max_length=100)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=300, strip_whitespace=True)]


def _form(value: Any) -> str:
    return "dict[str, bool]" if isinstance(value, dict) else "list[str]"


#: Which tools need approval: a list of names, or true or false for each tool.
InterruptOn = Annotated[
    Annotated[list[str], Tag("list[str]")] | Annotated[dict[str, bool], Tag("dict[str, bool]")],
    Discriminator(_form),
]

_CONFIRM_LABEL: dict[Language, str] = {"en": "Confirm", "zh": "确认"}


class _Part(BaseModel):
    # Write validators for single fields, not for the whole model: they then run even if another field is
    # wrong.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Metadata(_Part):
    name: Name
    version: Version | None = None
    description: str = ""
    labels: dict[str, str] = Field(default_factory=dict)


class Model(_Part):
    """Which chat model replies. `default` is the server's; `class` names an operator's own."""

    primary: Words = "default"
    fallbacks: list[Words] = Field(default_factory=list, max_length=10)
    temperature: float | None = Field(default=None, ge=0, le=2)
    base_url: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")] | None = None
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    class_: Target | None = Field(default=None, alias="class")
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("class_")
    @classmethod
    def _one_source(cls, given: str | None, info: ValidationInfo) -> str | None:
        if given is not None and info.data.get("primary", "default") != "default":
            raise ValueError("give either primary or class, not both")
        return given


class SubAgent(_Part):
    ref: Name
    description: str = ""


class FormField(_Part):
    """One input of the confirmation's form."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=100)]
    type: interrupts.FieldType = "text"
    label: str = ""
    required: bool = False
    options: list[Words] = Field(default_factory=list, max_length=100, validate_default=True)

    @field_validator("options")
    @classmethod
    def _options_fit(cls, options: list[str], info: ValidationInfo) -> list[str]:
        kind = info.data.get("type")
        if kind == "select" and not options:
            raise ValueError("a select field needs options")
        if kind not in ("select", None) and options:
            raise ValueError("options belong to a select field")
        if len(set(options)) != len(options):
            raise ValueError("options must differ from one another")
        return options

    def field(self) -> interrupts.Field:
        label = self.label or self.name
        return interrupts.Field(self.name, self.type, label, self.required, tuple(self.options))


class Interrupt(_Part):
    """Stopping for a confirmation that the agent asks for in words."""

    enabled: bool = False
    checkpoint_backend: Literal["memory", "redis"] = "memory"
    timeout_seconds: int = Field(default=300, ge=1, le=30 * 86_400)
    phrases: list[Words] = Field(default_factory=list, max_length=200)
    fields: list[FormField] = Field(default_factory=list, max_length=50)

    @field_validator("fields")
    @classmethod
    def _names_differ(cls, fields: list[FormField]) -> list[FormField]:
        if len({field.name for field in fields}) != len(fields):
            raise ValueError("field names must differ from one another")
        return fields

    def form(self, language: Language) -> tuple[interrupts.Field, ...]:
        """What the person fills in: the operator's fields, or one required confirm."""
        if self.fields:
            return tuple(field.field() for field in self.fields)
        return (interrupts.Field("confirm", "confirm", _CONFIRM_LABEL[language], required=True),)


class Approvals(_Part):
    """Questions that are not confirmations: approvals of tool calls, and what `ask_user` asks."""

    timeout_seconds: int | None = Field(default=None, ge=1, le=365 * 86_400)


class Limits(_Part):
    """Bounds of one turn; `max_seconds` left out means the server's own bound."""

    max_steps: int = Field(default=50, ge=1, le=10_000)
    max_seconds: float | None = Field(default=None, gt=0, le=86_400)


class Memory(_Part):
    backend: Literal["builtin"] = "builtin"


class Spec(_Part):
    type: Literal["chat_model_agent", "langgraph"] = "chat_model_agent"
    graph: Target | None = Field(default=None, validate_default=True)
    description: str = ""
    model: Model = Field(default_factory=Model)
    system_prompt: str = Field(default="", max_length=200_000)
    tools: list[str] | None = Field(default=None, max_length=200)
    permissions: dict[str, Permission] = Field(default_factory=dict)
    interrupt_on: InterruptOn = Field(default_factory=list)
    sub_agents: list[SubAgent] = Field(default_factory=list, max_length=50)
    interrupt: Interrupt = Field(default_factory=Interrupt)
    approvals: Approvals = Field(default_factory=Approvals)
    limits: Limits = Field(default_factory=Limits)
    memory: Memory = Field(default_factory=Memory)

    @field_validator("graph")
    @classmethod
    def _graph_fits(cls, graph: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("type")
        if kind == "langgraph" and graph is None:
            raise ValueError("type langgraph needs graph, as module:attribute")
        if kind not in ("langgraph", None) and graph is not None:
            raise ValueError("graph needs type: langgraph")
        return graph

    def permission(self, tool: str, default: Permission = "auto") -> Permission:
        """What the operator says about a tool; `default` is what the tool itself says."""
        if tool in self.permissions:
            return self.permissions[tool]
        if tool in self.interrupt_on:
            needed = self.interrupt_on[tool] if isinstance(self.interrupt_on, dict) else True
            return "confirm" if needed else "auto"
        return default


class AgentFile(_Part):
    """One YAML file."""

    api_version: Literal["superagent/v1", "caesura/v1"] = Field(alias="apiVersion")
    kind: Literal["Agent"]
    metadata: Metadata
    spec: Spec = Field(default_factory=Spec)
