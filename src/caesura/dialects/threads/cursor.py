"""Event ids of a thread: one number that names the turn and the event, and grows along the thread.

The turn's ordinal is in the upper bits, the event's cursor in the lower 32: up to two million turns fit
into what JavaScript holds exactly.
"""

from __future__ import annotations

from typing import NamedTuple

from caesura.core.errors import BadInput

_BITS = 32
_LARGEST = 2**53


class Cursor(NamedTuple):
    ordinal: int
    event: int


def number(ordinal: int, event: int) -> int:
    return ordinal << _BITS | event


def parse(text: str) -> Cursor:
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) < _LARGEST):
        raise BadInput("Last-Event-ID must be an id that this thread's stream has sent")
    return Cursor(int(text) >> _BITS, int(text) & (1 << _BITS) - 1)
