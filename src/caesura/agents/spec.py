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
    WithJsonSchema,
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
Version = Annotated[
    str,
    BeforeValidator(_unquoted),
    StringConstraints(max_length=100),
    WithJsonSchema({"type": ["string", "number"], "maxLength": 100}),
]
Words = Annotated[str, StringConstraints(min_length=1, max_length=300, strip_whitespace=True)]


def _form(value: Any) -> str:
    return "dict[str, bool]" if isinstance(value, dict) else "list[str]"


#: Which tools need approval: a list of names, or true or false for each tool.
InterruptOn = Annotated[
    Annotated[list[str], Tag("list[str]")] | Annotated[dict[str, bool], Tag("dict[str, bool]")],
    Discriminator(_form),
]

_CONFIRM_LABEL: dict[Language, str] = {"en": "Confirm", "zh": "确认"}


_BASE_URL = r"^https?://\S+$"


class _Part(BaseModel):
    # Write validators for single fields, not for the whole model: they then run even if another field is
    # wrong.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Metadata(_Part):
    """What the agent is called."""

    name: Name = Field(description="The name by which people and other agents use the agent")
    version: Version | None = Field(default=None, description="A version, for people")
    description: str = Field(default="", description="What the agent is for, in a sentence")
    labels: dict[str, str] = Field(default_factory=dict, description="Anything that you want to note down")


class Model(_Part):
    """Which chat model replies. `default` is the server's; `class` names an operator's own."""

    primary: Words = Field(
        default="default", description="provider:name, a name such as gpt-4o, demo, or default"
    )
    fallbacks: list[Words] = Field(
        default_factory=list,
        max_length=10,
        description="Models to try, in this order, when the first one fails",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Passed to the provider: 0 for the same words each time"
    )
    base_url: Annotated[str, StringConstraints(pattern=_BASE_URL)] | None = Field(
        default=None, description="The provider's address, if it is not the usual one"
    )
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = Field(
        default=None, description="The environment variable that holds the key"
    )
    class_: Target | None = Field(
        default=None,
        alias="class",
        description="Instead of primary: your own chat model class, package.module:Class",
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Arguments for the model or the class")
    context_tokens: int | None = Field(
        default=None,
        ge=128,
        le=100_000_000,
        description="The size of the model's context window, if it is not known by the model's name",
    )
    context: Literal["trim", "summarise"] = Field(
        default="trim",
        description="What becomes of turns that do not fit: they are left out, or a summary stands for them",
    )
    idle_timeout: float = Field(
        default=60.0, gt=0, le=3600, description="Seconds without a byte after which a provider has failed"
    )

    @field_validator("class_")
    @classmethod
    def _one_source(cls, given: str | None, info: ValidationInfo) -> str | None:
        if given is not None and info.data.get("primary", "default") != "default":
            raise ValueError("give either primary or class, not both")
        return given


class SubAgent(_Part):
    """Another agent that this one can use, as a tool."""

    ref: Name = Field(description="The name of the other agent")
    description: str = Field(default="", description="Tells the model what to use it for")


class FormField(_Part):
    """One input of the confirmation's form."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", max_length=100)] = Field(
        description="The name under which the answer has the value"
    )
    type: interrupts.FieldType = Field(
        default="text", description="A text, a yes or no (confirm), or one of several options (select)"
    )
    label: str = Field(default="", description="What the person reads; the name if left out")
    required: bool = Field(default=False, description="Whether the person must fill it in")
    options: list[Words] = Field(
        default_factory=list,
        max_length=100,
        validate_default=True,
        description="What a select field offers",
    )

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

    enabled: bool = Field(default=False, description="Whether the agent's words are searched")
    checkpoint_backend: Literal["memory", "redis"] = Field(
        default="memory", description="Where confirmations are kept besides the database"
    )
    timeout_seconds: int = Field(
        default=300, ge=1, le=30 * 86_400, description="The confirmation expires after this many seconds"
    )
    phrases: list[Words] = Field(
        default_factory=list,
        max_length=200,
        description="Phrases that ask for a confirmation, besides the built-in ones",
    )
    fields: list[FormField] = Field(
        default_factory=list,
        max_length=50,
        description="The form that the person fills in; one required confirm if left out",
    )

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

    timeout_seconds: int | None = Field(
        default=None,
        ge=1,
        le=365 * 86_400,
        description="They expire after this many seconds; never if left out",
    )


class Limits(_Part):
    """Bounds of one turn; `max_seconds` left out means the server's own bound."""

    max_steps: int = Field(default=50, ge=1, le=10_000, description="The most model calls of one turn")
    max_seconds: float | None = Field(
        default=None, gt=0, le=86_400, description="The seconds that a turn may run"
    )


class Memory(_Part):
    """Where conversations are kept."""

    backend: Literal["builtin"] = Field(default="builtin", description="The server's own database")


#: No two underscores: `server__tool` has to name one tool of one server.
_SERVER = r"^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_HEADER = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"
_ADDRESS = r"^https?://[^\s/]+\S*$"
#: What the patterns of texts mean, for people.
FORMS = {
    NAME: "lower-case letters, digits, _ and -, with a letter or a digit first",
    TARGET: "module:attribute, without .py",
    _SERVER: "letters, digits, - and single _ between them",
    _VARIABLE: "the name of an environment variable: letters, digits and _, no digit first",
    _HEADER: "the name of a header, without spaces and colons",
    _ADDRESS: "an address that begins with http:// or https://",
    _BASE_URL: "an address that begins with http:// or https://",
}
_ToolName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Variable = Annotated[str, StringConstraints(pattern=_VARIABLE, max_length=200)]
_Header = Annotated[str, StringConstraints(pattern=_HEADER, max_length=200)]


class McpServer(_Part):
    """An MCP server whose tools the agent has: a command that is run, or an address."""

    name: Annotated[str, StringConstraints(pattern=_SERVER, max_length=40)] = Field(
        description="The first part of the names of its tools, as in name__tool"
    )
    command: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = Field(
        default=None, description="The program to run; it speaks over its standard input and output"
    )
    args: list[str] = Field(default_factory=list, max_length=200, description="Arguments of the command")
    env: dict[_Variable, str] = Field(
        default_factory=dict,
        max_length=200,
        description="Environment variables of the command, and their values",
    )
    url: Annotated[str, StringConstraints(pattern=_ADDRESS, max_length=4096)] | None = Field(
        default=None, validate_default=True, description="The address of a server with streamable HTTP"
    )
    headers_env: dict[_Header, _Variable] = Field(
        default_factory=dict,
        max_length=50,
        description="Headers for the address, each with the environment variable that holds its whole value",
    )
    tools: list[_ToolName] | None = Field(
        default=None,
        max_length=200,
        description="The names of its tools that the agent may use; all if left out",
    )
    permissions: dict[_ToolName, Permission] = Field(
        default_factory=dict,
        max_length=200,
        description="auto, confirm or deny for its tools, by their own names",
    )
    trust_annotations: bool = Field(
        default=False,
        description="Whether to believe the server which of its tools only read or may be repeated",
    )

    @field_validator("url")
    @classmethod
    def _one_way(cls, url: str | None, info: ValidationInfo) -> str | None:
        command = info.data.get("command", "")
        if url is not None and command:
            raise ValueError("give either command or url, not both")
        if url is None and command is None:
            raise ValueError("an MCP server needs command or url")
        for field in ("args", "env"):
            if url is not None and info.data.get(field):
                raise ValueError(f"{field} belongs to a command, not to a url")
        return url

    @field_validator("headers_env")
    @classmethod
    def _headers_fit(cls, headers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if headers and info.data.get("command"):
            raise ValueError("headers_env belongs to a url, not to a command")
        if len({header.lower() for header in headers}) != len(headers):
            raise ValueError("headers must differ from one another")
        return headers


class Spec(_Part):
    """What the agent is made of."""

    type: Literal["chat_model_agent", "langgraph"] = Field(
        default="chat_model_agent", description="A model with tools, or a LangGraph graph of your own"
    )
    graph: Target | None = Field(
        default=None,
        validate_default=True,
        description="With type langgraph: module:attribute, a compiled graph or a function that makes one",
    )
    description: str = Field(default="", description="For people, and for agents that use this one")
    model: Model = Field(default_factory=Model, description="Which chat model replies")
    system_prompt: str = Field(
        default="", max_length=200_000, description="The system message of every model call"
    )
    tools: list[str] | None = Field(
        default=None, max_length=200, description="Names of tools; the usual ones if left out"
    )
    permissions: dict[str, Permission] = Field(
        default_factory=dict, description="auto, confirm or deny for a tool or a sub-agent"
    )
    interrupt_on: InterruptOn = Field(
        default_factory=list, description="Another way to say confirm: tools, or a mapping to true or false"
    )
    sub_agents: list[SubAgent] = Field(
        default_factory=list, max_length=50, description="Agents that this one can use"
    )
    mcp_servers: list[McpServer] = Field(
        default_factory=list, max_length=20, description="MCP servers whose tools the agent has besides"
    )
    interrupt: Interrupt = Field(
        default_factory=Interrupt, description="Confirmations that the agent asks for in words"
    )
    approvals: Approvals = Field(
        default_factory=Approvals, description="How long approvals and questions wait"
    )
    limits: Limits = Field(default_factory=Limits, description="Bounds of one turn")
    memory: Memory = Field(default_factory=Memory, description="Where conversations are kept")

    @field_validator("graph")
    @classmethod
    def _graph_fits(cls, graph: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("type")
        if kind == "langgraph" and graph is None:
            raise ValueError("type langgraph needs graph, as module:attribute")
        if kind not in ("langgraph", None) and graph is not None:
            raise ValueError("graph needs type: langgraph")
        return graph

    @field_validator("mcp_servers")
    @classmethod
    def _servers_fit(cls, servers: list[McpServer]) -> list[McpServer]:
        if len({server.name for server in servers}) != len(servers):
            raise ValueError("the names of MCP servers must differ from one another")
        return servers

    def permission(self, tool: str, default: Permission = "auto") -> Permission:
        """What the operator says about a tool; `default` is what the tool itself says."""
        if tool in self.permissions:
            return self.permissions[tool]
        if tool in self.interrupt_on:
            needed = self.interrupt_on[tool] if isinstance(self.interrupt_on, dict) else True
            return "confirm" if needed else "auto"
        return default


class AgentFile(_Part):
    """An agent of Caesura, as one YAML file."""

    api_version: Literal["superagent/v1", "caesura/v1"] = Field(
        alias="apiVersion", description="The form of this file: both names mean the same"
    )
    kind: Literal["Agent"] = Field(description="What this file describes")
    metadata: Metadata = Field(description="What the agent is called")
    spec: Spec = Field(default_factory=Spec, description="What the agent is made of")
