"""Translates a decision of this API into an answer for each waiting interrupt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer, BadInput, InterruptPending, NothingPending
from caesura.core.interrupts import Approval, Confirmation, GraphRequest, Interrupt, Questions
from caesura.dialects.artifactflow.wire import Resume


def decisions(waiting: Sequence[Interrupt], new: Resume) -> dict[str, Answer]:
    """An answer for each interrupt that the decision is about. Exactly one of `approved` and `decision` must
    be given."""
    if (new.approved is None) == (new.decision is None):
        raise BadInput("give approved (true or false) or decision, one of them")
    if not waiting:
        raise NothingPending
    items = _named(waiting, new.interrupt_id)
    if new.always_allow and len({item.name for item in items if isinstance(item, Approval)}) > 1:
        raise BadAnswer("several tools wait: name the question to always allow its tool, with interrupt_id")
    if new.decision is not None:
        answer = new.answer(new.decision)
        return {item.id: answer for item in items}
    return {item.id: _approval(item, new) if new.approved else _refusal(new) for item in items}


def _named(waiting: Sequence[Interrupt], interrupt_id: str | None) -> Sequence[Interrupt]:
    if interrupt_id is None:
        return waiting
    named = [item for item in waiting if item.id == interrupt_id]
    if not named:
        raise InterruptPending(tuple(waiting))
    return named


def _refusal(new: Resume) -> Answer:
    return Answer("reject", message=new.message)


def _approval(item: Interrupt, new: Resume) -> Answer:
    match item:
        case Approval():
            return Answer("approve", message=new.message, always_allow=new.always_allow)
        case Confirmation():
            return Answer("fields", fields={f.name: True for f in item.fields if f.type == "confirm"})
        case GraphRequest():
            return Answer("value", value=True)
        case Questions():
            raise BadAnswer("the agent asks questions: use decision 'answers', or approved false")
        case unreachable:
            assert_never(unreachable)
