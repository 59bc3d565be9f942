"""Where a turn is killed: at every commit, or at every event.

On PostgreSQL it is killed at a sample of them, with one of each kind, unless the tests are thorough: the
engine does the same on both databases, and there each attempt takes three times as long. A test may also ask
for a sample on SQLite.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise, takewhile
from typing import Any, Literal, NamedTuple

from tests import effort
from tests.chaos.engine_life import Lives, Orders
from tests.chaos.engine_scene import Place, look
from tests.chaos.lanes import at_places

At = Literal["commit", "events"]
#: An event is there when it is committed: who is killed at every commit is also killed at every event.
WAYS: tuple[At, ...] = ("commit", "events") if effort.thorough() else ("commit",)
#: What the orders of a life that is killed say besides those of one that is not.
Kill = dict[str, Any]
#: On PostgreSQL every how many places one is tried, besides the first of each kind.
_STEP = 60


class _Place(NamedTuple):
    """`number` is that of a commit, or of the last event in one."""

    number: int
    kind: str


@dataclass
class Kills:
    """Turns that begin with the orders of `order`, are killed, and continue as `goes_on` checks."""

    lives: Lives
    lanes: Sequence[Place]
    order: Callable[[Place], Orders]
    goes_on: Callable[[Orders], Awaitable[object]]
    #: On SQLite every how many places one is tried, besides the first of each kind.
    step: int = 1
    killed: int = 0
    missed: list[Kill] = field(default_factory=list)

    async def everywhere(self, at: At) -> int:
        """Returns how many commits or events there are."""
        if effort.thorough() or (at == "commit" and self.step == 1 and not self._shared):
            await self._try({at: number} for number in takewhile(lambda _: not self.missed, count(1)))
            return self.killed
        places = await self._places(at)
        await self._try(kills := list(self._chosen(places, at)))
        again, self.missed = self.missed, []
        await self._try(again)
        # A busy machine may combine commits, but only some.
        assert len(self.missed) <= len(kills) // 4, self.missed
        return max(place.number for place in places)

    @property
    def _shared(self) -> bool:
        return self.lanes[0].shared

    async def _places(self, at: At) -> list[_Place]:
        """The places of a turn that nobody kills."""
        orders = self.order(self.lanes[0])
        commits = await asyncio.to_thread(self.lives.run, replace(orders, told=True))
        assert commits is not None
        if at == "commit":
            return [_Place(number, commit.kind) for number, commit in enumerate(commits, 1)]
        (found,) = await look(orders)
        # Events that are committed together are there together, or not at all.
        lengths = sorted({0, *(commit.events for commit in commits)})
        return [
            _Place(last, " ".join(type(event).__name__ for event in found.events[before:last]))
            for before, last in pairwise(lengths)
        ]

    def _chosen(self, places: Sequence[_Place], at: At) -> Iterator[Kill]:
        """By kind where that is possible: if commits were combined, the others have other numbers."""
        seen = set[str]()
        for index in effort.sample([place.kind for place in places], _STEP if self._shared else self.step):
            number, kind = places[index]
            yield {"kind": kind} if at == "commit" and kind and kind not in seen else {at: number}
            seen.add(kind)

    async def _try(self, kills: Iterable[Kill]) -> None:
        await at_places(self.lanes, kills, self._kill)

    async def _kill(self, lane: Place, kill: Kill) -> None:
        orders = self.order(lane)
        if await asyncio.to_thread(self.lives.run, replace(orders, **kill)) is not None:
            self.missed.append(kill)
            return
        self.killed += 1
        await self.goes_on(orders)
