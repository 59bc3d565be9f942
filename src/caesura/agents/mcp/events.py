"""The stream of events of an MCP server: each is read as a whole, and handed on in the plainest form."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from caesura.agents.mcp import messages
from caesura.agents.mcp.allowance import Allowance, Kind, kind_of
from caesura.agents.mcp.messages import Unwieldy
from caesura.agents.mcp.shares import Held, Share
from caesura.core import json_data

#: An event with more lines would take long to take apart.
_MOST_LINES = messages.MOST_VALUES
#: Milliseconds after which a stream that has ended is asked for again, whatever the server wishes.
_SOONEST, _LATEST = 1_000, 30_000
_DIGITS = re.compile(rb"[0-9]{1,15}")
_FIELDS = (b"event", b"id", b"retry")


async def events(
    given: AsyncIterator[bytes], held: Held, share: Share, allowance: Allowance
) -> AsyncIterator[bytes]:
    """The events in these bytes, each with its data in one line. Raises `Unwieldy` before anybody joins or
    parses the lines of an event that is too large. What has no end is no event."""
    after_return = False
    async for chunk in given:
        # A return at the end may be half of a line end.
        data = chunk[1:] if after_return and chunk.startswith(b"\n") else chunk
        after_return = chunk.endswith(b"\r") if chunk else after_return
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        start = max(len(held.data) - 1, 0)
        held.add(data)
        for _ in range(held.data.count(b"\n:", start)):  # comments, also of an event that never ends
            allowance.take(0)
        while (end := held.data.find(b"\n\n", start)) >= 0:
            event = held.take(end, 2)
            start = 0
            plain, kind = await _checked(event, share)
            allowance.take(len(event), kind)
            if plain:
                yield plain
        held.check()


async def _checked(event: bytes, share: Share) -> tuple[bytes, Kind]:
    messages.check_size(len(event))
    if messages.is_long(event):
        return await share.run(_plain, event)
    return _plain(event)


def _plain(event: bytes) -> tuple[bytes, Kind]:
    """The event with one line for each field, nothing if it has no field; and what its message is."""
    if event.count(b"\n") >= _MOST_LINES:
        raise Unwieldy("it sent a message of too many lines")
    parts = list[bytes]()
    fields = dict[bytes, bytes]()
    for line in event.split(b"\n"):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            parts.append(value)
        elif name in _FIELDS:
            fields[name] = value
    if (wished := fields.pop(b"retry", None)) is not None and _DIGITS.fullmatch(wished) is not None:
        fields[b"retry"] = b"%d" % min(max(int(wished), _SOONEST), _LATEST)
    kind: Kind = "other"
    lines = [name + b": " + value for name, value in fields.items()]
    if parts:
        # In JSON, which the data is, a line end can only stand where a blank can.
        message = b" ".join(parts)
        messages.count(message)
        kind = _kind(message)
        lines.append(b"data: " + message)
    return b"\n".join(lines) + b"\n\n" if lines else b"", kind


def _kind(message: bytes) -> Kind:
    try:
        return kind_of(json_data.loads(message))
    except ValueError:
        return "unreadable"
