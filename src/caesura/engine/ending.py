"""How a segment ends: the outcome with its rows, then the title, then the segment's last event."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sqlalchemy import Connection

from caesura.agents.models import ModelUnavailable
from caesura.core import events as ev
from caesura.core import ids
from caesura.core.errors import CaesuraError, Fenced, StopRequested, Unavailable
from caesura.core.fold import Transcript
from caesura.core.messages import Message
from caesura.core.notes import NOTHING, About
from caesura.core.turns import Turn
from caesura.engine import model_failures, titles
from caesura.engine.branch import Cut
from caesura.engine.changes import Changes
from caesura.engine.failures import RunFailed
from caesura.engine.history import History
from caesura.engine.run import Run, stop_reason
from caesura.engine.titles import Spawn, Title
from caesura.log import Log
from caesura.log.bulk import Bulk
from caesura.log.stream import Also
from caesura.store import checkpoints, graph_states, interrupts, life, shares, usage
from caesura.store.usage import Spent

logger = logging.getLogger(__name__)

Outcome = ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped

_STATUS: dict[type[Outcome], life.Outcome] = {
    ev.Finished: "done",
    ev.Failed: "failed",
    ev.Stopped: "stopped",
}
_NO_MODEL = "the agent's model is not available: the server's log says why"


class Ending:
    def __init__(self, log: Log, history: History, spawn: Spawn, changes: Changes) -> None:
        self._log, self._history, self._spawn, self._changes = log, history, spawn, changes

    async def end(self, run: Run, outcome: Outcome, title: Title | None) -> None:
        """Write the outcome and its rows in one transaction, so that nobody sees one without the other. Then
        wait for the title, if it is still being made, and write the segment's last event. A question that
        comes after a request to stop is not asked: the turn is stopped instead."""
        turn, outcome = run.turn, await _kept(run, outcome)
        titled = title is None or not _waits_for(title, run, outcome)
        if title is not None and titled:
            title.close()
        if isinstance(outcome, ev.Failed) or not run.agent.models:
            await titles.name_plainly(run)
        at = time.time_ns() // 1_000_000
        messages = _messages(run.transcript, outcome, at)
        rows = _rows(run, outcome, messages, titled, at)
        last = [ev.SegmentEnded()] if titled else []
        try:
            await run.record(outcome, *last, also=rows, durable=True, at=at)
        except StopRequested as request:
            await self.end(run, ev.Stopped(stop_reason(request.reason)), title)
            return
        self._changes.tell_of(turn)
        if not isinstance(outcome, ev.Interrupted):
            transcript = run.transcript
            known = (
                transcript.model and not run.agent.foreign
            )  # a graph decides itself what its model is shown
            cut = Cut(transcript.model, transcript.context_from) if known else None
            self._history.extend(turn, run.history, messages, cut)
        if title is not None and not titled:
            await self._wait_for(title, run)
            released = ev.SegmentEnded()
            await run.record(released, also=_Released(turn))
        if not isinstance(outcome, ev.Interrupted):
            await self._pack(turn)

    async def is_open(self, turn: Turn) -> bool:
        """Whether the owner died before it could write the last event of a segment."""
        stream = await self._log.open(turn.num, turn.epoch)
        last = await self._log.read(turn.num, stream.last - 1)
        return not (last and isinstance(last[-1].event, ev.SegmentEnded))

    async def close(self, turn: Turn) -> None:
        """Close a segment whose owner died between the outcome and the segment's last event. The outcome is
        kept."""
        stream = await self._log.open(turn.num, turn.epoch)
        last = [ev.SegmentEnded()] if await self.is_open(turn) else []
        await stream.commit(*last, also=_Released(turn))
        if turn.ended:
            await self._pack(turn)

    async def give_up(self, turn: Turn, outcome: ev.Failed, transcript: Transcript | None = None) -> None:
        """End a turn without its run. Its messages are those of the transcript, or left out if the log cannot
        be read."""
        stream = await self._log.open(turn.num, turn.epoch)
        at = time.time_ns() // 1_000_000
        messages = transcript.closed(at) if transcript is not None else None
        about = NOTHING if messages is None or transcript is None else transcript.about(messages, outcome, at)
        spent = Spent.of(turn, transcript.spent if transcript is not None else {})

        def ended(connection: Connection) -> None:
            interrupts.close(connection, turn.num, "cancelled")
            life.give_up(connection, turn, messages, about)
            checkpoints.remove(connection, turn.num)
            shares.charge(connection, turn.num)
            usage.count(connection, [spent])

        await stream.submit(outcome, ev.SegmentEnded(), also=ended, durable=True, at=at)
        self._changes.tell_of(turn)

    async def _wait_for(self, title: Title, run: Run) -> None:
        """Wait for the title until its time limit, or until the person needs the turn. A model that ignores
        its cancellation is not waited for."""
        hurry = self._spawn(_wait(run.control.hurry))
        both = (title.task, hurry)
        try:
            await asyncio.wait(both, timeout=run.limits.title, return_when=asyncio.FIRST_COMPLETED)
        finally:
            title.close()
            hurry.cancel()

    async def _pack(self, turn: Turn) -> None:
        try:
            await self._log.pack(turn.num, turn.epoch)
        except Fenced:
            logger.debug("turn %s goes on already", turn.id)


async def _kept(run: Run, outcome: Outcome) -> Outcome:
    """Find what a graph leaves to the turns that follow. If that is too large or cannot be read, a turn that
    has finished fails, and every turn leaves what it began with."""
    if not run.agent.foreign or isinstance(outcome, ev.Interrupted):
        return outcome
    from caesura.engine.graphs import drive  # with LangGraph, which few need

    try:
        run.state = await drive.leave(run)
    except (Fenced, Unavailable):
        raise
    except Exception as error:  # noqa: BLE001 - reading a state runs an operator's code
        told = failed(run.turn, error)
        return told if isinstance(outcome, ev.Finished) else outcome
    return outcome


def failed(turn: Turn, error: Exception) -> ev.Failed:
    """The part of an error that a client may see. The server's log has the rest, under the same id."""
    error_id = ids.error()
    model_failures.log(logger, logging.ERROR, f"turn {turn.id} failed ({error_id})", error)
    if isinstance(error, RunFailed):
        return ev.Failed(error.message, error.code, error_id, error.retryable)
    if isinstance(error, CaesuraError) and error.status < 500:
        return ev.Failed(error.message, error.code, error_id)
    if isinstance(error, ModelUnavailable):
        # What is missing is the operator's business: the names of variables, modules and servers.
        return ev.Failed(_NO_MODEL, error.code, error_id, retryable=True)
    return ev.Failed("something went wrong", "internal", error_id)


def _waits_for(title: Title, run: Run, outcome: Outcome) -> bool:
    """Whether to wait for the title. Not when the turn was stopped or failed: it may be retried at once."""
    goes_on = isinstance(outcome, ev.Finished | ev.Interrupted)
    return goes_on and title.expected and not run.control.hurry.is_set()


def _messages(transcript: Transcript, outcome: Outcome, at: int) -> list[Message]:
    return transcript.messages() if isinstance(outcome, ev.Interrupted) else transcript.closed(at)


def _rows(run: Run, outcome: Outcome, messages: list[Message], released: bool, at: int) -> Also:
    spent = Spent.of(run.turn, run.transcript.spent)
    if not isinstance(outcome, ev.Interrupted):
        about = run.transcript.about(messages, outcome, at)
        return _Over(run, _STATUS[type(outcome)], messages, about, released, spent)
    turn = run.turn
    until = min((item.expires_at for item in outcome.interrupts if item.expires_at), default=None)

    def waits(connection: Connection) -> None:
        life.wait(connection, turn, messages, run.running_ms, until, released)
        interrupts.ask(connection, turn.num, turn.user_id, run.new_interrupts)
        shares.charge(connection, turn.num)
        usage.count(connection, [spent])

    return waits


@dataclass(frozen=True, slots=True, eq=False)
class _Over(Bulk):
    """The rows of a turn that has ended."""

    run: Run
    status: life.Outcome
    messages: list[Message]
    about: About
    released: bool
    spent: Spent

    @classmethod
    def write_all(cls, connection: Connection, items: Sequence[Self]) -> None:
        life.settle(connection, [item._settled() for item in items])
        for item in items:
            # Checkpoints are no longer needed, neither those of an operator's graphs nor those that an older
            # version of the server left.
            if item.run.agent.has_graph or item.run.cause != "start":
                checkpoints.remove(connection, item.run.turn.num)
            if item.run.agent.foreign:
                graph_states.replace(connection, item.run.turn.num, item.run.state)
        shares.charge(connection, *(item.run.turn.num for item in items))
        usage.count(connection, [item.spent for item in items])

    def _settled(self) -> life.Settled:
        run = self.run
        return life.Settled(run.turn, self.status, self.messages, run.running_ms, self.released, self.about)


@dataclass(frozen=True, slots=True, eq=False)
class _Released(Bulk):
    """The row of a turn that its owner has released."""

    turn: Turn

    @classmethod
    def write_all(cls, connection: Connection, items: Sequence[Self]) -> None:
        life.release(connection, [life.Owned(item.turn.num, item.turn.epoch) for item in items])
        shares.charge(connection, *(item.turn.num for item in items))


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
