"""Translates this API's three actions into an answer for each waiting interrupt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, assert_never

from caesura.core.answers import Answer, about_call
from caesura.core.errors import BadAnswer, InterruptPending
from caesura.core.interrupts import Approval, Confirmation, GraphRequest, Interrupt, Questions

Action = Literal["continue", "cancel", "answer"]
#: The interrupts that are answered with texts. An approval is one only if it wants words.
Form = Questions | Confirmation | GraphRequest | Approval


class Said(NamedTuple):
    """What goes with an action: texts with `answer`, one of the next two with `continue`, a reason with
    `cancel`."""

    answers: Sequence[str] = ()
    args: Any = None
    respond: Any = None
    message: Any = None


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


def decisions(items: Sequence[Interrupt], action: Action, said: Said) -> dict[str, Answer]:
    """An answer for each interrupt that the action is about. `continue` never answers a question, and
    `answer` never approves a call: if both kinds wait, each action applies to its own kind."""
    match action:
        case "cancel":
            refusal = about_call(False, *said[1:])
            return {item.id: refusal for item in items}
        case "continue":
            return _continue(items, said)
        case "answer":
            return _answer(items, said)
        case unreachable:
            assert_never(unreachable)


def _continue(items: Sequence[Interrupt], said: Said) -> dict[str, Answer]:
    if any(value is not None for value in said[1:]):
        return _changed(items, said)
    decided = {item.id: answer for item in items if (answer := _consent(item)) is not None}
    if not decided:
        raise BadAnswer("the agent asks questions: use action 'answer' or 'cancel'")
    return decided


def _changed(items: Sequence[Interrupt], said: Said) -> dict[str, Answer]:
    """A yes to one tool call that is not to be made as it is."""
    calls = [item for item in items if isinstance(item, Approval)]
    if len(calls) != 1:
        raise BadAnswer(
            f"args and respond are about one tool call, and {len(calls)} wait: list one as interrupt_id"
        )
    return {calls[0].id: about_call(True, *said[1:])}


def _consent(item: Interrupt) -> Answer | None:
    """The answer of `continue`; None for an interrupt that it does not answer."""
    match item:
        case Approval():
            return None if item.wants_words else Answer("approve")
        case Confirmation():
            return Answer("fields", fields={f.name: True for f in item.fields if f.type == "confirm"})
        case GraphRequest():
            return Answer("value", value=True)
        case Questions():
            return None
        case unreachable:
            assert_never(unreachable)


def _answer(items: Sequence[Interrupt], said: Said) -> dict[str, Answer]:
    answers = said.answers
    if any(value is not None for value in said[1:]):
        raise BadAnswer("args, respond and message do not go with action 'answer'")
    forms = [item for item in items if not isinstance(item, Approval) or item.wants_words]
    if not forms:
        raise BadAnswer("the agent asks for approval: use action 'continue' or 'cancel'")
    wanted = sum(_places(item) for item in forms)
    if len(answers) != wanted:
        raise BadAnswer(f"answers count ({len(answers)}) does not match questions count ({wanted})")
    for index, value in enumerate(answers):
        if not value.strip():
            raise BadAnswer(f"answer at index {index} is empty")
    decided: dict[str, Answer] = {}
    start = 0
    for item in forms:
        end = start + _places(item)
        decided[item.id] = _given(item, answers[start:end])
        start = end
    return decided


def _places(item: Form) -> int:
    """How many of the answers belong to this interrupt."""
    match item:
        case Questions():
            return len(item.questions)
        case Confirmation():
            return len(item.fields)
        case GraphRequest() | Approval():
            return 1
        case unreachable:
            assert_never(unreachable)


def _given(item: Form, answers: Sequence[str]) -> Answer:
    match item:
        case Questions():
            return Answer("answers", answers=tuple(answers))
        case Confirmation():
            pairs = zip(item.fields, answers, strict=True)
            return Answer("fields", fields={f.name: _value(f.type, text) for f, text in pairs})
        case GraphRequest():
            return Answer("value", value=answers[0])
        case Approval():
            return Answer("respond", message=answers[0])
        case unreachable:
            assert_never(unreachable)


def _value(kind: str, text: str) -> str | bool:
    known = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}
    return known.get(text.strip().lower(), text) if kind == "confirm" else text
