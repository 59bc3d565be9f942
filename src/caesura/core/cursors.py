"""Cursors: one number for an event of a turn and the attempt that wrote it, as docs/protocol.md says.

A cursor in a conversation names the turn too, by its ordinal: it grows along the conversation. The ordinal is
in the upper bits, the turn's cursor in the lower 32. Up to two million turns fit into what JavaScript holds
exactly.
"""

from __future__ import annotations

from typing import NamedTuple

#: The largest attempt that a cursor can name. All later attempts share this number.
MOST = 255
#: A log has fewer events than this. `CAESURA_TURN_BYTES` ensures it.
EVENTS = 1 << 24


def make(epoch: int, seq: int) -> int:
    return min(epoch, MOST) * EVENTS + seq


def seq(cursor: int) -> int:
    return cursor % EVENTS


def attempt(cursor: int) -> int:
    """The attempt that the cursor names; 0 if the cursor is only the number of an event."""
    return cursor // EVENTS


def names(cursor: int, epoch: int) -> bool:
    """Whether the cursor can name an event that was written under this epoch."""
    return attempt(cursor) in (0, min(epoch, MOST))


_BITS = 32
_LARGEST = 2**53


class Place(NamedTuple):
    """A cursor in a conversation: the ordinal of the turn, and the cursor within the turn."""

    ordinal: int
    cursor: int


def along(ordinal: int, cursor: int) -> int:
    return ordinal << _BITS | cursor


def place(text: str) -> Place | None:
    """The place that a cursor in a conversation names; None if the text is no such cursor."""
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) < _LARGEST):
        return None
    return Place(int(text) >> _BITS, int(text) & (1 << _BITS) - 1)


def ordinal(number: int) -> int:
    """The ordinal in a cursor in a conversation."""
    return number >> _BITS
