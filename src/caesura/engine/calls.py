"""The tool calls of one reply: their arguments gathered as text, bounded, and read once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from caesura.core import json_data
from caesura.models.model import CallPart

#: How many characters the arguments of one tool call, and of all tool calls in one reply, may have.
LONGEST = 1024 * 1024
LONGEST_TOGETHER = 4 * LONGEST
#: How many tool calls one reply may hold.
MOST_CALLS = 100
#: The key that replaces arguments which are not valid JSON. The tool is not called, and the model is
#: informed.
BROKEN = "_broken_arguments"
#: The key that replaces refused arguments. Its value is the reason.
REFUSED = "_refused_arguments"
ID_LIMIT = 200
_NAME_LIMIT = 200
_SHOWN = 1000
#: So many characters of new arguments are shown at once: an event for each token would be mostly overhead.
_LEAST = 16


class Piece(NamedTuple):
    """New arguments of the call at this place. The first piece of a call has its name."""

    place: int
    text: str
    name: str


@dataclass(slots=True)
class _Gathered:
    place: int
    index: int | str | None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    size: int = 0
    refused: str = ""
    #: How many of the parts were shown, and how many characters were not.
    shown: int = 0
    unseen: int = 0

    def refuse(self, reason: str) -> None:
        """Drop what was gathered of this call, and ignore its later pieces."""
        self.refused = reason
        self.parts.clear()
        self.size = 0


class Calls:
    """Groups parts: those with the same place belong to one call, unless their ids differ."""

    def __init__(self) -> None:
        self._calls: list[_Gathered] = []
        self._size = 0
        #: The calls that have something to show, if they are shown at all.
        self._due: dict[int, _Gathered] = {}

    def add(self, part: CallPart) -> None:
        call = self._call(part.place, part.id[: ID_LIMIT + 1])
        if call is not None:
            call.name = (call.name + part.name)[:_NAME_LIMIT]
            self._gather(call, part.args)

    def news(self, names: Collection[str]) -> Iterator[Piece]:
        """What is new in the calls of these tools, for people to see while the model writes it."""
        due, self._due = self._due, {}
        for place, call in due.items():
            if call.name in names and not call.refused:
                yield Piece(place, "".join(call.parts[call.shown :]), "" if call.shown else call.name)
                call.shown, call.unseen = len(call.parts), 0

    def read(self) -> list[dict[str, Any]]:
        """The calls that the model asked for. A call with half of its arguments must not run, so the
        arguments are parsed exactly as received."""
        values = json_data.MOST_VALUES
        read = []
        for call in self._calls:
            args, count = _read(call, values)
            values -= count
            read.append({"name": call.name, "args": args, "id": call.id})
        return read

    def _call(self, index: int | str | None, call_id: str) -> _Gathered | None:
        for call in self._calls if index is not None else ():
            if call.index == index and (not call_id or not call.id or call.id == call_id):
                call.id = call.id or call_id
                return call
        if len(self._calls) > MOST_CALLS:
            return None
        made = _Gathered(len(self._calls), index, call_id)
        if len(self._calls) == MOST_CALLS:
            made.refuse(f"one reply may hold {MOST_CALLS} calls, and this one and all after it are too many")
        self._calls.append(made)
        return made

    def _gather(self, call: _Gathered, text: str) -> None:
        if call.refused or not text:
            return
        if call.size + len(text) > LONGEST:
            self._size -= call.size
            call.refuse(f"the arguments are longer than {LONGEST} characters")
        elif self._size + len(text) > LONGEST_TOGETHER:
            self._size -= call.size
            call.refuse(f"the arguments of all calls together are longer than {LONGEST_TOGETHER} characters")
        else:
            call.parts.append(text)
            call.size += len(text)
            call.unseen += len(text)
            self._size += len(text)
            if call.unseen >= _LEAST:
                self._due[call.place] = call


def _read(call: _Gathered, most: int) -> tuple[dict[str, Any], int]:
    """The arguments, and the number of values in them."""
    if call.refused:
        return {REFUSED: call.refused}, 0
    raw = "".join(call.parts)
    try:
        args, count = json_data.bounded(raw.encode(), most) if raw else ({}, 0)
        if isinstance(args, dict):
            return args, count
    except json_data.Unwieldy as error:
        return {REFUSED: f"the arguments were not taken: {error}"}, 0
    except ValueError:
        pass
    return {BROKEN: raw[:_SHOWN]}, 0
