"""Answers: what a person decides about an interrupt, and the full check of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from caesura.core import ids, json_data
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Decision,
    Field,
    GraphRequest,
    Interrupt,
    Question,
    Questions,
)

LIMIT = 64 * 1024
#: The member that holds what was decided, for the decisions that have one. `message` may go with any.
_MEMBER: dict[Decision, str] = {"edit": "args", "answers": "answers", "fields": "fields", "value": "value"}


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
    def grants(self) -> bool:
        """Whether the person allows this call and every later call of this tool."""
        return self.always_allow and self.decision in ("approve", "edit")


_NO_ANSWER = Answer("reject")


def about_call(agreed: bool, args: Any = None, respond: Any = None, message: Any = None) -> Answer:
    """A yes or a no to a tool call. With a yes may come other arguments for the call, or a text that the
    agent gets in place of the call's result; with a no, a reason. `BadAnswer` for anything else."""
    if args is not None and not isinstance(args, dict):
        raise BadAnswer("args must be an object")
    for name, value in (("respond", respond), ("message", message)):
        if value is not None and not isinstance(value, str):
            raise BadAnswer(f"{name} must be a text")
    if not agreed and (args is not None or respond is not None):
        raise BadAnswer("args and respond do not go with a refusal")
    if args is not None and respond is not None:
        raise BadAnswer("args and respond do not go together")
    if agreed and message is not None:
        raise BadAnswer("message goes only with a refusal")
    if not agreed:
        return Answer("reject", message=message or "")
    if respond is not None:
        if _is_blank(respond):
            raise BadAnswer("respond must not be empty")
        return Answer("respond", message=respond)
    return Answer("approve") if args is None else Answer("edit", args=args)


def to_dict(answer: Answer) -> dict[str, Any]:
    data: dict[str, Any] = {"decision": answer.decision}
    for name in ("args", "message", "fields", "value", "always_allow"):
        if (value := getattr(answer, name)) != getattr(_NO_ANSWER, name):
            data[name] = value
    if answer.answers:
        data["answers"] = list(answer.answers)
    if answer.decision == "value":
        data["value"] = answer.value
    return data


def from_dict(data: Mapping[str, Any]) -> Answer:
    return Answer(**{**data, "answers": tuple(data.get("answers", ()))})


def refuses(item: Interrupt, answer: Answer) -> bool:
    """Whether the person said no: by a rejection, or by a form in which a deciding field is not true."""
    if answer.decision == "fields" and isinstance(item, Confirmation):
        return any(answer.fields.get(name) is not True for name in deciding(item.fields))
    return answer.decision == "reject"


def deciding(fields: Sequence[Field]) -> list[str]:
    """The names of the fields that confirm or refuse: the required confirm fields, or all confirm fields if
    none is required. The other confirm fields say something, as texts do."""
    confirms = [item for item in fields if item.type == "confirm"]
    return [item.name for item in confirms if item.required] or [item.name for item in confirms]


def check(item: Interrupt, answer: Answer) -> Answer:
    """The answer as it will be stored, or `BadAnswer` naming what is wrong. Changes nothing."""
    if answer.decision not in item.decisions:
        allowed = ", ".join(f"'{decision}'" for decision in item.decisions)
        raise BadAnswer(f"'{answer.decision}' does not fit: this interrupt takes {allowed}")
    _check_length(answer.message, "message")
    _check_members(answer)
    for name in ("args", "fields", "value"):
        _check_shape(getattr(answer, name), name)
    if answer.decision == "reject":
        return answer
    match item:
        case Approval():
            _check_approval(item, answer)
        case Questions():
            _check_answers(item.questions, answer)
        case Confirmation():
            _check_fields(item.fields, answer)
        case GraphRequest():
            pass
        case unreachable:
            assert_never(unreachable)
    return answer


def _check_members(answer: Answer) -> None:
    """Refuse members of another decision: the person may have meant that one."""
    for name in _MEMBER.values():
        if name != _MEMBER.get(answer.decision) and getattr(answer, name):
            raise BadAnswer(f"{name} does not go with '{answer.decision}'")
    if answer.always_allow and not answer.grants:
        raise BadAnswer(f"always_allow does not go with '{answer.decision}'")


def _check_approval(item: Approval, answer: Answer) -> None:
    if answer.always_allow and not item.permit and not ids.is_tool_name(item.name):
        raise BadAnswer("always_allow does not go with this call: its name is not that of a tool")
    if answer.decision == "edit" and not isinstance(answer.args, dict):
        raise BadAnswer("args is required to edit a tool call")
    if answer.decision == "respond" and _is_blank(answer.message):
        raise BadAnswer("message is required to respond in place of a tool call")


def _check_answers(questions: Sequence[Question], answer: Answer) -> None:
    given = answer.answers
    if len(given) != len(questions):
        raise BadAnswer(f"answers count ({len(given)}) does not match questions count ({len(questions)})")
    for index, (question, value) in enumerate(zip(questions, given, strict=True)):
        if _is_blank(value):
            raise BadAnswer(f"answer at index {index} is empty")
        _check_length(value, f"answer at index {index}")
        if not _offered(question, value):
            raise BadAnswer(f"answer at index {index} is not one of the offered values")


def _is_blank(text: str) -> bool:
    return all(character.isspace() or unicodedata.category(character) == "Cc" for character in text)


def _offered(question: Question, value: str) -> bool:
    if not question.options or any(option.allow_custom for option in question.options):
        return True
    return any(option.value == value for option in question.options)


def _check_fields(fields: Sequence[Field], answer: Answer) -> None:
    known = {item.name for item in fields}
    for name in answer.fields:
        if name not in known:
            raise BadAnswer(f"unknown field: {name}")
    for item in fields:
        check_field(item, answer.fields.get(item.name))


def check_field(item: Field, value: Any) -> None:
    """Refuse a value that does not fit the field with `BadAnswer`. None and a blank text are no value."""
    if value is None or (isinstance(value, str) and _is_blank(value)):
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
    if len(value.encode("utf-8", "replace")) > LIMIT:
        raise BadAnswer(f"{what} is longer than {LIMIT} bytes")
