"""References between agent files: which file has a name, and which sub-agents exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from caesura.agents.definition import Reading, Reference
from caesura.agents.faults import Fault, did_you_mean


def faults(readings: Sequence[Reading], serving: Mapping[str, Path], builtin: Path) -> list[Fault]:
    """The faults between these files, given the files whose agents are available under each name."""
    holders: dict[str, Reading] = {}
    for reading in readings:
        if _takes(reading, holders.get(reading.called), serving, builtin):
            holders[reading.called] = reading
    return [fault for reading in readings for fault in _faults(reading, holders, serving, builtin)]


def _takes(reading: Reading, holder: Reading | None, serving: Mapping[str, Path], builtin: Path) -> bool:
    if holder is None:
        return True
    serves = serving.get(reading.called)
    if serves is not None:
        return reading.path == serves
    return holder.path.parent == builtin != reading.path.parent


def _faults(
    reading: Reading, holders: Mapping[str, Reading], serving: Mapping[str, Path], builtin: Path
) -> Iterator[Fault]:
    file, holder = reading.path.name, holders[reading.called]
    if holder is not reading and reading.name is not None and reading.path.parent != builtin:
        message = f"the name {reading.name} is already taken by {holder.path.name}"
        yield Fault(file, 0, "metadata.name", message, "choose another name")
    for reference in reading.references:
        if wrong := _wrong(reading, reference, holders, serving):
            yield Fault(file, reference.line, reference.field, *wrong)


def _wrong(
    reading: Reading, reference: Reference, holders: Mapping[str, Reading], serving: Mapping[str, Path]
) -> tuple[str, str] | None:
    name = reference.name
    if name not in holders:
        return f"unknown agent: {name}", did_you_mean(name, holders) or f"known: {', '.join(sorted(holders))}"
    if way := _way(name, reading.called, holders):
        circle = " → ".join([reading.called, *way])
        return f"agents call each other in a circle: {circle}", "break the circle"
    if name not in serving:
        return f"agent {name} cannot be used", "see the faults of that agent"
    return None


def _way(start: str, end: str, holders: Mapping[str, Reading]) -> list[str]:
    """The shortest path from one agent to another through sub-agents, including both; empty if there is
    none."""
    came: dict[str, str | None] = {start: None}
    for name in (queue := [start]):
        if name == end:
            return _back(name, came)
        for reference in holders[name].references if name in holders else ():
            if reference.name not in came:
                came[reference.name] = name
                queue.append(reference.name)
    return []


def _back(name: str, came: Mapping[str, str | None]) -> list[str]:
    way: list[str] = []
    step: str | None = name
    while step is not None:
        way.append(step)
        step = came[step]
    return way[::-1]
