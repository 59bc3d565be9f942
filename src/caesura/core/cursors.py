"""Cursors: one number for an event of a turn and the attempt that wrote it, as docs/protocol.md says."""

from __future__ import annotations

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
