"""The engine: it begins runs, stops them, and knows how they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from caesura.agents.loader import Catalog
from caesura.agents.tools.registry import Registry
from caesura.agents.tools.share import DiskShare
from caesura.core.errors import BadAnswer, CodecError, Unavailable
from caesura.core.events import StopReason
from caesura.core.interrupts import Answer, Interrupt
from caesura.core.turns import Turn
from caesura.engine import past
from caesura.engine.build import Builder
from caesura.engine.history import BYTES as HISTORY_BYTES
from caesura.engine.history import History
from caesura.engine.limits import Limits
from caesura.engine.past import Past
from caesura.engine.runner import Runner
from caesura.engine.supervisor import Supervisor
from caesura.log import Log
from caesura.store import events, life, turns
from caesura.store.database import Database

#: So many events are read along with a claim. More would keep other writers waiting.
_SHORT = 1000


class Begun(NamedTuple):
    """A turn that was made or moved. `ours`: this process has claimed it with that, and runs it; `past` is
    its past, where that was read. All that comes of it lies after the event `after`. Not `new`: an earlier
    request has done it."""

    turn: Turn
    ours: bool = False
    past: Past | None = None
    after: int = 0
    new: bool = True


class Engine:
    def __init__(
        self,
        database: Database,
        log: Log,
        catalog: Catalog,
        registry: Registry,
        *,
        workspaces: Path,
        default_model: str,
        environ: Mapping[str, str],
        limits: Limits | None = None,
        lease: float = 15.0,
        poll: float = 1.0,
        callbacks: Sequence[Any] = (),
        history_bytes: int = HISTORY_BYTES,
        disk_share: DiskShare | None = None,
        capacity: int = 500,
    ) -> None:
        """`callbacks` are LangChain's: they watch every model and tool call. `history_bytes` bounds what is
        kept in memory of conversations that go on. `disk_share` is that of the registry's tools. `capacity`
        is how many turns run at once."""
        self.catalog = catalog
        self.registry = registry
        self._database = database
        self.builder = Builder(catalog, registry, database, default_model, environ)
        self.supervisor = Supervisor(database, lease=lease, poll=poll, capacity=capacity)
        self.workspaces = workspaces
        self.disk_share = disk_share or DiskShare()
        self.runner = Runner(
            database,
            log,
            self.builder,
            workspaces,
            limits or Limits(),
            self.supervisor.spawn,
            callbacks,
            History(database, history_bytes),
        )

    def start(self, started: Callable[[Turn], None] = lambda turn: None) -> None:
        """Begin to work, first of all on what a process that died has left. `started` is told of each run
        that begins here."""
        self.supervisor.start(self.runner, started)

    async def drain(self, grace: float = 5.0) -> None:
        """Let go of all runs, so that the next process goes on with them."""
        await self.supervisor.drain(grace)

    # --- a run begins

    async def begin(self, work: Callable[[Connection], Begun], told: Callable[[str], None]) -> Begun:
        """Do the work that makes or moves a turn, in one transaction, and run the turn if this process
        claimed it there. `told` is called with its id once that is committed, before the turn runs; this
        returns when it survives power loss."""
        if self.draining:
            raise Unavailable("the server is shutting down")

        def committed(begun: Begun) -> None:
            told(begun.turn.id)
            if not begun.new:
                return
            self.runner.history.forget(begun.turn.id)
            if begun.ours and not self.supervisor.works_on(begun.turn):
                self.supervisor.run(begun.turn, begun.past)

        return await self._database.write_ahead(work, committed)

    def create(self, connection: Connection, new: life.New) -> Begun:
        """Make a turn, as part of the work: this process claims it if there is room."""
        room, supervisor = self.supervisor.room, self.supervisor
        owner = supervisor.owner if room else None
        turn = life.create(connection, replace(new, owner=owner, lease_ms=supervisor.lease_ms))
        return Begun(turn, ours=owner is not None)

    def take(self, connection: Connection, turn_id: str) -> Begun:
        """Claim a turn that nobody holds, as part of the work, if there is room; with its past, where that is
        short."""
        turn, supervisor = turns.get(connection, turn_id), self.supervisor
        last = events.last(connection, turn.num)
        room = supervisor.room
        claimed = life.claim(connection, turn.num, supervisor.owner, supervisor.lease_ms) if room else None
        if claimed is None:
            return Begun(turn, after=last)
        known = None
        if last <= _SHORT:
            with suppress(CodecError):  # the run that cannot read its log either fails its turn
                known = past.read(connection, turn.num)
        return Begun(claimed, ours=True, past=known, after=last)

    # --- and ends

    async def stop(
        self, turn: Turn, reason: StopReason, unless: Callable[[Connection], bool] = lambda connection: False
    ) -> bool:
        """Stop a turn, wherever it runs or waits, and wait a while for its end; false when it has ended. What
        was said is kept. `unless` is asked in the transaction that stops it, in any thread."""
        supervisor = self.supervisor

        def request(connection: Connection) -> tuple[bool, Turn | None]:
            if unless(connection):
                return False, None
            asked = life.request_stop(connection, turn.num, reason)
            # What nobody runs (it waits, or its owner is gone) is ended from here.
            return asked, life.claim(connection, turn.num, supervisor.owner, supervisor.lease_ms)

        asked, claimed = await self._database.write(request)
        if claimed is not None:
            supervisor.run(claimed)
        elif asked:
            supervisor.stop(turn.num, reason)
        if asked:
            await supervisor.join(turn.num)
        return asked

    async def discard(self, num: int) -> None:
        """End a run whose turn is about to be deleted: nothing more is written."""
        await self.supervisor.discard(num)

    def hurry(self, turn: Turn) -> None:
        """The person has answered: do not hold the segment open for a title."""
        self.supervisor.hurry(turn)

    # --- how it is

    def check_edit(self, item: Interrupt, answer: Answer) -> None:
        """Refuse arguments that the tool would not take."""
        if answer.decision != "edit" or answer.args is None or item.name not in self.registry.names:
            return
        if (fault := self.registry.get(item.name).fault(answer.args)) is not None:
            raise BadAnswer(fault)

    def shown(self, num: int, epoch: int) -> int | None:
        """How many messages a history shows of a turn that runs here under this claim; None where it does
        not."""
        return self.runner.shown(num, epoch)

    def runs(self, num: int) -> bool:
        """Whether the turn runs here."""
        return self.supervisor.runs(num)

    def owns(self, turn: Turn) -> bool:
        """Whether the turn was this process's own when it was read."""
        return turn.owner == self.supervisor.owner

    @property
    def draining(self) -> bool:
        """Whether this process is about to end: it takes nothing up any more."""
        return self.supervisor.draining

    @property
    def alive(self) -> bool:
        """Whether leases are renewed and work is looked for."""
        return self.supervisor.alive

    @property
    def count(self) -> int:
        """How many turns run here."""
        return self.supervisor.count

    @property
    def history_size(self) -> int:
        """The bytes of what is kept in memory of conversations that go on."""
        return self.runner.history.size

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that is waited for when the process ends."""
        return self.supervisor.spawn(work)
