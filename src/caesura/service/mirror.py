"""The mirror: shows the questions that wait for a person in Redis, to other programs of the operator's.

The database decides what waits. The mirror only copies it, in a task of its own: no request and no run waits
for Redis. It is told of changes in this process. Every few seconds one process compares all entries with the
database, and so finds what was missed: while Redis was away, by a process that died, or by a FLUSHALL.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from caesura.agents.aside import Aside
from caesura.core import interrupt_state, interrupts, json_data
from caesura.core.errors import CaesuraError
from caesura.core.interrupt_state import Session
from caesura.engine.changes import Change
from caesura.service.redis_entries import Entry, Lost, RedisEntries, key
from caesura.store import mirrored
from caesura.store.database import Database
from caesura.store.mirrored import Place, Shown

logger = logging.getLogger(__name__)

#: Seconds between two comparisons, and before the next attempt after a failure.
_COMPARISON, _PAUSE = 5.0, 1.0
#: How many conversations are written at once: their questions are in memory. How many are compared at once.
_BATCH, _PAGE = 32, 500
#: How many changed conversations are remembered. When there are more, all are compared instead.
_MOST = 10_000
#: Seconds for the last changes when the process ends.
_LAST = 1.0

Agents = Callable[[], Collection[str]]


class Mirror:
    def __init__(self, database: Database, entries: RedisEntries, agents: Agents) -> None:
        """`agents` returns the names of the agents whose questions are shown."""
        self._database, self._entries, self._all_agents = database, entries, agents
        self._agents: Collection[str] = agents()
        self._aside = Aside("caesura-mirror")
        self._changed: dict[str, None] = {}
        self._in_hand: list[str] = []
        self._news = asyncio.Event()
        self._compare_at = 0.0
        #: Whether nothing is shown, and nothing is to be.
        self._idle = False
        self._behind = False
        #: Questions that are reported already.
        self._unreadable: set[str] = set()

    def changed(self, change: Change) -> None:
        """Look at this conversation soon."""
        if self._idle or (change.agent is not None and change.agent not in self._agents):
            return
        if len(self._changed) >= _MOST:
            self._changed.clear()
            self._compare_at = 0.0
        self._changed[change.conversation_id] = None
        self._news.set()

    async def keep(self) -> None:
        """Copy changes until cancelled."""
        while True:
            try:
                await self._work()
            except Exception as error:  # noqa: BLE001 - it is tried again soon, whatever it was
                await self._fall_behind(error)
            else:
                self._catch_up()
            await self._rest()

    async def aclose(self) -> None:
        """Copy the last changes, if Redis answers."""
        if not self._behind:
            with suppress(Lost, CaesuraError, TimeoutError):
                async with asyncio.timeout(_LAST):
                    await self._copy_changed()
        await self._entries.aclose()

    async def _work(self) -> None:
        agents = self._all_agents()
        if agents != self._agents:
            self._agents, self._idle, self._compare_at = agents, False, 0.0
        if not self._idle and time.monotonic() >= self._compare_at:
            self._compare_at = time.monotonic() + _COMPARISON
            await self._compare()
        await self._copy_changed()

    async def _copy_changed(self) -> None:
        while batch := self._in_hand or list(self._changed)[:_BATCH]:
            self._in_hand = batch
            for name in batch:
                self._changed.pop(name, None)
            await self._copy(batch)
            self._in_hand = []

    async def _copy(self, names: Sequence[str]) -> None:
        token = await self._entries.begin(names)
        begun = time.monotonic()
        found = await self._database.read(mirrored.shown, self._agents, names)
        entries = await self._aside.run(self._read, found, begun)
        await self._entries.write(token, names, entries)

    def _read(self, found: Sequence[Shown], begun: float) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        for item in found:
            try:
                entries[item.conversation_id] = _entry(item, begun)
            except Exception as error:  # noqa: BLE001 - a row that cannot be read must not hide the others
                if item.mark not in self._unreadable:
                    self._unreadable.add(item.mark)
                    logger.warning("questions of %s cannot be shown: %s", item.conversation_id, error)
        return entries

    async def _compare(self) -> None:
        """Find what is missing in Redis, and what is there but waits no more."""
        if not await self._entries.chosen(_COMPARISON * 0.8):
            return
        place: Place | None = Place()
        while place is not None and self._agents:
            waiting, place = await self._database.read(mirrored.page, self._agents, place, _PAGE)
            if waiting:
                await self._copy_all(await self._entries.missing(waiting))
        cursor, names = await self._entries.known(0, _PAGE)
        self._idle = not (self._agents or names or cursor)
        while True:
            waits = await self._database.read(mirrored.waiting, self._agents, names)
            await self._copy_all([name for name in names if name not in waits])
            if not cursor:
                return
            cursor, names = await self._entries.known(cursor, _PAGE)

    async def _copy_all(self, names: Sequence[str]) -> None:
        for start in range(0, len(names), _BATCH):
            await self._copy(names[start : start + _BATCH])
        await self._copy_changed()

    async def _rest(self) -> None:
        if self._behind:
            await asyncio.sleep(_PAUSE)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(max(self._compare_at - time.monotonic(), _PAUSE)):
                await self._news.wait()
        self._news.clear()

    async def _fall_behind(self, error: Exception) -> None:
        # What was changed meanwhile is found by comparing everything.
        self._changed.clear()
        self._in_hand = []
        self._compare_at = 0.0
        expected = isinstance(error, Lost | CaesuraError)
        level = logging.WARNING if self._agents and not self._behind else logging.DEBUG
        logger.log(level, "questions are not shown in Redis: %s", error, exc_info=None if expected else error)
        self._behind = True
        await self._entries.reset()

    def _catch_up(self) -> None:
        if self._behind:
            self._behind = False
            level = logging.WARNING if self._agents else logging.DEBUG
            logger.log(level, "questions are shown in Redis again")


def _entry(item: Shown, begun: float) -> Entry:
    session = item.conversation_id if item.session is None else item.session
    found = [interrupts.from_dict(json_data.loads(body)) for body in item.bodies]
    state = interrupt_state.of(Session(item.agent, session), found, item.created_at)
    name = key(item.user_id, item.agent, item.session, item.conversation_id)
    ends = None if item.left is None else begun + item.left / 1000
    return Entry(item.mark, name, json_data.dumps(state), ends)
