"""The past of a turn: what its earlier owners left in the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection

from caesura.core.events import Envelope
from caesura.core.fold import Transcript
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.store import events, interrupts, tool_calls
from caesura.store.tool_calls import ToolCall

EVERYTHING = 1 << 30


class Past(NamedTuple):
    events: list[Envelope]
    journal: dict[str, ToolCall]
    interrupts: list[StoredInterrupt]


NONE = Past([], {}, [])


def read(connection: Connection, turn: int) -> Past:
    """The past of a claimed turn. Nobody else can change it after the claim."""
    calls, asked = tool_calls.of_ahead(connection, turn), interrupts.of_ahead(connection, turn)
    found = events.read(connection, turn, 0, EVERYTHING)
    return Past(found, calls(), asked())


def joined(journal: Mapping[str, ToolCall], transcript: Transcript) -> dict[str, ToolCall]:
    """The same journal. A result that the transcript has too is in memory once."""
    results = {message.tool_call_id: message.content for message in transcript.finished}
    return {id: _sharing(call, results.get(id)) for id, call in journal.items()}


def _sharing(call: ToolCall, result: str | None) -> ToolCall:
    if call.output is None or call.output["text"] != result:
        return call
    return call._replace(output={**call.output, "text": result})
