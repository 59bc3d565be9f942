"""The end of a branch as a model reads it: ended turns, oldest first, each with its messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from caesura.core.messages import Message
from caesura.engine import tokens


class Told(NamedTuple):
    """A turn that has ended. `tokens` is the estimate for its messages."""

    id: str
    messages: list[Message]
    tokens: int

    @classmethod
    def of(cls, turn_id: str, messages: list[Message]) -> Told:
        return cls(turn_id, messages, tokens.of_messages(messages))


class Cut(NamedTuple):
    """The first turn that the model of an earlier reply was shown; None if it was shown all."""

    model: str
    first: str | None


@dataclass(frozen=True, slots=True)
class Branch:
    """`above` is the turn before the first one here; None if the branch begins here. `bound` is the number of
    tokens up to which it was read; None if that did not matter. `cut` is that of the newest reply."""

    turns: Sequence[Told] = ()
    above: str | None = None
    bound: int | None = None
    cut: Cut | None = None

    @property
    def messages(self) -> list[Message]:
        return [message for turn in self.turns for message in turn.messages]

    def place(self, turn_id: str) -> int | None:
        """The number of turns here before this one."""
        return next((place for place, turn in enumerate(self.turns) if turn.id == turn_id), None)

    def reaches(self, bound: int | None) -> bool:
        """Whether more turns than these are of no use to who reads up to this many tokens."""
        return self.above is None or (bound is not None and self.bound is not None and bound <= self.bound)

    def extended(self, turn: Told, cut: Cut | None) -> Branch:
        """The branch up to this turn, which follows the last one. Turns beyond the bound are left out."""
        turns, above = [*self.turns, turn], self.above
        first = first_within(turns, self.bound)
        if first:
            above = turns[first - 1].id
        return Branch(turns[first:], above, self.bound, cut or self.cut)


def first_within(turns: Sequence[Told], bound: int | None) -> int:
    """The place of the first turn from which on all have at most `bound` tokens. The last one always counts
    as within."""
    if bound is None or not turns:
        return 0
    total, first = turns[-1].tokens, len(turns) - 1
    while first and total + turns[first - 1].tokens <= bound:
        first -= 1
        total += turns[first].tokens
    return first


def weight(turns: Iterable[Told]) -> int:
    return sum(turn.tokens for turn in turns)
