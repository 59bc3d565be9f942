"""Interrupts: a question to a person that stops a turn, and the full check of an answer to it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from caesura.core import json_data
from caesura.core.errors import BadAnswer

Kind = Literal["approval", "questions", "confirmation", "graph"]
Decision = Literal["approve", "edit", "reject", "respond", "answers", "fields", "value"]
FieldType = Literal["text", "confirm", "select"]
Status = Literal["pending", "answered", "expired", "superseded", "cancelled"]

#: The allowed decisions, for each kind of interrupt.
DECISIONS: dict[Kind, tuple[Decision, ...]] = {
    "approval": ("approve", "edit", "reject", "respond"),
    "questions": ("answers", "reject"),
    "confirmation": ("fields", "reject"),
    "graph": ("value", "reject"),
}
ANSWER_LIMIT = 64 * 1024
_CLOSED_BY: dict[str, Status] = {"superseded": "superseded", "timeout": "expired"}
_PLAIN = (
    *("tool_call_id", "name", "args", "label", "description", "unknown", "reason", "value", "agent"),
    "expires_at",
)


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
class Interrupt:
    """A question that waits for a person.

    `approval` carries a tool call. If `unknown` is true, the call began before a crash and nobody knows
    whether it took effect: approving runs it (again), rejecting does not.
    `graph` carries what a user's own graph asked, in `value`.
    `label` and `description` are for people, in the language of the conversation: the kind of action
    (`执行命令`) and the exact action (`正在执行命令: npm install`), escaped so that nothing misleads.
    """

    id: str
    kind: Kind
    tool_call_id: str | None = None
    name: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    description: str = ""
    unknown: bool = False
    questions: tuple[Question, ...] = ()
    reason: str = ""
    fields: tuple[Field, ...] = ()
    value: Any = None
    agent: str = ""
    expires_at: int | None = None


_DEFAULTS = Interrupt("", "graph")


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's decision. Which of the other members is used depends on `decision`."""

    decision: Decision
    args: dict[str, Any] | None = None
    message: str = ""
    answers: tuple[str, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict)
    value: Any = None
    always_allow: bool = False

    @property
    def refuses(self) -> bool:
        """Whether the person said no: by a rejection, or by a confirmation whose confirm field is false."""
        return self.decision == "reject" or (
            self.decision == "fields" and any(value is False for value in self.fields.values())
        )

    @property
    def grants(self) -> bool:
        """Whether the person allows this call and every later call of this tool."""
        return self.always_allow and self.decision in ("approve", "edit")


_NO_ANSWER = Answer("reject")


@dataclass(frozen=True, slots=True)
class Asked:
    """An interrupt and its status. `graph_id` is its name inside the graph that asked."""

    interrupt: Interrupt
    turn: int
    graph_id: str
    status: Status
    answer: Answer | None
    created_at: int
    turn_id: str = ""
    conversation_id: str = ""


def to_dict(item: Interrupt) -> dict[str, Any]:
    """Plain data, without the members that this interrupt leaves at their defaults."""
    data: dict[str, Any] = {"id": item.id, "kind": item.kind}
    for name in _PLAIN:
        if (value := getattr(item, name)) != getattr(_DEFAULTS, name):
            data[name] = value
    if item.questions:
        data["questions"] = [question_dict(question) for question in item.questions]
    if item.fields:
        data["fields"] = [field_dict(form_field) for form_field in item.fields]
    return data


def question_dict(question: Question) -> dict[str, Any]:
    return {"question": question.question, "options": [_option_dict(option) for option in question.options]}


def field_dict(item: Field) -> dict[str, Any]:
    data = {"name": item.name, "type": item.type, "label": item.label, "required": item.required}
    return data | {"options": list(item.options)} if item.options else data


def from_dict(data: Mapping[str, Any]) -> Interrupt:
    rest = {key: value for key, value in data.items() if key not in ("questions", "fields")}
    return Interrupt(
        **rest,
        questions=tuple(question_from(item) for item in data.get("questions", ())),
        fields=tuple(field_from(item) for item in data.get("fields", ())),
    )


def question_from(data: Mapping[str, Any]) -> Question:
    return Question(data["question"], tuple(Option(**option) for option in data.get("options", ())))


def field_from(data: Mapping[str, Any]) -> Field:
    return Field(**{**data, "options": tuple(data.get("options", ()))})


def answer_dict(answer: Answer) -> dict[str, Any]:
    data: dict[str, Any] = {"decision": answer.decision}
    for name in ("args", "message", "fields", "value", "always_allow"):
        if (value := getattr(answer, name)) != getattr(_NO_ANSWER, name):
            data[name] = value
    if answer.answers:
        data["answers"] = list(answer.answers)
    if answer.decision == "value":
        data["value"] = answer.value
    return data


def answer_from(data: Mapping[str, Any]) -> Answer:
    return Answer(**{**data, "answers": tuple(data.get("answers", ()))})


def closed_by(reason: str) -> Status:
    """The status of a pending question when its turn is stopped for this reason."""
    return _CLOSED_BY.get(reason, "cancelled")


def check(item: Interrupt, answer: Answer) -> Answer:
    """The answer as it will be stored, or `BadAnswer` naming what is wrong. Changes nothing."""
    if answer.decision not in DECISIONS[item.kind]:
        raise BadAnswer(_wrong_decision(item, answer))
    _check_length(answer.message, "message")
    for name in ("args", "fields", "value"):
        _check_shape(getattr(answer, name), name)
    match answer.decision:
        case "approve" | "reject" | "value":
            return answer
        case "edit":
            return _check_edit(answer)
        case "respond":
            return _check_respond(answer)
        case "answers":
            return _check_answers(item.questions, answer)
        case "fields":
            return _check_fields(item.fields, answer)
        case unreachable:
            assert_never(unreachable)


def _wrong_decision(item: Interrupt, answer: Answer) -> str:
    allowed = ", ".join(f"'{decision}'" for decision in DECISIONS[item.kind])
    return f"'{answer.decision}' does not fit: this interrupt takes {allowed}"


def _check_edit(answer: Answer) -> Answer:
    if not isinstance(answer.args, dict):
        raise BadAnswer("args is required to edit a tool call")
    return answer


def _check_respond(answer: Answer) -> Answer:
    if _is_blank(answer.message):
        raise BadAnswer("message is required to respond in place of a tool call")
    return answer


def _check_answers(questions: Sequence[Question], answer: Answer) -> Answer:
    given = answer.answers
    if len(given) != len(questions):
        raise BadAnswer(f"answers count ({len(given)}) does not match questions count ({len(questions)})")
    for index, (question, value) in enumerate(zip(questions, given, strict=True)):
        if _is_blank(value):
            raise BadAnswer(f"answer at index {index} is empty")
        _check_length(value, f"answer at index {index}")
        if not _offered(question, value):
            raise BadAnswer(f"answer at index {index} is not one of the offered values")
    return answer


def _is_blank(text: str) -> bool:
    return all(character.isspace() or unicodedata.category(character) == "Cc" for character in text)


def _offered(question: Question, value: str) -> bool:
    if not question.options or any(option.allow_custom for option in question.options):
        return True
    return any(option.value == value for option in question.options)


def _check_fields(fields: Sequence[Field], answer: Answer) -> Answer:
    known = {item.name for item in fields}
    for name in answer.fields:
        if name not in known:
            raise BadAnswer(f"unknown field: {name}")
    for item in fields:
        _check_field(item, answer.fields.get(item.name))
    return answer


def _check_field(item: Field, value: Any) -> None:
    if value is None or value == "":
        if item.required:
            raise BadAnswer(f"field {item.name} is required")
        return
    if item.type == "confirm" and not isinstance(value, bool):
        raise BadAnswer(f"field {item.name} must be true or false")
    if item.type != "confirm" and not isinstance(value, str):
        raise BadAnswer(f"field {item.name} must be a text")
    if item.type == "select" and value not in item.options:
        raise BadAnswer(f"field {item.name} must be one of: {', '.join(item.options)}")
    if isinstance(value, str):
        _check_length(value, f"field {item.name}")


def _check_shape(value: Any, what: str) -> None:
    try:
        json_data.count(value)
    except json_data.Unwieldy as error:
        raise BadAnswer(f"{what} was not taken: {error}") from error


def _check_length(value: str, what: str) -> None:
    if len(value.encode("utf-8", "replace")) > ANSWER_LIMIT:
        raise BadAnswer(f"{what} is longer than {ANSWER_LIMIT} bytes")


def _option_dict(option: Option) -> dict[str, Any]:
    data: dict[str, Any] = {"label": option.label, "value": option.value}
    return data | {"allow_custom": True} if option.allow_custom else data
