"""How things are measured and shown."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import uvloop

T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """One measurement. The goal is for ours, or for the ratio of ours to the baseline; `more` says that
    more is better."""

    what: str
    ours: float
    baseline: float | None = None
    unit: str = ""
    goal: float | None = None
    goal_ratio: float | None = None
    more: bool = False

    @property
    def ratio(self) -> float | None:
        return self.ours / self.baseline if self.baseline else None

    def cells(self) -> tuple[str, ...]:
        return (
            self.what,
            f"{number(self.ours)} {self.unit}".strip(),
            "" if self.baseline is None else f"{number(self.baseline)} {self.unit}".strip(),
            "" if self.ratio is None else f"{self.ratio:.2f} x",
            self._goal(),
            self._verdict(),
        )

    def _goal(self) -> str:
        sign = ">" if self.more else "<"
        if self.goal is not None:
            return f"{sign} {number(self.goal)} {self.unit}".strip()
        return "" if self.goal_ratio is None else f"{sign} {self.goal_ratio:.2f} x"

    def _verdict(self) -> str:
        if self.goal is not None:
            met = self.ours > self.goal if self.more else self.ours < self.goal
        elif self.goal_ratio is not None and self.ratio is not None:
            met = self.ratio > self.goal_ratio if self.more else self.ratio < self.goal_ratio
        else:
            return ""
        return "ok" if met else "missed"


@dataclass
class Table:
    """What was measured, and what the baseline is."""

    title: str
    lines: list[Line] = field(default_factory=list)

    def __str__(self) -> str:
        head = ("", "ours", "baseline", "ratio", "goal", "")
        rows = [head, *(line.cells() for line in self.lines)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        shown = [f"  {_aligned(row, widths)}".rstrip() for row in rows]
        return "\n".join([self.title, *shown, ""])


class Spent(NamedTuple):
    wall: float
    cpu: float


async def spent(work: Awaitable[object]) -> Spent:
    """The seconds this took: on the clock, and of this process's processors."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def on_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run on the event loop that the server uses."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


async def middle(times: int, measure: Callable[[], Awaitable[Spent]]) -> Spent:
    """The median of several runs."""
    found = [await measure() for _ in range(times)]
    return Spent(statistics.median(one.wall for one in found), statistics.median(one.cpu for one in found))


def percentile(values: Iterable[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    what, *numbers, verdict = zip(row, widths, strict=True)
    return "   ".join([what[0].ljust(what[1]), *(cell.rjust(width) for cell, width in numbers), verdict[0]])
