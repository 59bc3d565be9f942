"""Cursors: one number for an event of a turn and the attempt that wrote it, as docs/protocol.md says."""

from __future__ import annotations

#: The largest attempt that a cursor can name: later ones all have this name.
MOST = 255
#: A log has fewer events than that: `CAESURA_TURN_BYTES` sees to it.
EVENTS = 1 << 24


def make(epoch: int, seq: int) -> int:
    return min(epoch, MOST) * EVENTS + seq


def seq(cursor: int) -> int:
    return cursor % EVENTS


def attempt(cursor: int) -> int:
    """0 where the cursor is a bare number of an event."""
    return cursor // EVENTS


def names(cursor: int, epoch: int) -> bool:
    """Whether the cursor can be to an event that was written under this epoch."""
    return attempt(cursor) in (0, min(epoch, MOST))
