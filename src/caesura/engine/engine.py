"""The engine as the service sees it: begins turns, stops them, and reports their state."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from caesura.agents.loader import Catalog
from caesura.agents.mcp.arguments import misfit
from caesura.agents.mcp.servers import Servers
from caesura.agents.model_names import NOTHING_REPLACED
from caesura.agents.tools.registry import Registry
from caesura.agents.tools.tool import CheckFailed, ToolError
from caesura.core import ids
from caesura.core.answers import Answer
from caesura.core.errors import AgentChanged, BadAnswer, CodecError, Unavailable
from caesura.core.events import StopReason
from caesura.core.interrupts import Approval, Interrupt
from caesura.core.turns import Turn
from caesura.engine import past
from caesura.engine.builder import Builder
from caesura.engine.cancellation import strays_fail_in_tasks
from caesura.engine.changes import Changes
from caesura.engine.history import BYTES as HISTORY_BYTES
from caesura.engine.history import History
from caesura.engine.limits import Limits
from caesura.engine.observers import Observer, Observers
from caesura.engine.past import Past
from caesura.engine.run import stop_reason
from caesura.engine.runner import Runner
from caesura.engine.supervisor import Supervisor
from caesura.log import Log
from caesura.models.connections import Connections
from caesura.store import events, interrupts, life, turns
from caesura.store.database import Database

logger = logging.getLogger(__name__)

#: A claim reads the past of a turn with at most this many events. A longer read would delay other writers.
_SHORT = 1000
#: Seconds in which a tool must have checked edited arguments.
_CHECK = 20.0


class Begun(NamedTuple):
    """A turn that was created or moved to another status. `ours`: this process claimed the turn in the same
    transaction, and runs it. `past`: the turn's past, if it was read. `after`: new events of the turn come
    after the event with this number. `new` is false if an earlier request did the work."""

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
        observers: Sequence[Observer] = (),
        connections: Connections | None = None,
        history_bytes: int = HISTORY_BYTES,
        capacity: int = 500,
        replaced_models: Mapping[str, str] = NOTHING_REPLACED,
    ) -> None:
        """`observers` are told of every model and tool call. `connections` are those to providers of models.
        `history_bytes` limits the memory for the histories of conversations. `capacity` is how many turns may
        run at once. `replaced_models` are names of models in files, each with the model to use instead."""
        self._database = database
        self._servers = Servers(environ, catalog.agents)
        self._builder = Builder(
            catalog,
            registry,
            database,
            default_model,
            environ,
            replaced_models,
            connections,
            self._servers,
        )
        #: Told of every conversation that changes in this process.
        self.changes = Changes()
        self.supervisor = Supervisor(database, lease=lease, poll=poll, capacity=capacity)
        self.runner = Runner(
            database,
            log,
            self._builder,
            workspaces,
            limits or Limits(),
            self.supervisor.spawn,
            Observers(observers),
            History(database, history_bytes),
            self.changes,
        )

    def start(self, started: Callable[[Turn], None] = lambda turn: None) -> None:
        """Start working, first on turns that a dead process left behind. `started` is called with the turn of
        each run that begins in this process."""
        strays_fail_in_tasks(asyncio.get_running_loop())
        self.supervisor.start(self.runner, started)

    async def drain(self, grace: float = 5.0) -> None:
        """Release all runs, so that the next process continues them."""
        await self.supervisor.drain(grace)
        await self._servers.close()

    # --- a run begins

    async def begin(self, work: Callable[[Connection], Begun], committed: Callable[[str], None]) -> Begun:
        """Do the work that creates or moves a turn in one transaction, and run the turn if the work claimed
        it. `committed` is called with the turn's id after the commit and before the turn runs. Returns once
        the commit survives power loss."""
        if self.draining:
            raise Unavailable("the server is shutting down")

        def after_commit(begun: Begun) -> None:
            committed(begun.turn.id)
            if not begun.new:
                return
            self.runner.history.forget(begun.turn.id)
            self.changes.tell_of(begun.turn)
            if begun.ours and not self.supervisor.works_on(begun.turn):
                self.supervisor.run(begun.turn, begun.past)

        return await self._database.write_ahead(work, after_commit)

    def create(self, connection: Connection, new: life.New) -> Begun:
        """Create a turn as part of `begin`'s work. This process claims the turn if it has capacity."""
        supervisor = self.supervisor
        owner = supervisor.owner if supervisor.room else None
        turn = life.create(connection, replace(new, owner=owner, lease_ms=supervisor.lease_ms))
        self.check_agent(turn.agent)
        return Begun(turn, ours=owner is not None)

    def take(self, connection: Connection, turn_id: str) -> Begun:
        """Claim a turn that has no owner as part of `begin`'s work, if this process has capacity. The past is
        read along with the claim if it is short."""
        turn, supervisor = turns.get(connection, turn_id), self.supervisor
        self.check_agent(turn.agent)
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

    def check_agent(self, name: str) -> None:
        """Refuse what nobody here could go on with: the agent's file is gone, has a fault since a restart, or
        is on another server."""
        if name not in self._builder.names:
            told = "its file is gone or has a fault, which the log tells. Nothing is lost: try again later"
            raise AgentChanged(f"there is no agent {name} here now: {told}")

    # --- and ends

    async def stop(
        self, turn: Turn, reason: StopReason, unless: Callable[[Connection], bool] = lambda connection: False
    ) -> bool:
        """Stop a turn, on whichever node it runs or waits, and wait a limited time for its end. False when
        the turn has already ended. Its messages are kept. `unless` is called in the transaction that requests
        the stop, in any thread: if it returns true, nothing is stopped."""
        supervisor = self.supervisor
        claim = turn.num, supervisor.owner, supervisor.lease_ms

        def request(connection: Connection) -> tuple[str | None, Turn | None]:
            if unless(connection):
                return None, None
            requested = life.request_stop(connection, turn.num, reason)
            # A turn that nobody runs (it waits, or its owner is gone) is claimed and ended by this process.
            return requested, life.claim_stopped(connection, *claim) or life.claim(connection, *claim)

        requested, claimed = await self._database.write(request)
        if claimed is not None:
            self.changes.tell_of(claimed)
            supervisor.run(claimed)
        elif requested:
            supervisor.stop(turn.num, stop_reason(requested))  # another node finds the request in the row
        if requested:
            await supervisor.join(turn.num)
        return requested is not None

    async def discard(self, num: int) -> None:
        """End the run of a turn that is about to be deleted. The run writes nothing more."""
        await self.supervisor.discard(num)

    def hurry(self, turn: Turn) -> None:
        """The person has answered: do not hold the segment open for a title."""
        self.supervisor.hurry(turn)

    # --- how it is

    async def check_graph(self, user_id: str, interrupt_id: str) -> None:
        """Refuse an answer with which a graph cannot go on, because what asked is no part of it any more."""
        if not self._builder.has_graphs:
            return
        from caesura.engine.graphs import fit  # LangGraph takes half a second to load, and few need it

        def read(connection: Connection) -> tuple[Turn, dict[tuple[str | None, str], list[fit.Waiting]]]:
            turn = turns.get(connection, interrupts.get(connection, interrupt_id, user_id).turn_id)
            pending = [item.interrupt for item in interrupts.pending(connection, turn.num)]
            asking = {(item.parent, item.agent) for item in pending}
            return turn, {(call, name): fit.waiting(connection, turn.num, call) for call, name in asking}

        turn, asking = await self._database.read(read)
        self.check_agent(turn.agent)
        agent = self._builder.agent(turn.agent)
        for (call, name), found in asking.items():
            asks = agent if call is None else self._builder.worker(agent, name)
            if asks is None:
                continue  # the sub-agent is gone, which its call says
            graph = self._builder.current(asks).graph
            if bool(found) != bool(graph) or (
                found and not await fit.checked(self.runner.aside, graph, found)
            ):
                told = "cannot go on from this question. It stays open until a version that can is back"
                raise AgentChanged(f"the agent {asks.name} has changed, and {told}")

    async def check_edit(self, item: Interrupt, answer: Answer) -> None:
        """Refuse edited arguments that do not fit the tool's schema."""
        if not isinstance(item, Approval) or answer.decision != "edit" or answer.args is None:
            return
        if item.args_schema is not None and (unfit := misfit(item.args_schema, answer.args)) is not None:
            raise BadAnswer(unfit)
        tool = self._builder.tool(item.agent, item.name)
        try:
            async with asyncio.timeout(_CHECK):
                fault = await tool.check(answer.args) if tool is not None else None
        except ToolError as error:
            raise BadAnswer(str(error)) from error
        except TimeoutError as error:
            raise BadAnswer("the tool did not check these arguments in time") from error
        except CheckFailed as error:
            error_id = ids.error()
            logger.exception("the check of edited arguments of %s failed (%s)", item.name, error_id)
            raise BadAnswer(f"the tool failed to check these arguments ({error_id})") from error
        if fault is not None:
            raise BadAnswer(fault)

    def shown(self, num: int, epoch: int) -> int | None:
        """How many messages the history shows for a turn that runs in this process under this claim; None if
        it does not."""
        return self.runner.shown(num, epoch)

    def runs(self, num: int) -> bool:
        """Whether the turn runs here."""
        return self.supervisor.runs(num)

    def owns(self, turn: Turn) -> bool:
        """Whether this process owned the turn when its row was read."""
        return turn.owner == self.supervisor.owner

    @property
    def draining(self) -> bool:
        """Whether this process is shutting down: it starts no more runs."""
        return self.supervisor.draining

    @property
    def alive(self) -> bool:
        """Whether this process still renews its leases and looks for work."""
        return self.supervisor.alive

    @property
    def count(self) -> int:
        """How many turns run here."""
        return self.supervisor.count

    @property
    def history_size(self) -> int:
        """The bytes of conversation history that are kept in memory."""
        return self.runner.history.size

    def forget_old(self) -> None:
        """Free memory that holds what nobody has used for a while."""
        self.runner.history.forget_old()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that is waited for when the process ends."""
        return self.supervisor.spawn(work)
