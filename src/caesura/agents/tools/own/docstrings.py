"""Docstrings: what a function is for, and what its parameters mean."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_ARGS = re.compile(r"(Args|Arguments|Parameters):\s*")
_ENTRY = re.compile(r"(?P<name>\w+)\s*(\([^)]*\))?:\s*(?P<text>.*)")


class Docstring(NamedTuple):
    text: str
    #: What the `Args:` section says about each parameter.
    parameters: dict[str, str]


def of(function: Callable[..., Any]) -> Docstring:
    lines = (inspect.getdoc(function) or "").splitlines()
    start = next((place for place, line in enumerate(lines) if _ARGS.fullmatch(line)), None)
    if start is None:
        return Docstring("\n".join(lines).strip(), {})
    stop = next(
        (place for place in range(start + 1, len(lines)) if lines[place][:1].strip()), len(lines)
    )  # the next line that is not indented
    rest = [*lines[:start], *lines[stop:]]
    return Docstring("\n".join(rest).strip(), _entries(lines[start + 1 : stop]))


def _entries(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    name = ""
    for line in lines:
        entry = _ENTRY.fullmatch(line.strip()) if _indent(line) == indent else None
        if entry is not None:
            name = entry["name"]
            found[name] = [entry["text"]]
        elif name:
            found[name].append(line.strip())
    return {name: " ".join(part for part in parts if part) for name, parts in found.items()}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
