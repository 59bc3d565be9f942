"""Translates this API's three actions into an answer for each waiting interrupt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from caesura.core.errors import BadAnswer, InterruptPending
from caesura.core.interrupts import Answer, Interrupt

Action = Literal["continue", "cancel", "answer"]


def named(waiting: Sequence[Interrupt], shown: str | set[str] | None) -> Sequence[Interrupt]:
    """The waiting interrupts that a decision is about: all of them, or those that are listed.
    `InterruptPending` if the person was shown others."""
    if isinstance(shown, set):
        if not shown <= {item.id for item in waiting}:
            raise InterruptPending(tuple(waiting))
        return [item for item in waiting if item.id in shown]
    if shown is not None and shown != waiting[0].id:
        raise InterruptPending(tuple(waiting))
    return waiting


def decisions(items: Sequence[Interrupt], action: Action, answers: Sequence[str]) -> dict[str, Answer]:
    """An answer for each interrupt that the action is about. `continue` never answers a question, and
    `answer` never approves a call: if both kinds wait, each action applies to its own kind."""
    if action == "cancel":
        return {item.id: Answer("reject") for item in items}
    if action == "continue":
        return _continue([item for item in items if item.kind != "questions"])
    return _answer([item for item in items if item.kind != "approval"], answers)


def _continue(items: Sequence[Interrupt]) -> dict[str, Answer]:
    if not items:
        raise BadAnswer("the agent asks questions: use action 'answer' or 'cancel'")
    return {item.id: _consent(item) for item in items}


def _consent(item: Interrupt) -> Answer:
    match item.kind:
        case "confirmation":
            return Answer("fields", fields={f.name: True for f in item.fields if f.type == "confirm"})
        case "graph":
            return Answer("value", value=True)
        case _:
            return Answer("approve")


def _answer(items: Sequence[Interrupt], answers: Sequence[str]) -> dict[str, Answer]:
    if not items:
        raise BadAnswer("the agent asks for approval: use action 'continue' or 'cancel'")
    wanted = sum(_places(item) for item in items)
    if len(answers) != wanted:
        raise BadAnswer(f"answers count ({len(answers)}) does not match questions count ({wanted})")
    for index, value in enumerate(answers):
        if not value.strip():
            raise BadAnswer(f"answer at index {index} is empty")
    decided: dict[str, Answer] = {}
    start = 0
    for item in items:
        end = start + _places(item)
        decided[item.id] = _given(item, answers[start:end])
        start = end
    return decided


def _places(item: Interrupt) -> int:
    match item.kind:
        case "questions":
            return len(item.questions)
        case "confirmation":
            return len(item.fields)
        case _:
            return 1


def _given(item: Interrupt, answers: Sequence[str]) -> Answer:
    match item.kind:
        case "questions":
            return Answer("answers", answers=tuple(answers))
        case "confirmation":
            pairs = zip(item.fields, answers, strict=True)
            return Answer("fields", fields={f.name: _value(f.type, text) for f, text in pairs})
        case _:
            return Answer("value", value=answers[0])


def _value(kind: str, text: str) -> str | bool:
    known = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}
    return known.get(text.strip().lower(), text) if kind == "confirm" else text
