"""The voices of a turn: who speaks in each model call, so that several sub-agents can be told apart."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from caesura.core import events as ev


@dataclass(slots=True)
class _Call:
    """A tool call that is being made. A sub-agent is such a call."""

    name: str
    number: int
    agent: str
    parent: str | None


@dataclass(slots=True)
class Piece:
    """A piece of what a model call says: its text, or (kind `thought`) its reasoning."""

    call: int
    text: str
    kind: str


@dataclass(slots=True)
class Voices:
    """Sub-agents that work at the same time speak at the same time. One of them has the floor until its model
    call ends; what the others say is held until then, or until their own call ends."""

    _calls: dict[str, _Call] = field(default_factory=dict)
    #: For each model call of a sub-agent: the tool call that it is under, and the sub-agent's name.
    _under: dict[int, tuple[str, str]] = field(default_factory=dict)
    _held: dict[int, deque[Piece]] = field(default_factory=dict)
    _floor: int | None = None

    def clear(self) -> None:
        """Another turn begins: its calls are numbered from one again."""
        self._calls.clear()
        self._under.clear()
        self._held.clear()
        self._floor = None

    # --- who

    def model_started(self, event: ev.ModelStarted) -> None:
        if event.parent is not None:
            self._under[event.call] = (event.parent, event.agent)

    def tool_started(self, event: ev.ToolStarted) -> None:
        if event.id in self._calls:
            return  # it is made again after a crash
        taken = {call.number for call in self._calls.values() if call.name == event.name}
        number = next(place for place in range(1, len(taken) + 2) if place not in taken)
        self._calls[event.id] = _Call(event.name, number, event.agent, event.parent)

    def tool_finished(self, event: ev.ToolFinished) -> None:
        self._calls.pop(event.id, None)

    def called(self, id: str, name: str) -> str:
        """The name of a tool call. Calls of one tool that run at the same time are numbered."""
        known = self._calls.get(id)
        return name if known is None or known.number == 1 else f"{name} #{known.number}"

    def caller(self, id: str) -> ev.ToolStarted:
        """Who made a tool call that runs, and its name as `called` gives it."""
        known = self._calls.get(id)
        if known is None:
            return ev.ToolStarted(id, id, {}, "")
        return ev.ToolStarted(id, self.called(id, known.name), {}, known.agent, known.parent)

    def prefix(self, parent: str | None, agent: str) -> str:
        """What begins each line of a sub-agent: its name, further in for a sub-agent of a sub-agent."""
        if parent is None:
            return ""
        depth, outer = 1, self._calls.get(parent)
        while outer is not None and outer.parent is not None and depth < 10:
            depth, outer = depth + 1, self._calls.get(outer.parent)
        return f"{'  ' * depth}[{self.called(parent, agent)}] "

    def prefix_of(self, call: int) -> str:
        parent, agent = self._under.get(call, (None, ""))
        return self.prefix(parent, agent)

    def spoke(self, id: str) -> bool:
        """Whether a sub-agent has spoken under this tool call."""
        return any(parent == id for parent, _ in self._under.values())

    # --- when

    def said(self, piece: Piece) -> list[Piece]:
        """What to show now: the piece, or nothing while another sub-agent has the floor."""
        if piece.call not in self._under or self._floor in (None, piece.call):
            self._floor = piece.call if piece.call in self._under else None
            return [piece]
        self._held.setdefault(piece.call, deque()).append(piece)
        return []

    def model_finished(self, call: int) -> list[Piece]:
        """What to show now that this call has ended: its own held pieces. If it had the floor, also those of
        the call that gets it."""
        shown = list(self._held.pop(call, ()))
        if self._floor == call:
            self._floor = next(iter(self._held), None)
            shown += self._held.pop(self._floor, ()) if self._floor is not None else ()
        return shown

    def voided(self, call: int) -> list[Piece]:
        """As `model_finished`, for a call whose text is void: what is held of it is never shown."""
        self._held.pop(call, None)
        return self.model_finished(call)

    def released(self) -> list[Piece]:
        """At the end of a segment: everything that is still held, call by call."""
        shown = [piece for pieces in self._held.values() for piece in pieces]
        self._held.clear()
        self._floor = None
        return shown
