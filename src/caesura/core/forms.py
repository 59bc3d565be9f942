"""Interrupts as forms: what waits, as a reason and fields that a person fills in, and what they filled in, as
answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from caesura.core import answers, interrupts, shown
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Field,
    GraphRequest,
    Interrupt,
    Question,
    Questions,
)

_CONTINUE, _ANSWER = "Continue", "Answer"
_LONGEST_REASON = 4000
#: What may be said about a tool call besides yes and no. No form shows it: a client that knows it sends it.
_MORE = ("args", "respond", "message")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One field of the form. `own` is its name within its interrupt: if several interrupts wait, the names in
    the form are numbered. `labels` are texts for its options."""

    field: Field
    own: str
    labels: tuple[str, ...] = ()


def reason(items: Sequence[Interrupt]) -> str:
    """What the person is asked, one line for each interrupt."""
    return "\n".join(text for item in items if (text := _reason(item)))


def fields(items: Sequence[Interrupt]) -> list[dict[str, Any]]:
    """The fields of everything that waits."""
    return [_field_dict(entry) for entries in _form(items) for entry in entries]


def tool_calls(items: Sequence[Interrupt]) -> list[dict[str, Any]]:
    """The tool calls that wait for an approval, with their arguments."""
    return [
        {"id": item.tool_call_id, "name": item.name, "arguments": item.args}
        for item in items
        if isinstance(item, Approval)
    ]


def answered(items: Sequence[Interrupt], given: Mapping[str, Any]) -> dict[str, Answer]:
    """An answer for each interrupt, by its id. `BadAnswer` if what was filled in does not fit the fields. A
    `confirm` of false alone refuses everything, whatever the fields are."""
    if len(given) == 1 and given.get("confirm") is False:
        return {item.id: Answer("reject") for item in items}
    form, more = _form(items), _more(items)
    known = {entry.field.name for entries in form for entry in entries}.union(*more)
    for name in given:
        if name not in known:
            raise BadAnswer(f"unknown field: {name}")
    for entries in form:
        for entry in entries:
            answers.check_field(entry.field, given.get(entry.field.name))
    return {
        item.id: _answer(item, _values(entries, given), _said(names, given))
        for item, entries, names in zip(items, form, more, strict=True)
    }


def _form(items: Sequence[Interrupt]) -> list[list[_Entry]]:
    """The fields of each interrupt. The names are numbered if there are several interrupts."""
    if len(items) == 1:
        return [list(_entries(items[0]))]
    return [
        [_numbered(item, entry, place) for entry in _entries(item)] for place, item in enumerate(items, 1)
    ]


def _more(items: Sequence[Interrupt]) -> list[dict[str, str]]:
    """For each interrupt what may be said besides its fields: its names in the form, with their own names."""
    calls = [isinstance(item, Approval) and not item.wants_words for item in items]
    if len(items) == 1:
        return [{name: name for name in _MORE if calls[0]}]
    return [{f"{name}_{place}": name for name in _MORE if call} for place, call in enumerate(calls, 1)]


def _numbered(item: Interrupt, entry: _Entry, place: int) -> _Entry:
    label = item.description if isinstance(item, Approval) and item.description else entry.field.label
    return replace(entry, field=replace(entry.field, name=f"{entry.own}_{place}", label=label))


def _entries(item: Interrupt) -> Iterator[_Entry]:
    match item:
        case Approval() if item.wants_words:
            yield _Entry(Field("answer", "text", item.label or _ANSWER, required=True), "answer")
        case Approval():
            yield _Entry(_consent(item), "confirm")
        case Confirmation():
            for form_field in item.fields or (_consent(item),):
                yield _Entry(form_field, form_field.name)
        case Questions():
            for place, question in enumerate(item.questions, 1):
                yield _question(question, f"answer_{place}")
        case GraphRequest():
            yield _Entry(Field("confirm", "confirm", _CONTINUE, required=True), "confirm")
            yield _Entry(Field("value", "text", "Value"), "value")
        case unreachable:
            assert_never(unreachable)


def _consent(item: Interrupt) -> Field:
    return Field("confirm", "confirm", item.label or _CONTINUE, required=True)


def _question(question: Question, name: str) -> _Entry:
    """An entry that takes other values than the offered ones is a text; its options are suggestions."""
    free = not question.options or any(option.allow_custom for option in question.options)
    offered: dict[str, str] = {}
    for option in question.options:
        if not option.allow_custom:
            offered.setdefault(option.value, option.label)
    values, labels = tuple(offered), tuple(offered.values())
    form_field = Field(name, "text" if free else "select", question.question, True, values)
    return _Entry(form_field, name, () if labels == values else labels)


def _values(entries: Sequence[_Entry], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was filled in for one interrupt, by the names within it. Fields that were left empty are left
    out."""
    found = {entry.own: given.get(entry.field.name) for entry in entries}
    return {name: value for name, value in found.items() if value is not None and value != ""}


def _said(names: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    return {own: given[name] for name, own in names.items() if name in given}


def _answer(item: Interrupt, values: dict[str, Any], more: dict[str, Any]) -> Answer:
    match item:
        case Approval() if item.wants_words:
            return Answer("respond", message=values["answer"])
        case Approval():
            return answers.about_call(values["confirm"], **more)
        case Confirmation(fields=()):
            return Answer("fields") if values["confirm"] else Answer("reject")
        case Confirmation():
            return Answer("fields", fields=values)
        case Questions():
            return Answer("answers", answers=tuple(values.values()))
        case GraphRequest():
            return Answer("value", value=values.get("value", True)) if values["confirm"] else Answer("reject")
        case unreachable:
            assert_never(unreachable)


def _reason(item: Interrupt) -> str:
    match item:
        case Confirmation(reason=text) if text:
            return text
        case GraphRequest(value=value) if not item.description or (isinstance(value, str) and value):
            text = value if isinstance(value, str) else shown.data(value)
            return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"
        case Questions(description="", questions=asked):
            return "\n".join(question.question for question in asked)
        case Approval() | Questions() | Confirmation() | GraphRequest():
            return item.description or item.label
        case unreachable:
            assert_never(unreachable)


def _field_dict(entry: _Entry) -> dict[str, Any]:
    data = interrupts.field_dict(entry.field)
    return data | {"labels": list(entry.labels)} if entry.labels else data
