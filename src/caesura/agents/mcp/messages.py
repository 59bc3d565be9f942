"""The messages of an MCP server: how large they may be, so that none holds up the event loop, and which
question one answers that cannot be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from caesura.core import json_data

if TYPE_CHECKING:
    from caesura.agents.mcp.shares import Share

LARGEST = 32 * 1024 * 1024
MOST_VALUES = 100_000
#: Longer messages are looked at in a thread.
_LONG = 64 * 1024
_TOO_LARGE = f"it sent a message of more than {LARGEST // (1024 * 1024)} MiB"
#: The two forms in which servers write an answer: with its id in front, or at the end.
_VERSION = rb'"jsonrpc"\s{0,9}:\s{0,9}"2\.0"'
_ID = rb'"id"\s{0,9}:\s{0,9}(\d{1,15})'
_OUTCOME = rb'"(?:result|error)"\s{0,9}:'
_COMMA = rb"\s{0,9},\s{0,9}"
_IN_FRONT = re.compile(
    rb"\{\s{0,9}(?:%(version)s%(comma)s)?%(id)s%(comma)s(?:%(version)s%(comma)s)?%(outcome)s"
    % {b"version": _VERSION, b"comma": _COMMA, b"id": _ID, b"outcome": _OUTCOME}
)
_OUTCOME_FIRST = re.compile(rb"\{\s{0,9}(?:%s%s)?%s" % (_VERSION, _COMMA, _OUTCOME))
_AT_THE_END = re.compile(rb"%s(?:%s%s)?\s{0,9}\}\Z" % (_ID, _COMMA, _VERSION))
_END = 100


class Unwieldy(ValueError):
    """A message that is too large, or holds too many values."""


def check_size(size: int) -> None:
    if size > LARGEST:
        raise Unwieldy(_TOO_LARGE)


async def check(data: bytes, share: Share) -> None:
    """Raise `Unwieldy` if the JSON holds too many values. They are counted before any is created."""
    if is_long(data):
        await share.run(count, data)


def is_long(data: bytes) -> bool:
    """Whether a thread has to look at it. What is shorter cannot hold too many values."""
    return len(data) > _LONG


def count(data: bytes) -> None:
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) <= MOST_VALUES:
        return  # also if all of them were outside of texts
    if data.count(b'"') - data.count(b'\\"') > 2 * MOST_VALUES:
        raise Unwieldy("it sent a message of too many texts")
    try:
        json_data.check_parts(data, MOST_VALUES)
    except json_data.Unwieldy as error:
        raise Unwieldy("it sent a message of too many values") from error


def id_of(line: bytes) -> int | None:
    """The id of the question that this line answers, if it is an answer which cannot be read as JSON."""
    found = _IN_FRONT.match(line)
    if found is None and _OUTCOME_FIRST.match(line) is not None:
        found = _AT_THE_END.search(line[-_END:])
    return int(found[1]) if found is not None else None
