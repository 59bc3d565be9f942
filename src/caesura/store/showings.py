"""Showings: which questions were shown, and to which viewers. A viewer is the log-in behind a request."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, func, or_, select, update

from caesura.store.schema import interrupts, waits
from caesura.store.statements import Prepared

#: The characters of a viewer's name, and how many viewers one question remembers.
_NAME, _MOST = 8, 24
#: Closes each name, so that no name is found across two others.
_END = ","
_LONGEST = _MOST * (_NAME + len(_END))


def add(connection: Connection, turn: int, ids: Sequence[str], viewer: str) -> list[str]:
    """Record that these questions of the turn are shown to this viewer, as far as they wait. Returns the
    questions of the turn that wait."""
    found = _WAITING.rows(connection, turn=turn)
    # In one order on every node, to avoid deadlocks.
    for row in sorted(row for row in found if row.id in ids):
        if row.shown_to is None or _can_add(row.shown_to, viewer):
            _ADD.count(connection, at_id=row.id, mark=_mark(viewer))
    return [row.id for row in found]


def waiting(connection: Connection, turn: int) -> list[str]:
    """The questions of the turn that wait."""
    return [row.id for row in _WAITING.rows(connection, turn=turn)]


def unseen(connection: Connection, turn: int, ids: Collection[str], viewer: str) -> bool:
    """Whether one of these questions was shown to nobody; or not to this viewer, although another question
    of the turn was. The caller holds the turn."""
    rows = _OF.rows(connection, turn=turn)
    asked = [row.shown_to for row in rows if row.id in ids]
    if any(shown is None for shown in asked):
        return True
    stale = any(_mark(viewer) in (row.shown_to or "") for row in rows if row.id not in ids)
    return stale and any(_can_add(shown, viewer) for shown in asked)


def _can_add(shown: str, viewer: str) -> bool:
    """Whether the viewer is not among these, and there is space for it. If there is none, nobody knows
    whether the question was shown to it."""
    return _mark(viewer) not in shown and len(shown) < _LONGEST


def _mark(viewer: str) -> str:
    return viewer[:_NAME] + _END


# Built once: building a statement costs more than running it.
_ITS = select(interrupts.c.id, interrupts.c.shown_to).where(interrupts.c.turn == bindparam("turn"))
_OF = Prepared(_ITS)
_WAITING = Prepared(_ITS.where(waits(interrupts)))
_KNOWN = func.coalesce(interrupts.c.shown_to, "")
_ADD = Prepared(
    update(interrupts)
    .where(
        interrupts.c.id == bindparam("at_id"),
        or_(interrupts.c.shown_to.is_(None), ~_KNOWN.contains(bindparam("mark"))),
    )
    .values(shown_to=_KNOWN + bindparam("mark"))
)
