"""How large a message of an MCP server may be. A larger one would hold up the event loop."""

from __future__ import annotations

from caesura.agents.aside import Aside
from caesura.core import json_data

LARGEST = 32 * 1024 * 1024
MOST_VALUES = 100_000
#: Longer messages are looked at in a thread.
_LONG = 64 * 1024
_TOO_LARGE = f"it sent a message of more than {LARGEST // (1024 * 1024)} MiB"


class Unwieldy(ValueError):
    """A message that is too large, or holds too many values."""


def check_size(size: int) -> None:
    if size > LARGEST:
        raise Unwieldy(_TOO_LARGE)


async def check(data: bytes, aside: Aside) -> None:
    """Raise `Unwieldy` if the JSON holds too many values. They are counted before any is created."""
    if len(data) > _LONG:
        await aside.run(_count, data)


def _count(data: bytes) -> None:
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) <= MOST_VALUES:
        return  # also if all of them were outside of texts
    if data.count(b'"') - data.count(b'\\"') > 2 * MOST_VALUES:
        raise Unwieldy("it sent a message of too many texts")
    try:
        json_data.check_parts(data, MOST_VALUES)
    except json_data.Unwieldy as error:
        raise Unwieldy("it sent a message of too many values") from error
