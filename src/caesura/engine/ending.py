"""How a segment ends: its outcome with the rows that go with it, its title, its last event."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from sqlalchemy import Connection

from caesura.core import events as ev
from caesura.core import ids
from caesura.core.errors import CaesuraError, Fenced
from caesura.core.fold import Transcript
from caesura.engine.failures import RunFailed
from caesura.engine.history import History
from caesura.engine.run import Run
from caesura.engine.titles import Spawn, Title
from caesura.log import Log
from caesura.store import checkpoints, interrupts, shares, turns
from caesura.store.turns import Turn

logger = logging.getLogger(__name__)

Outcome = ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped

_STATUS: dict[type[Outcome], turns.Status] = {
    ev.Finished: "done",
    ev.Failed: "failed",
    ev.Stopped: "stopped",
    ev.Interrupted: "waiting",
}


class Ending:
    def __init__(self, log: Log, history: History, spawn: Spawn) -> None:
        self._log, self._history, self._spawn = log, history, spawn

    async def end(self, run: Run, outcome: Outcome, title: Title | None) -> None:
        """The outcome and its rows at once: nobody can see one without the other. Then the title, if it is
        still being made, and the segment's last event."""
        turn = run.turn
        titled = title is None or not _waits_for(title, run, outcome)
        if title is not None and titled:
            title.close()
        messages = _messages(run.transcript, outcome)

        def rows(connection: Connection) -> None:
            values = turns.told(turn, messages) | _settled(outcome) | {"running_ms": run.running_ms}
            turns.change(connection, turn.num, turn.epoch, **values | (turns.RELEASED if titled else {}))
            _write_down(connection, run, outcome)
            shares.charge(connection, turn.num)

        last = [ev.SegmentEnded()] if titled else []
        await run.record(outcome, *last, also=rows, durable=True)
        if not isinstance(outcome, ev.Interrupted):
            self._history.extend(turn, run.history, messages)
        if title is not None and not titled:
            await self._wait_for(title, run)
            released = ev.SegmentEnded()
            await run.record(released, also=lambda c: _release(c, turn))
        if not isinstance(outcome, ev.Interrupted):
            await self._pack(turn)

    async def is_open(self, turn: Turn) -> bool:
        """Whether the owner died before it could write the last event of a segment."""
        stream = await self._log.open(turn.num, turn.epoch)
        last = await self._log.read(turn.num, stream.last - 1)
        return not (last and isinstance(last[-1].event, ev.SegmentEnded))

    async def close(self, turn: Turn) -> None:
        """The owner died between an outcome and the segment's last event: what it came to stays."""
        stream = await self._log.open(turn.num, turn.epoch)
        last = [ev.SegmentEnded()] if await self.is_open(turn) else []
        await stream.commit(*last, also=lambda c: _release(c, turn))
        if turn.ended:
            await self._pack(turn)

    async def give_up(self, turn: Turn, outcome: ev.Failed) -> None:
        """End a turn whose log cannot be read: its rows can still be written."""
        stream = await self._log.open(turn.num, turn.epoch)
        rows = turns.ended("failed") | turns.RELEASED

        def ended(connection: Connection) -> None:
            interrupts.close(connection, turn.num, "cancelled")
            turns.change(connection, turn.num, turn.epoch, **rows)

        await stream.commit(outcome, ev.SegmentEnded(), also=ended, durable=True)

    async def _wait_for(self, title: Title, run: Run) -> None:
        """No longer than it may take, and no longer than the person waits. A model that ignores that its call
        is cancelled is not waited for."""
        hurry = self._spawn(_wait(run.control.hurry))
        both = (title.task, hurry)
        await asyncio.wait(both, timeout=run.limits.title, return_when=asyncio.FIRST_COMPLETED)
        title.close()
        hurry.cancel()

    async def _pack(self, turn: Turn) -> None:
        try:
            await self._log.pack(turn.num, turn.epoch)
        except Fenced:
            logger.debug("turn %s goes on already", turn.id)


def failed(turn: Turn, error: Exception) -> ev.Failed:
    """What a client may know of an error: the log, under the id, has the rest."""
    error_id = ids.error()
    logger.error("turn %s failed (%s)", turn.id, error_id, exc_info=error)
    if isinstance(error, RunFailed):
        return ev.Failed(error.message, error.code, error_id, error.retryable)
    if isinstance(error, CaesuraError) and error.status < 500:
        return ev.Failed(error.message, error.code, error_id)
    return ev.Failed("something went wrong", "internal", error_id)


def _waits_for(title: Title, run: Run, outcome: Outcome) -> bool:
    """Not where the turn was stopped or has failed: it may be tried again at once."""
    goes_on = isinstance(outcome, ev.Finished | ev.Interrupted)
    return goes_on and title.expected and not run.control.hurry.is_set()


def _messages(transcript: Transcript, outcome: Outcome) -> Any:
    return transcript.messages() if isinstance(outcome, ev.Interrupted) else transcript.closed()


def _settled(outcome: Outcome) -> dict[str, Any]:
    if not isinstance(outcome, ev.Interrupted):
        return turns.ended(_STATUS[type(outcome)])
    until = min((item.expires_at for item in outcome.interrupts if item.expires_at), default=None)
    return {"status": "waiting", "waits_until": until}


def _write_down(connection: Connection, run: Run, outcome: Outcome) -> None:
    """The questions. Where the turn has ended no checkpoint is needed any more: not those of an operator's
    graph, nor what an older version has left."""
    if isinstance(outcome, ev.Interrupted):
        interrupts.ask(connection, run.turn.num, run.turn.user_id, run.questions)
    elif run.agent.foreign or run.cause != "start":
        checkpoints.remove(connection, run.turn.num)


def _release(connection: Connection, turn: Turn) -> None:
    turns.release(connection, turn.num, turn.epoch)
    shares.charge(connection, turn.num)


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
