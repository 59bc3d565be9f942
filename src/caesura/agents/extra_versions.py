"""Whether the packages of an extra are installed in versions that work."""

from __future__ import annotations

import re
from importlib import metadata

_REQUIRED = re.compile(r"([A-Za-z0-9._-]+)\s*([^;]*);\s*extra == '([a-z]+)'")
_BOUND = re.compile(r"(>=|<|!=)\s*([0-9][0-9.]*)")


def misfit(extra: str) -> str | None:
    """The first package of the extra that is too old or too new, and what is needed. A package that is not
    installed is none."""
    for name, wanted, of in map(_parsed, _required()):
        if of != extra:
            continue
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        for bound, number in _BOUND.findall(wanted):
            if not _fits(found, bound, number):
                return f"{name} {found} is installed, and {_needed(bound, number)} is needed"
    return None


def _required() -> list[str]:
    try:
        return metadata.requires("caesura") or []
    except metadata.PackageNotFoundError:
        return []  # the sources are used without an installation


def _parsed(requirement: str) -> tuple[str, str, str]:
    found = _REQUIRED.match(requirement.replace('"', "'"))
    return (found[1], found[2], found[3]) if found else ("", "", "")


def _fits(version: str, bound: str, number: str) -> bool:
    one, other = _release(version), _release(number)
    return {">=": one >= other, "<": one < other, "!=": one != other}[bound]


def _release(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _needed(bound: str, number: str) -> str:
    return {">=": f"{number} or newer", "<": f"one older than {number}", "!=": "another one"}[bound]
