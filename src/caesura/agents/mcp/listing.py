"""The tools that an MCP server lists. The list is the server's word, so everything in it is bounded."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.agents.mcp.shares import Share
from caesura.agents.spec import McpServer
from caesura.core import json_data, shown

if TYPE_CHECKING:
    from mcp_types import Tool

#: What providers accept as the name of a tool.
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MOST = 128
#: How many tools of a list are looked at, and how many of their schemas: the checks take long.
LONGEST, _MOST_CHECKED = 1_000, 2 * MOST
_LONGEST_DESCRIPTION = 8 * 1024
#: The bytes of a schema, and of all schemas of a server.
_LARGEST, _LARGEST_TOGETHER = 64 * 1024, 512 * 1024
_DEEPEST = 32
#: The values in a schema, and in all schemas of a server.
_MOST_VALUES, _MOST_TOGETHER = 4_000, 20_000
#: Seconds after which other servers may use the thread before the next tool is looked at.
_PIECE = 0.05
_MALFORMED = "not described as the protocol demands"
#: How many tools, and how many reasons, the log names, and how much of each.
_TOLD, _LONGEST_TOLD = 10, 1000


class Offered(NamedTuple):
    """A tool of a server. `name` is the server's own; the hints are what the server says about it."""

    name: str
    full_name: str
    description: str
    parameters: dict[str, Any]
    read_only: bool = False
    idempotent: bool = False


class Listed(NamedTuple):
    """What a server lists: its tools, the names of those that the protocol does not allow as they are, and
    how many there are `beyond` those that are looked at."""

    tools: list[Tool]
    malformed: list[str]
    beyond: int = 0


class Read(NamedTuple):
    """The tools that can be offered, and which are `left_out` and why, as a text; empty if none is."""

    offered: tuple[Offered, ...]
    left_out: str


class _Unfit(Exception):
    """The tool is not offered; the message says why."""


def full_name(server: str, tool: str) -> str:
    return f"{server}__{tool}"


async def read(server: str, found: Listed, allowed: Sequence[str] | None, share: Share) -> Read:
    """What of the list can be used. `allowed` are the names of tools, if not all are."""
    reading = _Reading(server, found, allowed)
    while not await share.run(reading.go_on):
        pass
    return reading.result()


class _Reading:
    """The reading of a list, in pieces. It is bounded, also if nothing of the list can be offered."""

    def __init__(self, server: str, found: Listed, allowed: Sequence[str] | None) -> None:
        self._server, self._found, self._allowed = server, found, allowed
        self._rest = iter([tool for tool in found.tools if self._is_allowed(tool.name)])
        self._offered: dict[str, Offered] = {}
        self._unfit: dict[str, list[str]] = {}
        self._checked = self._size = self._values = 0

    def go_on(self) -> bool:
        """Look at some more tools; whether that were all."""
        until = time.monotonic() + _PIECE
        for tool in self._rest:
            try:
                item = self._read(tool)
            except _Unfit as error:
                self._unfit.setdefault(str(error), []).append(tool.name)
            else:
                self._offered[item.full_name] = item
            if time.monotonic() >= until:
                return False
        return True

    def result(self) -> Read:
        if malformed := [name for name in self._found.malformed if self._is_allowed(name)]:
            self._unfit[_MALFORMED] = malformed
        told = _told(self._unfit)
        if self._found.beyond:
            more = f"{self._found.beyond} more (of a list {LONGEST} tools are looked at)"
            told = f"{told}; {more}" if told else more
        return Read(tuple(self._offered.values()), told)

    def _is_allowed(self, name: str) -> bool:
        return self._allowed is None or name in self._allowed

    def _read(self, tool: Tool) -> Offered:
        if not tool.name:
            raise _Unfit("its name is empty")
        name = full_name(self._server, tool.name)
        if _NAME.fullmatch(name) is None:
            raise _Unfit("with its prefix, its name is not 1 to 64 letters, digits, _ and -")
        if name in self._offered:
            raise _Unfit("the server lists it twice")
        if len(self._offered) >= MOST or self._checked >= _MOST_CHECKED:
            raise _Unfit(f"a server may offer {MOST} tools")
        parameters = self._parameters(tool.input_schema)
        hints = tool.annotations
        read_only = hints is not None and hints.read_only_hint is True
        idempotent = read_only or (hints is not None and hints.idempotent_hint is True)
        described = shown.prose((tool.description or tool.title or "")[:_LONGEST_DESCRIPTION])
        return Offered(tool.name, name, described, parameters, read_only, idempotent)

    def _parameters(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema. Providers want an object with properties."""
        self._checked += 1
        try:
            values = json_data.count(schema, _MOST_VALUES)
        except json_data.Unwieldy as error:
            raise _Unfit(f"its schema is too large: {error}") from error
        if _depth(schema) > _DEEPEST:
            raise _Unfit(f"its schema is nested deeper than {_DEEPEST} levels")
        cleaned: dict[str, Any] = json_data.clean(schema)
        size = len(json_data.dumps(cleaned))
        if size > _LARGEST:
            raise _Unfit(f"its schema has {size} bytes, and {_LARGEST} are possible")
        if cleaned.get("type", "object") != "object" or not isinstance(cleaned.get("properties", {}), dict):
            raise _Unfit("its schema is not that of an object")
        if self._size + size > _LARGEST_TOGETHER or self._values + values > _MOST_TOGETHER:
            raise _Unfit("the schemas of the server are too large together")
        self._size, self._values = self._size + size, self._values + values
        _check(cleaned)
        return {"type": "object", "properties": {}} | cleaned


def unknown(entry: McpServer, found: Listed) -> dict[str, list[str]]:
    """The names in the entry that are no tools of the server, by the field that has them."""
    names = {*(tool.name for tool in found.tools), *found.malformed}
    said = {"tools": entry.tools or (), "permissions": entry.permissions}
    wrong = {field: [name for name in given if name not in names] for field, given in said.items()}
    return {field: given for field, given in wrong.items() if given}


def _told(unfit: Mapping[str, Sequence[str]]) -> str:
    """`unfit` are the names of tools, by the reason why they are left out."""
    return _few([f"{_few(list(dict.fromkeys(names)))} ({reason})" for reason, names in unfit.items()], "; ")


def _few(texts: Sequence[str], between: str = ", ") -> str:
    """The first texts, and how many more there are."""
    first = between.join(shown.line(text[:_LONGEST_TOLD]) for text in texts[:_TOLD])
    return first if len(texts) <= _TOLD else f"{first} and {len(texts) - _TOLD} more"


def _check(schema: dict[str, Any]) -> None:
    """A provider refuses a request with a schema that is none, and the agent could not speak at all."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except Exception as error:  # a pattern or an address in it can make the checks themselves fail
        raise _Unfit("its schema is no JSON schema") from error


def _depth(value: Any) -> int:
    """How deep a value is nested, which `json_data.count` has bounded."""
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [item for held in level for item in (held.values() if isinstance(held, dict) else held)]
    return depth
