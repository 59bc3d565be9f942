"""Interrupts: what stops a turn until a person decides. There is one class for each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from dataclasses import fields as fields_of
from typing import Any, ClassVar, Literal, get_args

from caesura.core import language

Kind = Literal["approval", "questions", "confirmation", "graph"]
Decision = Literal["approve", "edit", "reject", "respond", "answers", "fields", "value"]
FieldType = Literal["text", "confirm", "select"]
Status = Literal["pending", "answered", "expired", "superseded", "cancelled"]
_CLOSED_BY: dict[str, Status] = {"superseded": "superseded", "timeout": "expired"}


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    value: str
    allow_custom: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    question: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One input of a confirmation's form."""

    name: str
    type: FieldType = "text"
    label: str = ""
    required: bool = False
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """What a file held when a person was asked whether it may be written. `content` is None for a file that
    is not a text or is long. `sha256` is that of the whole content. A file that is too long for that has a
    `mark` instead, which changes when it is written."""

    path: str
    exists: bool = False
    content: str | None = None
    size: int = 0
    sha256: str | None = None
    mark: str = ""

    def same(self, other: File) -> bool:
        """Whether both are the same file with the same content."""
        return self._identity() == other._identity()

    def _identity(self) -> tuple[object, ...]:
        return self.path, self.exists, self.size, self.sha256, self.mark


@dataclass(frozen=True, slots=True)
class _Base:
    """The members of every kind. Each kind also has `decisions`: those that it allows.

    `tool_call_id` is None if no tool call asks. `label` and `description` are for people, in the language of
    the conversation: the kind of action (`执行命令`) and the exact action (`正在执行命令: npm install`),
    escaped so that nothing misleads. `agent` is who asks. `parent` is the tool call under which a sub-agent
    asks, or None if the agent of the turn asks.
    """

    kind: ClassVar[Kind]

    id: str
    _: KW_ONLY
    tool_call_id: str | None = None
    label: str = ""
    description: str = ""
    agent: str = ""
    expires_at: int | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(_Base):
    """A tool call that a person must approve. If `unknown` is true, the call began before a crash and nobody
    knows whether it took effect: approving runs it (again), rejecting does not. `file` is what the call would
    replace. If `changed` is true, the call was approved, but the file had changed since it was shown. An
    operator's own graph may allow fewer `decisions`, and may say with `args_schema` what fits as edited
    arguments. `note` is what the operator says about the call; `description` has it too. `permit` is what
    always allowing it permits, as a text; nothing if it is empty."""

    kind = "approval"

    decisions: tuple[Decision, ...] = ("approve", "edit", "reject", "respond")
    name: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    unknown: bool = False
    file: File | None = None
    changed: bool = False
    args_schema: dict[str, Any] | None = None
    note: str = ""
    permit: str = ""

    @property
    def wants_words(self) -> bool:
        """Whether the call is not to be made as it is: the person answers in its place."""
        return "approve" not in self.decisions and "respond" in self.decisions


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions(_Base):
    """The form of `ask_user`, with the name and the arguments of its call. Another tool that asks questions
    may leave these two out. An operator's own graph may ask with `interrupt(args)`, which has no name and no
    call, and may not allow a refusal of a call that it wants reviewed."""

    kind = "questions"

    decisions: tuple[Decision, ...] = ("answers", "reject")
    name: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation(_Base):
    """A form. `reason` is the sentence in which the agent asked for a confirmation, if it did so in its
    text, and `context` the end of that text: what is to be confirmed."""

    kind = "confirmation"
    decisions: ClassVar[tuple[Decision, ...]] = ("fields", "reject")

    reason: str = ""
    context: str = ""
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest(_Base):
    """An operator's own graph has called LangGraph's `interrupt(value)`."""

    kind = "graph"
    decisions: ClassVar[tuple[Decision, ...]] = ("value", "reject")

    value: Any = None


Interrupt = Approval | Questions | Confirmation | GraphRequest

_CLASSES: dict[str, type[Interrupt]] = {kind.kind: kind for kind in get_args(Interrupt)}
_DEFAULTS: dict[Kind, Interrupt] = {kind.kind: kind("") for kind in get_args(Interrupt)}
_PLAIN = (
    *("tool_call_id", "name", "args", "label", "description", "unknown", "reason", "value", "agent"),
    *("expires_at", "parent", "changed", "context", "args_schema", "note", "permit"),
)
#: The members of all kinds together.
MEMBERS = frozenset(("id", "kind", *_PLAIN, "questions", "fields", "file", "decisions"))
_DECISIONS: tuple[Decision, ...] = get_args(Decision)
_OWN = {kind: frozenset(item.name for item in fields_of(kind)) for kind in get_args(Interrupt)}


def to_dict(item: Interrupt) -> dict[str, Any]:
    """Plain data, without the members that this interrupt leaves at their defaults."""
    data: dict[str, Any] = {"id": item.id, "kind": item.kind}
    defaults = _DEFAULTS[item.kind]
    for name in _PLAIN:
        if (value := getattr(item, name, None)) != getattr(defaults, name, None):
            data[name] = value
    if isinstance(item, Questions) and item.questions:
        data["questions"] = [question_dict(question) for question in item.questions]
    if isinstance(item, Approval) and item.file is not None:
        data["file"] = file_dict(item.file)
    if item.decisions != defaults.decisions:
        data["decisions"] = list(item.decisions)
    if isinstance(item, Confirmation) and item.fields:
        data["fields"] = [field_dict(form_field) for form_field in item.fields]
    return data


def from_dict(data: Mapping[str, Any]) -> Interrupt:
    """The interrupt of this data. Other versions may have written members that the kind does not have: those
    are left out."""
    kind = _CLASSES.get(data["kind"])
    if kind is None:
        raise ValueError(f"unknown kind of interrupt: {data['kind']}")
    members: dict[str, Any] = {
        **data,
        "questions": tuple(question_from(item) for item in data.get("questions", ())),
        "fields": tuple(field_from(item) for item in data.get("fields", ())),
        "file": file_from(data.get("file")),
    }
    if "decisions" in data:
        members["decisions"] = tuple(name for name in data["decisions"] if name in _DECISIONS)
    return kind(**{name: value for name, value in members.items() if name in _OWN[kind]})


def question_dict(question: Question) -> dict[str, Any]:
    return {"question": question.question, "options": [_option_dict(option) for option in question.options]}


def question_from(data: Mapping[str, Any]) -> Question:
    return Question(data["question"], tuple(Option(**option) for option in data.get("options", ())))


def file_dict(file: File) -> dict[str, Any]:
    data = {item.name: getattr(file, item.name) for item in fields_of(File)}
    if not file.mark:
        del data["mark"]
    return data


def file_from(data: Mapping[str, Any] | None) -> File | None:
    if data is None:
        return None
    return File(**{item.name: data[item.name] for item in fields_of(File) if item.name in data})


def field_dict(item: Field) -> dict[str, Any]:
    data = {"name": item.name, "type": item.type, "label": item.label, "required": item.required}
    return data | {"options": list(item.options)} if item.options else data


def field_from(data: Mapping[str, Any]) -> Field:
    return Field(**{**data, "options": tuple(data.get("options", ()))})


def _option_dict(option: Option) -> dict[str, Any]:
    data: dict[str, Any] = {"label": option.label, "value": option.value}
    return data | {"allow_custom": True} if option.allow_custom else data


def not_taken(items: Sequence[Interrupt]) -> str:
    """What a person reads who sends a message while these wait."""
    if language.of("".join(item.label + item.description for item in items)) == "zh":
        return "消息未被接收：请先回答上面的问题。"
    return "The message was not taken: answer the question first."


def closed_by(reason: str) -> Status:
    """The status of a pending interrupt when its turn is stopped for this reason."""
    return _CLOSED_BY.get(reason, "cancelled")
