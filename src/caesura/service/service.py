"""The service as a whole: everything that a person can do, the same for every dialect."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import NamedTuple

from sqlalchemy import Connection

from caesura.agents.tools.disk import Disk
from caesura.core.errors import CaesuraError, Unavailable
from caesura.engine.engine import Engine
from caesura.engine.workspaces import Workspaces
from caesura.log import Log
from caesura.service.agents import Agents
from caesura.service.artifacts import Artifacts
from caesura.service.conversations import Conversations, Refused
from caesura.service.feed import Feeds
from caesura.service.files import Files
from caesura.service.grants import Grants
from caesura.service.inbox import Inbox
from caesura.service.locks import PersonLocks
from caesura.service.long_reads import LongReads
from caesura.service.people import People, Registration
from caesura.service.presence import Presence
from caesura.service.showings import Showings
from caesura.service.stamps import Stamps
from caesura.service.streams import Streams
from caesura.service.tickets import Tickets
from caesura.service.turns import Turns
from caesura.store import changes, conversations, interrupts, keys, probe, readings, sessions, turns
from caesura.store.database import Database
from caesura.store.shares import UNBOUNDED, Share

logger = logging.getLogger(__name__)

_PAUSE = 1.0
_SWEEP, _SWEEP_MEMORY = 3600.0, 60.0
_QUICKEST = 0.3
#: Seconds for which a successful write shows that the storage takes writes.
_PROBED = 1.0


class Figures(NamedTuple):
    turns_queued: int
    interrupts_waiting: int


class Service:
    def __init__(
        self,
        database: Database,
        log: Log,
        engine: Engine,
        agents: Agents,
        workspaces: Workspaces,
        *,
        disconnect_grace: float = 5.0,
        registration: Registration = "open",
        share: Share = UNBOUNDED,
        refused: Refused = lambda error: None,
        disk: Disk | None = None,
    ) -> None:
        """`share` limits what each person may have; `refused` is called with the error of each request that
        exceeds it. `disk` is what the tools use, too."""
        self.engine, self.agents = engine, agents
        self._database, self._workspaces = database, workspaces
        self._answers_until = 0.0
        self.presence = Presence(disconnect_grace, self._left)
        #: Seconds between reports to other nodes about readers in this process.
        self._pace = max(disconnect_grace / 3, _QUICKEST)
        self.people = People(database, registration=registration)
        self.stamps = Stamps(database)
        self.long_reads = LongReads()
        locks = PersonLocks(database.shared)
        self.conversations = Conversations(
            database, log, engine, agents, workspaces, locks, self.long_reads, share, refused
        )
        self.turns = Turns(database, engine, agents, self.presence, locks, share, refused)
        self.artifacts = Artifacts(database, locks, share, refused)
        self.streams = Streams(database, log, self.presence, self.long_reads)
        self.inbox = Inbox(database, self.long_reads)
        self.showings = Showings(database)
        self.feeds = Feeds(database, self.conversations.counts)
        self.grants = Grants(database)
        self.files = Files(database, workspaces, disk or Disk())
        self.tickets = Tickets(database)

    def start(self) -> None:
        """Start working, first on turns that a dead process left behind."""
        self.engine.start(self.presence.started)
        self.feeds.start()
        self.engine.spawn(self._sweep())
        self.engine.spawn(self._sweep_workspaces())
        self.engine.spawn(self._sweep_memory())
        if self._database.shared:
            self.engine.spawn(self._tell_of_readers())
            self.engine.spawn(self.feeds.watch())

    async def drain(self, grace: float = 5.0) -> None:
        """Release all runs within `grace` seconds. Safe to call again."""
        self.presence.close()
        await self.engine.drain(grace)
        await self.long_reads.run(self._workspaces.close)

    @property
    def draining(self) -> bool:
        """Whether this process is shutting down."""
        return self.engine.draining

    @property
    def working(self) -> bool:
        """Whether this process renews its leases and looks for work."""
        return self.engine.alive

    @property
    def running(self) -> int:
        """How many turns run in this process."""
        return self.engine.count

    @property
    def history_size(self) -> int:
        """The bytes of conversation history that this process keeps in memory."""
        return self.engine.history_size

    async def answering(self, within: float) -> bool:
        """Whether the database takes a write within this time. The call returns by then, even if the attempt
        hangs. A success counts for a moment: anybody may ask this as often as they like."""
        if time.monotonic() < self._answers_until:
            return True
        answered = asyncio.Event()
        look = self.engine.spawn(self._look(answered))
        await asyncio.wait([look], timeout=within)
        return answered.is_set()

    async def _look(self, answered: asyncio.Event) -> None:
        with suppress(CaesuraError):
            await self._database.write(probe.write)
            self._answers_until = time.monotonic() + _PROBED
            answered.set()

    async def figures(self) -> Figures:
        """The amount of work over all processes; `Unavailable` when the database does not answer."""
        return await self._database.read(_figures)

    async def _sweep(self) -> None:
        """Periodically delete rows that have expired."""
        while True:
            try:
                await self._database.write_lightly(keys.forget_old)
                await self._database.write_lightly(readings.forget_old)
                await self._database.write_lightly(sessions.forget_old)
                for user_id, last in await self._database.read(changes.outdated):
                    await self._database.write_lightly(changes.prune, user_id, last)
                await self.conversations.clear_all()
            except Exception as error:  # noqa: BLE001 - it is tried again later, whatever it was
                logger.warning("expired rows were not deleted: %s", error)
            await asyncio.sleep(_SWEEP)

    async def _sweep_workspaces(self) -> None:
        """Periodically remove files that belong to no conversation."""
        while True:
            try:
                await self._workspaces.sweep(lambda names: self._database.read(conversations.known, names))
            except Exception as error:  # noqa: BLE001 - it is tried again later, whatever it was
                logger.warning("the workspaces were not swept: %s", error)
            await asyncio.sleep(_SWEEP)

    async def _sweep_memory(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_MEMORY)
            self.engine.forget_old()

    async def _tell_of_readers(self) -> None:
        """Report which turns are read in this process to the nodes that run them, at once and then
        periodically."""
        while True:
            elsewhere = [num for num in self.presence.needed if not self.engine.runs(num)]
            try:
                if elsewhere:
                    await self._database.write_lightly(readings.keep, elsewhere, int(self._pace * 3000))
            except Exception as error:  # noqa: BLE001 - it is tried again soon, whatever it was
                logger.warning("other nodes could not be notified of the readers here: %s", error)
                await asyncio.sleep(_QUICKEST)
            await self.presence.wait_for_needed(self._pace)

    def _left(self, num: int) -> None:
        self.engine.spawn(self._leave(num))

    async def _leave(self, num: int) -> None:
        """Stop a turn that has no readers left, as soon as storage allows."""
        while not self.presence.readers(num):
            try:
                return await self.turns.leave(num)
            except Unavailable as error:
                logger.warning("a run without readers was not stopped: %s", error)
                await asyncio.sleep(_PAUSE)


def _figures(connection: Connection) -> Figures:
    return Figures(turns.count_queued(connection), interrupts.count_pending(connection))
