"""The past of a turn: what its earlier owners left in the database."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection

from caesura.core.events import Envelope
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
    found = events.read(connection, turn, 0, EVERYTHING)
    return Past(found, tool_calls.of(connection, turn), interrupts.of(connection, turn))
