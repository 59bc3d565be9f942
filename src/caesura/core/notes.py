"""Notes: what happened between the messages of a turn. It paused for a person, began again after a crash, was
stopped or failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from caesura.core import events as ev
from caesura.core import json_data
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Message

Kind = Literal["pause", "restart", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Note:
    """`after` is the number of messages before it, and `at` its time. `ms` is how long a pause or an outage
    took. `outcome` is the decision that ended a pause, or why the turn was stopped or failed. A pause names
    its question and the tool call that it is about, a failure its text for people and its id."""

    kind: Kind
    after: int
    at: int | None
    ms: int | None = None
    outcome: str | None = None
    interrupt_id: str | None = None
    tool_call_id: str | None = None
    message: str | None = None
    error_id: str | None = None


class About(NamedTuple):
    """What is kept of an ended turn beside its messages: the model of its reply, its notes, and the version
    that it made last of each artifact."""

    model: str = ""
    notes: Sequence[Note] = ()
    artifacts: Mapping[str, int] = MappingProxyType({})

    def dumps(self) -> bytes | None:
        data: dict[str, Any] = {"model": self.model} if self.model else {}
        if self.notes:
            data["notes"] = [to_dict(note) for note in self.notes]
        if self.artifacts:
            data["artifacts"] = dict(self.artifacts)
        return json_data.dumps(data) if data else None


NOTHING = About()


def read(stored: bytes | None) -> About:
    """What was kept. An older version kept nothing."""
    data = json_data.loads(stored) if stored else {}
    told = [from_dict(item) for item in data.get("notes", ())]
    return About(data.get("model", ""), told, data.get("artifacts", {}))


def to_dict(note: Note) -> dict[str, Any]:
    members = {item.name: getattr(note, item.name) for item in fields_of(Note)}
    return {name: value for name, value in members.items() if value is not None}


def from_dict(data: Mapping[str, Any]) -> Note:
    known = {item.name for item in fields_of(Note)}
    return Note(**{"at": None, **{name: value for name, value in data.items() if name in known}})


def paused(asked: Interrupt, after: int, at: int | None) -> Note:
    return Note("pause", after, at, interrupt_id=asked.id, tool_call_id=asked.tool_call_id)


def resumed(note: Note, closed: ev.InterruptClosed, at: int | None) -> Note:
    decision = closed.answer.get("decision") if closed.outcome == "answered" else None
    return replace(note, ms=between(note.at, at), outcome=decision or closed.outcome)


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
