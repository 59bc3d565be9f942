"""One segment of a turn, from its claim to its end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from caesura.agents.aside import Aside
from caesura.core import codec, fold, language
from caesura.core import events as ev
from caesura.core.errors import CaesuraError, Fenced, NotFound, Unavailable, Unwritable
from caesura.core.interrupts import Interrupt
from caesura.core.turns import Turn
from caesura.engine import cancellation, loop, past, view
from caesura.engine.builder import Builder
from caesura.engine.changes import Changes
from caesura.engine.ending import Ending, Outcome, failed
from caesura.engine.failures import NotStored, RunFailed, TimeLimit
from caesura.engine.history import History
from caesura.engine.holdings import Holding, Holdings
from caesura.engine.interrupts import Interrupts, closings
from caesura.engine.limits import Limits
from caesura.engine.observers import NOBODY, Observers, RunBegins
from caesura.engine.past import Past
from caesura.engine.run import Control, Released, Run, stop_reason
from caesura.engine.served import Patience
from caesura.engine.summaries import Summaries
from caesura.engine.titles import Spawn, Titles
from caesura.engine.versions import Versions
from caesura.log import Log, Stream
from caesura.store import life
from caesura.store.database import Database, brief

logger = logging.getLogger(__name__)

#: The limit of adoptions: a turn that crashes its process each time must not crash processes for ever.
_ADOPTIONS = 20
#: The limit of claims, for a turn that crashes its process before the log records the adoption.
_CLAIMS = 200
#: The seconds that a segment waits for MCP servers that are away.
SERVERS = 20.0


class Runner:
    def __init__(
        self,
        database: Database,
        log: Log,
        builder: Builder,
        workspaces: Path,
        limits: Limits,
        spawn: Spawn,
        observers: Observers = NOBODY,
        history: History | None = None,
        changes: Changes | None = None,
    ) -> None:
        self._database, self._log, self._builder = database, log, builder
        self._versions = Versions(database, builder)
        self._workspaces, self._limits = workspaces, limits
        self._observers = observers
        self.history = history or History(database)
        self.holdings = Holdings(limits.results, limits.results_of_person)
        self.aside = Aside("caesura-texts")
        self._runs: dict[int, Run] = {}
        changes = changes or Changes()
        self._interrupts = Interrupts(database, self.aside, changes)
        self._titles = Titles(database, log, spawn)
        self._summaries = Summaries(database, spawn)
        self._ending = Ending(log, self.history, spawn, changes)

    async def run(self, turn: Turn, control: Control, known: Past | None = None) -> None:
        """Work on a turn that this process has claimed, until its segment ends. `known` is the turn's past,
        if the claim has already read it."""
        try:
            with self.holdings.of(turn.user_id) as holding:
                running = self._run(turn, control, known, holding)
                del known  # it may be large, and the run lets go of it
                await running
        finally:
            self.history.release(turn)

    async def _run(self, turn: Turn, control: Control, known: Past | None, holding: Holding) -> None:
        if turn.epoch - turn.segment > _CLAIMS:
            await self._ending.give_up(turn, failed(turn, RunFailed(f"given up after {_CLAIMS} attempts")))
            return
        if turn.ended:
            await self._ending.close(turn)
            return
        try:
            if turn.status == "waiting" and not turn.stop_requested and await self._ending.is_open(turn):
                await self._ending.close(turn)
                return
            known = known or await self._past(turn)
            stream = self._log.begin(turn.num, turn.epoch, known.events[-1].seq if known.events else 0)
            with self._log.live(stream):
                run = await self._open(turn, control, known, stream, holding)
            del known  # the run has what it needs of it
        except (Fenced, NotFound, Unavailable):
            raise
        except Exception as error:  # noqa: BLE001 - what cannot be read now cannot be read later
            await self._ending.give_up(turn, failed(turn, error))
            return
        if _crashes(run):
            failure = RunFailed(f"given up after {_ADOPTIONS} attempts")
            await self._ending.give_up(turn, failed(turn, failure), run.transcript)
            return
        await self._work(run)

    async def _work(self, run: Run) -> None:
        with self._log.live(run.stream), self._known(run):
            self._begin(run)
            title = self._titles.begin(run)
            try:
                outcome = await self._outcome(run)
                await self._ending.end(run, outcome, title)
                self._summaries.begin(run)
            except (Released, asyncio.CancelledError):
                if run.control.leaving:  # keep finished work, so that it is not done again
                    with suppress(CaesuraError):
                        await run.stream.commit()
                raise
            except (Fenced, Unavailable):
                raise
            except Exception as error:
                if run.transcript.outcome is not None:
                    raise  # the turn has already ended
                await self._abandon(run, error)
            finally:
                if title is not None:
                    title.close()

    @property
    def agents(self) -> Collection[str]:
        """The agents that this process has."""
        return self._builder.names

    def shown(self, num: int, epoch: int) -> int | None:
        """How many messages the history shows for a turn that runs in this process under this claim; None if
        it does not. The number may be slightly ahead of what is committed."""
        run = self._runs.get(num)
        return run.transcript.shown() if run is not None and run.turn.epoch == epoch else None

    @contextmanager
    def _known(self, run: Run) -> Iterator[None]:
        self._runs[run.turn.num] = run
        try:
            yield
        finally:
            if self._runs.get(run.turn.num) is run:
                del self._runs[run.turn.num]

    # --- opening

    async def _past(self, turn: Turn) -> Past:
        return past.NONE if turn.epoch == 1 else await self._database.read(past.read, turn.num)

    async def _open(self, turn: Turn, control: Control, known: Past, stream: Stream, holding: Holding) -> Run:
        stream.size = len(turn.content) + sum(codec.size(item.event) for item in known.events)
        transcript = fold.timed(known.events)
        holding.recall(transcript.finished)
        agent = await self._versions.of(turn, transcript)
        history = await self.history.before(turn, view.bound(agent))
        first = history.turns[0].messages[0].content if history.turns else ""
        limits = agent.spec.limits
        return Run(
            turn=turn,
            agent=agent,
            language=language.of(f"{first} {turn.content}"),
            workspace=self._workspaces / turn.conversation_id,
            limits=replace(self._limits, steps=limits.max_steps, run=limits.max_seconds or self._limits.run),
            stream=stream,
            transcript=transcript,
            history=history,
            summaries=await self._summaries.of(turn, agent),
            journal=past.joined(known.journal, transcript),
            interrupts=known.interrupts,
            control=control,
            aside=self.aside,
            database=self._database,
            holding=holding,
            grants=set(turn.grants),
            patience=Patience(SERVERS, max(time.time() - turn.created_at / 1000, 0)),
            callbacks=self._observers.callbacks() if agent.has_graph else [],
        )

    def _begin(self, run: Run) -> None:
        """Append the events that the segment begins with."""
        turn, transcript = run.turn, run.transcript
        if stop := turn.stop_requested:
            run.control.stop = run.control.stop or stop_reason(stop)
        late = [ev.SegmentEnded()] if transcript.open and transcript.outcome is not None else []
        cause = run.cause = _cause(run)
        number = transcript.segment if cause == "adopt" else transcript.segment + 1
        agent = run.agent
        started = ev.RunStarted(agent.name, number, cause, turn.epoch, agent.version, agent.changed)
        # The text so far is void only if the agent speaks again. Otherwise it is kept as the reply.
        speaks = run.control.stop is None and not run.full() and run.agent.fault is None
        run.stale = list(transcript.drafts) if cause in ("adopt", "retry") and speaks else ()
        closed = closings(run) if cause == "resume" else []
        start = run.stream.last + len(late) if cause != "adopt" else None
        # Record the stop, so that a crash before the outcome does not reopen a question that is to be closed.
        stop = "timeout" if cause == "close" and turn.stop_requested is None else None
        events: list[ev.Event] = [*late, started, *closed]
        if cause == "start" and turn.status == "running":
            run.say(started, lax=True)  # the row was made that way
        else:
            also = brief(lambda c: life.begin_segment(c, turn, number, start, stop))
            run.note(*events, also=also, lax=True)
        if agent.foreign:
            run.void_stale()  # tasks of a graph do other things before one speaks

    # --- running

    async def _outcome(self, run: Run) -> Outcome:
        """The outcome of the segment. Errors become an outcome as well."""
        clock = asyncio.timeout(max(run.limits.run - run.turn.running_ms / 1000, 0.001))
        closes = run.control.stop is not None or run.turn.status == "waiting"
        try:
            if closes:
                return await self._interrupts.close(run)
            if run.agent.fault is not None:
                return failed(run.turn, run.agent.fault)
            if run.full():
                return failed(run.turn, run.too_long())
            async with clock:
                return await self._drive(run)
        except asyncio.CancelledError:
            if run.control.stop is None or closes:
                raise  # interrupts may still be pending: the next owner closes them
            cancellation.forget()
            return ev.Stopped(run.control.stop)
        except TimeoutError as error:
            late = TimeLimit(f"the turn took longer than {run.limits.run:g} seconds")
            return failed(run.turn, late if clock.expired() else error)
        except (Fenced, Released, Unavailable, Unwritable):
            raise
        except Exception as error:  # noqa: BLE001 - a run may fail in any way, and ends in an event
            return failed(run.turn, error)

    async def _abandon(self, run: Run, error: Exception) -> None:
        """End a turn whose run produced rows that the database refuses. Another attempt would not help."""
        failure = NotStored()
        failure.__cause__ = error
        run.stream.fail(Unwritable())  # a title may still be about to be written
        known = await self._database.read(past.read, run.turn.num)
        await self._ending.give_up(run.turn, failed(run.turn, failure), fold.timed(known.events))

    async def _drive(self, run: Run) -> Outcome:
        run.control.stoppable = True
        try:
            found = await _advance(run, self._observers)
        finally:
            run.control.stoppable = False
        run.void_stale()
        if found:
            return await self._interrupts.ask(run, found)
        if run.agent.foreign and (asked := await self._interrupts.ask_in_words(run)):
            return asked
        return ev.Finished()


async def _advance(run: Run, observers: Observers) -> Mapping[str, Interrupt]:
    """Run the agent. Returns the interrupts that need an answer, if any, by the id under which the agent
    expects it."""
    if run.agent.foreign:
        from caesura.engine.graphs import drive  # LangGraph takes half a second to load, and few need it

        return await drive.advance(run)
    turn = run.turn
    begins = RunBegins(run.agent.name, turn.content, turn.user_id, turn.conversation_id, turn.id)
    with observers.run(begins) as (run.watching, ended):
        asked = await loop.converse(run)
        ended.output, ended.pauses = run.transcript.text, bool(asked)
    return asked


def _crashes(run: Run) -> bool:
    """Whether attempts to go on with the turn end their process. The next may not live for longer than one
    transaction, so the turn ends with its first."""
    stops = run.turn.stop_requested is not None
    return not stops and run.transcript.outcome is None and run.transcript.adoptions >= _ADOPTIONS


def _cause(run: Run) -> ev.Cause:
    outcome = run.transcript.outcome
    if run.stream.last == 0:
        return "start"
    if outcome is None:
        return "adopt"
    if run.turn.status == "waiting" or (run.turn.stop_requested and isinstance(outcome, ev.Interrupted)):
        return "close"
    return "resume" if isinstance(outcome, ev.Interrupted) else "retry"
