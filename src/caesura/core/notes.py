"""Notes: what happened between the messages of a turn. It paused for a person, was interrupted on the server
and went on (a crash, a restart, a database that could not store), was stopped or failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from caesura.core import events as ev
from caesura.core import json_data
from caesura.core.interrupts import Approval, Interrupt, Question, Questions
from caesura.core.messages import Message

Kind = Literal["pause", "restart", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Note:
    """`after` is the number of messages before it, and `at` its time. `ms` is how long a pause or an outage
    took. `outcome` is the decision that ended a pause, or why the turn was stopped or failed. A pause names
    its question, the tool call that it is about, what kind of question it was and the tool that it was about.
    `always`: the person has allowed the tool for the rest of the branch. `answers` are the questions that
    were answered, with the answers in the words in which they were offered. A failure has its text for
    people and its id."""

    kind: Kind
    after: int
    at: int | None
    ms: int | None = None
    outcome: str | None = None
    interrupt_id: str | None = None
    tool_call_id: str | None = None
    message: str | None = None
    error_id: str | None = None
    asked: str | None = None
    tool: str | None = None
    always: bool | None = None
    answers: Sequence[Mapping[str, str]] | None = None


class About(NamedTuple):
    """What is kept of an ended turn beside its messages: the model of its reply, its notes, the version that
    it made last of each artifact, and the first turn that the model was shown, if not all."""

    model: str = ""
    notes: Sequence[Note] = ()
    artifacts: Mapping[str, int] = MappingProxyType({})
    context_from: str | None = None

    def dumps(self) -> bytes | None:
        data: dict[str, Any] = {"model": self.model} if self.model else {}
        if self.notes:
            data["notes"] = [to_dict(note) for note in self.notes]
        if self.artifacts:
            data["artifacts"] = dict(self.artifacts)
        if self.context_from is not None:
            data["context_from"] = self.context_from
        return json_data.dumps(data) if data else None


NOTHING = About()


def read(stored: bytes | None) -> About:
    """What was kept. An older version kept nothing."""
    data = json_data.loads(stored) if stored else {}
    told = [from_dict(item) for item in data.get("notes", ())]
    return About(data.get("model", ""), told, data.get("artifacts", {}), data.get("context_from"))


def to_dict(note: Note) -> dict[str, Any]:
    members = {item.name: getattr(note, item.name) for item in fields_of(Note)}
    return {name: value for name, value in members.items() if value is not None}


def from_dict(data: Mapping[str, Any]) -> Note:
    known = {item.name for item in fields_of(Note)}
    return Note(**{"at": None, **{name: value for name, value in data.items() if name in known}})


def paused(asked: Interrupt, after: int, at: int | None) -> Note:
    tool = asked.name or None if isinstance(asked, Approval | Questions) else None
    pause = Note("pause", after, at, interrupt_id=asked.id, tool_call_id=asked.tool_call_id)
    return replace(pause, asked=asked.kind, tool=tool)


def resumed(note: Note, asked: Interrupt | None, closed: ev.InterruptClosed, at: int | None) -> Note:
    given = closed.answer if closed.outcome == "answered" else {}
    return replace(
        note,
        ms=between(note.at, at),
        outcome=given.get("decision") or closed.outcome,
        always=True if given.get("always_allow") else None,
        answers=_answers(asked, given.get("answers") or ()),
    )


def _answers(asked: Interrupt | None, given: Sequence[str]) -> list[dict[str, str]] | None:
    if not isinstance(asked, Questions) or not given:
        return None
    pairs = zip(asked.questions, given, strict=False)
    return [{"question": item.question, "answer": _offered(item, answer)} for item, answer in pairs]


def _offered(question: Question, answer: str) -> str:
    """The answer in the words of the option that was chosen."""
    chosen = (item for item in question.options if item.value == answer and not item.allow_custom)
    return next((item.label for item in chosen), answer)


def ended(outcome: ev.Stopped | ev.Failed, after: int, at: int | None) -> Note:
    if isinstance(outcome, ev.Stopped):
        return Note("stopped", after, at, outcome=outcome.reason)
    return Note("failed", after, at, outcome=outcome.code, message=outcome.message, error_id=outcome.error_id)


def between(start: int | None, end: int | None) -> int | None:
    """Milliseconds from one time to another. Clocks may have been set: never less than zero."""
    return None if start is None or end is None else max(end - start, 0)


def placed(notes: Iterable[Note], log: Sequence[Message], shown: Sequence[Message]) -> list[Note]:
    """The notes with their places among the messages that are shown, which may have another order than in the
    log: the results of tool calls directly follow their calls. A pause about a call comes before its
    result."""
    places = {id(message): place for place, message in enumerate(shown)}
    results = {message.tool_call_id: place for place, message in enumerate(shown) if message.role == "tool"}
    furthest = list(accumulate((places.get(id(message), -1) for message in log), max, initial=-1))
    found = []
    for note in notes:
        after = furthest[min(note.after, len(log))] + 1
        if note.tool_call_id is not None:
            after = min(after, results.get(note.tool_call_id, after))
        found.append(replace(note, after=after))
    return found
