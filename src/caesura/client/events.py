"""Events of the native API, decoded from the wire."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, get_args

from caesura.client import values
from caesura.client.connection import FAILURES, Connection, path_of
from caesura.client.errors import Rewound, Unreachable
from caesura.core import cursors, json_data
from caesura.core import events as ev
from caesura.core.events import Envelope

#: The event classes by their name on the wire.
KINDS: dict[str, type[ev.Event]] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in get_args(ev.Event)
}
#: Begins the comment that tells the time of a stream's first event, if this event has no time of its own.
_TIME = b"at "


class ReceivedEvent(Envelope):
    """An event as received from a server. `cursor` is the cursor to resume with."""

    cursor: int


async def follow(connection: Connection, turn_id: str, after: int) -> AsyncGenerator[ReceivedEvent, None]:
    """Every event strictly after the cursor, once and in order, however often the connection breaks."""
    path = path_of("turns", turn_id, "events")
    patience = connection.patient()
    reader = Reader(after)
    while True:
        try:
            async with connection.stream(path, reader.cursor) as response:
                if response.status_code == 204:
                    return
                begun = reader.cursor
                async for block in _blocks(response.aiter_bytes()):
                    patience.renew()
                    if (received := reader.read(block)) is not None:
                        yield received
            if reader.cursor == begun:
                raise Unreachable("the stream ended before it brought anything")
        except FAILURES as error:
            await connection.recover(error, patience)


class Reader:
    """Turns blocks of a stream into events. `cursor` is that of the last event."""

    def __init__(self, after: int = 0) -> None:
        self.cursor = after
        self._at = 0

    def read(self, block: bytes) -> ReceivedEvent | None:
        """The event, or None for a comment or an event type that only newer versions know."""
        fields = dict(line.partition(b": ")[::2] for line in block.split(b"\n"))
        if b"data" not in fields:
            # Times do not depend on where a connection breaks: the comment counts only for the first event.
            if not self._at and (comment := fields.get(b"", b"")).startswith(_TIME):
                self._at = int(comment[len(_TIME) :])
            return None
        cursor = int(fields[b"id"])
        seq = cursors.seq(cursor)
        if seq != cursors.seq(self.cursor) + 1:
            raise Rewound(seq - 1)
        self.cursor = cursor
        data = json_data.loads(fields[b"data"])
        # The three kinds of deltas have no time of their own: they are most of a stream. They get the time of
        # the event before them, or of the comment with which the first stream began.
        self._at = data.pop("at", self._at)
        event = decode(fields[b"event"].decode(), data)
        if event is None:
            return None
        received = ReceivedEvent(seq, self._at, event)
        received.cursor = cursor
        return received


def decode(name: str, data: dict[str, Any]) -> ev.Event | None:
    kind = KINDS.get(name)
    if kind is None:
        return None
    make = _MAKERS.get(kind)
    return make(data) if make is not None else values.pick(kind, data)


def _interrupted(data: dict[str, Any]) -> ev.Event:
    return ev.Interrupted(tuple(values.interrupt(item) for item in data["interrupts"]))


def _model_finished(data: dict[str, Any]) -> ev.Event:
    return values.pick(ev.ModelFinished, data, tool_calls=tuple(data["tool_calls"]))


_MAKERS: dict[type[ev.Event], Callable[[dict[str, Any]], ev.Event]] = {
    ev.Interrupted: _interrupted,
    ev.ModelFinished: _model_finished,
}


async def _blocks(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The blocks between empty lines. Lines end in a newline only: a text may contain other characters that
    some readers take for a line break."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n\n")
        for block in whole:
            yield block
