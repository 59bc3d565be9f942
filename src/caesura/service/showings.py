"""Showings: an API that takes decisions without the name of a question records what it shows, and to whom.

The record is committed before the question is sent, so a client that answers at once is not refused. Sending
does not depend on it: what could not be recorded is recorded before the next decision here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from caesura.core.errors import CaesuraError
from caesura.core.interrupts import Interrupt
from caesura.store import showings
from caesura.store.database import Database

logger = logging.getLogger(__name__)

#: Seconds that sending a question waits for its record.
_PATIENCE = 2.0
#: How many showings are remembered: those that were recorded, and those that could not be.
_REMEMBERED = 4096

#: The ids of questions, by the number of their turn.
Asked = Mapping[int, Sequence[str]]
#: A question and a viewer.
_Showing = tuple[str, str]


class Showings:
    def __init__(self, database: Database, patience: float = _PATIENCE) -> None:
        self._database, self._patience = database, patience
        self._recorded: OrderedDict[_Showing, None] = OrderedDict()
        self._owed: OrderedDict[_Showing, None] = OrderedDict()

    async def show(self, turn: int, items: Sequence[Interrupt], viewer: str) -> tuple[Interrupt, ...]:
        """Record that these questions of a turn are about to be shown to this viewer. Returns those that
        still wait; all of them if none does, or if storage does not answer in time."""
        waiting = await self._record({turn: [item.id for item in items]}, viewer)
        return tuple(item for item in items if item.id in waiting) or tuple(items)

    async def note(self, asked: Asked, viewer: str) -> None:
        """As `show`, for questions that were just read as waiting."""
        if any(showing not in self._recorded for showing in _each(asked, viewer)):
            await self._record(asked, viewer)

    async def settle(self, asked: Asked, viewer: str) -> None:
        """Record these if they were shown here and could not be recorded then."""
        if any(showing in self._owed for showing in _each(asked, viewer)):
            owed = {turn: [id for id in ids if (id, viewer) in self._owed] for turn, ids in asked.items()}
            await self._record(owed, viewer)

    async def _record(self, asked: Asked, viewer: str) -> set[str]:
        """The questions of these turns that wait; none if storage does not answer in time."""
        new = [showing for showing in _each(asked, viewer) if showing not in self._recorded]
        try:
            async with asyncio.timeout(self._patience):
                if not new:
                    return await self._database.read(_waiting, asked)
                waiting = await self._database.write_lightly(_shown, asked, viewer)
        except (CaesuraError, TimeoutError) as error:
            logger.warning("it was not recorded that a question is shown: %s", error)
            for showing in new:
                _remember(self._owed, showing)
            return set()
        for showing in new:
            self._owed.pop(showing, None)
            _remember(self._recorded, showing)
        return waiting


def _each(asked: Asked, viewer: str) -> list[_Showing]:
    return [(id, viewer) for ids in asked.values() for id in ids]


def _waiting(connection: Connection, asked: Asked) -> set[str]:
    return {id for turn in asked for id in showings.waiting(connection, turn)}


def _shown(connection: Connection, asked: Asked, viewer: str) -> set[str]:
    # In one order on every node, to avoid deadlocks.
    return {id for turn in sorted(asked) for id in showings.add(connection, turn, asked[turn], viewer)}


def _remember(showings: OrderedDict[_Showing, None], showing: _Showing) -> None:
    showings[showing] = None
    showings.move_to_end(showing)
    if len(showings) > _REMEMBERED:
        showings.popitem(last=False)
