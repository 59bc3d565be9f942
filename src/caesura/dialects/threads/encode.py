"""Encodes events as frames, with a pure fold. A stream that is resumed after any id equals the unbroken
stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

import orjson

from caesura.core import cursors, interrupts, json_data, language
from caesura.core import events as ev
from caesura.core.events import Envelope
from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Decision,
    GraphRequest,
    Interrupt,
    Question,
    Questions,
)

END = b"event: end\ndata: {}\n\n"
#: Sent when power loss took events that the reader has seen: its segment is sent again from the beginning.
ANEW = b'event: messages/reset\ndata: {"scope":"segment"}\n\n'
#: The most characters of a title.
_TITLE = 20
_OPTIONS = {
    "en": [{"label": "Continue", "value": "continue"}, {"label": "Cancel", "value": "cancel"}],
    "zh": [{"label": "继续", "value": "continue"}, {"label": "取消", "value": "cancel"}],
}


@dataclass(frozen=True, slots=True)
class State:
    """The state of a reader: the turn's ordinal, the offset that the attempt adds to an event's number, the
    calls of sub-agents, and the calls that have shown text."""

    ordinal: int
    attempt: int = 0
    hidden: frozenset[int] = field(default=frozenset())
    shown: frozenset[int] = field(default=frozenset())


def start(ordinal: int, epoch: int = 0) -> State:
    return State(ordinal, cursors.make(epoch, 0))


def step(state: State, envelope: Envelope) -> tuple[State, bytes]:  # noqa: C901 - one case for each event
    """The frame of one event; empty if this API has none for it."""
    event = envelope.event
    match event:
        case ev.TextDelta(call, text):
            if call in state.hidden:
                return state, b""
            if call not in state.shown:
                state = replace(state, shown=state.shown | {call})
            return state, _partial(state, envelope.seq, text)
        case ev.RunStarted(epoch=epoch):
            return replace(state, attempt=cursors.make(epoch, 0)), b""
        case ev.ModelStarted(call, parent=parent):
            return (state if parent is None else replace(state, hidden=state.hidden | {call})), b""
        case ev.TextVoided(call):
            if call not in state.shown:
                return state, b""
            return replace(state, shown=state.shown - {call}), _frame(state, envelope, "messages/reset", {})
        case ev.ToolStarted(id, name, args):
            return state, _frame(state, envelope, "tool/start", {"tool": name, "input": args, "id": id})
        case ev.ToolFinished(id, name, output):
            return state, _frame(state, envelope, "tool/end", {"tool": name, "output": output, "id": id})
        case ev.TitleChanged(title):
            return state, _frame(state, envelope, "title_updated", {"title": short(title)})
        case ev.Interrupted(items):
            return state, _frame(state, envelope, "interrupt", interrupt_data(items))
        case ev.Failed():
            return state, _frame(state, envelope, "error", {"message": _message(event)})
        case ev.SegmentEnded():
            return state, _frame(state, envelope, "end", {})
        case (
            ev.ReasoningDelta()
            | ev.CallDelta()
            | ev.ModelFinished()
            | ev.ToolProgress()
            | ev.GraphWrote()
            | ev.ArtifactChanged()
            | ev.InterruptClosed()
            | ev.Finished()
            | ev.Stopped()
        ):
            return state, b""
        case unreachable:
            assert_never(unreachable)


def skip(state: State, event: ev.Event) -> State:
    """Like `step`, without the frame."""
    match event:
        case ev.TextDelta(call):
            if call in state.shown or call in state.hidden:
                return state
            return replace(state, shown=state.shown | {call})
        case ev.RunStarted(epoch=epoch):
            return replace(state, attempt=cursors.make(epoch, 0))
        case ev.ModelStarted(call, parent=parent):
            return state if parent is None else replace(state, hidden=state.hidden | {call})
        case ev.TextVoided(call):
            return replace(state, shown=state.shown - {call})
        case (
            ev.ReasoningDelta()
            | ev.CallDelta()
            | ev.ModelFinished()
            | ev.ToolProgress()
            | ev.GraphWrote()
            | ev.ToolStarted()
            | ev.ToolFinished()
            | ev.TitleChanged()
            | ev.ArtifactChanged()
            | ev.Interrupted()
            | ev.InterruptClosed()
            | ev.Finished()
            | ev.Failed()
            | ev.Stopped()
            | ev.SegmentEnded()
        ):
            return state
        case unreachable:
            assert_never(unreachable)


def interrupt_data(items: Sequence[Interrupt]) -> dict[str, Any]:
    """The data with which a client shows the questions, live or after a reload."""
    questions = [interrupts.question_dict(question) for item in items for question in _questions(item)]
    return {
        "info": "; ".join(item.description for item in items if item.description),
        "taskName": ", ".join(dict.fromkeys(item.label for item in items if item.label)),
        "data": [_action(item) for item in items],
        "questions": questions or None,
        "options": None if questions else _options(items),
        "interrupt_id": items[0].id if items else None,
    }


def _options(items: Sequence[Interrupt]) -> list[dict[str, str]]:
    """The buttons, without one that would be refused: a graph may not allow each decision."""
    refused = {"continue"} if any(_forbids(item, "approve") for item in items) else set()
    refused |= {"cancel"} if any(_forbids(item, "reject") for item in items) else set()
    return [option for option in _OPTIONS[_language(items)] if option["value"] not in refused]


def _forbids(item: Interrupt, decision: Decision) -> bool:
    return isinstance(item, Approval) and decision not in item.decisions


def _questions(item: Interrupt) -> tuple[Question, ...]:
    """What is asked in texts. A call that the person can only answer in its place is a question too."""
    match item:
        case Questions(questions=questions):
            return questions
        case Approval() if item.wants_words:
            return (Question(item.description),)
        case Approval() | Confirmation() | GraphRequest():
            return ()
        case unreachable:
            assert_never(unreachable)


def short(title: str) -> str:
    """The title as this API shows it: over others a person may give a longer one."""
    return title[:_TITLE].rstrip()


def not_taken(items: Sequence[Interrupt]) -> bytes:
    """The frames for a message that came while these wait."""
    message = {"message": interrupts.not_taken(items)}
    return b"event: error\ndata: " + _data(message) + b"\n\n" + still_pending(items)


def error(message: str) -> bytes:
    """The frames of a refusal that is sent as a stream: nothing has changed."""
    return b"event: error\ndata: " + _data({"message": message}) + b"\n\n" + END


def still_pending(items: Sequence[Interrupt]) -> bytes:
    """The frames for interrupts that still wait after some others were answered."""
    return b"event: interrupt\ndata: " + _data(interrupt_data(items)) + b"\n\n" + END


def _partial(state: State, seq: int, text: str) -> bytes:
    number = cursors.along(state.ordinal, state.attempt + seq)
    try:
        content = orjson.dumps(text)
    except TypeError:
        content = json_data.dumps(text)
    return b'id: %d\nevent: messages/partial\ndata: {"content":%b}\n\n' % (number, json_data.line(content))


def _frame(state: State, envelope: Envelope, name: str, data: dict[str, Any]) -> bytes:
    number = cursors.along(state.ordinal, state.attempt + envelope.seq)
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, name.encode(), _data(data))


def _data(data: dict[str, Any]) -> bytes:
    return json_data.line(json_data.dumps(data))


def _message(event: ev.Failed) -> str:
    return f"{event.message} ({event.error_id})" if event.error_id else event.message


def _action(item: Interrupt) -> dict[str, Any]:
    action: dict[str, Any] = {
        "tool_call_id": item.tool_call_id,
        "name": None,
        "args": {},
        "description": item.description,
        "interrupt_id": item.id,
    }
    match item:
        case Approval(name=name, args=args) | Questions(name=name, args=args):
            return action | {"name": name, "args": args}
        case Confirmation(fields=()):
            return action
        case Confirmation(fields=fields):
            return action | {"fields": [interrupts.field_dict(form_field) for form_field in fields]}
        case GraphRequest(value=value):
            return action | {"value": value}
        case unreachable:
            assert_never(unreachable)


def _language(items: Sequence[Interrupt]) -> language.Language:
    return language.of("".join(f"{item.label}{item.description}" for item in items))
