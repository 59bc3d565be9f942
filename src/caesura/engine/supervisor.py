"""The supervisor: owns the tasks of all running turns. It claims turns, stops them, and drains."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

from caesura.agents.aside import Aside
from caesura.core import events as ev
from caesura.core import ids, messages
from caesura.core.errors import CaesuraError, Fenced, NotFound, Unavailable
from caesura.core.turns import Turn
from caesura.engine.heart import Heart, Turns
from caesura.engine.past import Past
from caesura.engine.run import Control, Released, stop_reason
from caesura.engine.runner import Runner
from caesura.store import life
from caesura.store.database import Database

logger = logging.getLogger(__name__)

_ADOPTED = 64
#: After so many attempts a turn that was left goes on only when its lease has expired.
_ATTEMPTS = 10
#: A run that does not end within this many seconds after its stop, despite this many cancellations, loses its
#: turn.
_HEED, _TRIES = 1.0, 4
#: The longest time to wait for a run to end, in seconds.
_PATIENCE = 5.0


class _Job:
    def __init__(self, turn: Turn, past: Past | None) -> None:
        self.turn, self._past = turn, past
        self.control = Control()
        self.task: asyncio.Task[None]

    def take_past(self) -> Past | None:
        """The turn's past. It may be large, and only the run holds it then."""
        past, self._past = self._past, None
        return past


class Supervisor:
    """One per process; other processes know it by its `owner` id. Runs belong to the supervisor, never to a
    connection."""

    def __init__(
        self, database: Database, *, lease: float = 15.0, poll: float = 1.0, capacity: int = 500
    ) -> None:
        """`lease`: seconds after which other processes take the turns of a silent owner. `poll`: seconds
        between looking for such turns. `capacity`: how many turns this process works on at once."""
        self._capacity = capacity
        self.owner = ids.owner()
        self.lease_ms = int(lease * 1000)
        self._database = database
        self._poll = poll
        #: Called with the turn of every run that begins in this process.
        self._started: Callable[[Turn], None] = _nobody
        self._runner: Runner | None = None
        self._jobs: dict[int, _Job] = {}
        self._others: set[asyncio.Task[None]] = set()
        #: Turns that were left because storage was away. At most as many as may run here.
        self._left: set[life.Owned] = set()
        #: Runs that lost their turn and have not ended: third-party code may ignore a cancellation.
        self._deaf: set[asyncio.Task[None]] = set()
        self._nudged = asyncio.Event()
        self._stopping = threading.Event()
        self._heart = Heart(database, self.owner, self.lease_ms, self._jobs, self._renewed, self._stop_all)
        self._adopting: asyncio.Task[None] | None = None

    def start(self, runner: Runner, started: Callable[[Turn], None]) -> None:
        """Start renewing leases and adopting turns. Turns of a dead owner are adopted at once."""
        self._runner, self._started = runner, started
        self._heart.start()
        self._adopting = self.spawn(self._adopt())

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that is waited for when the process ends."""
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)
        return task

    def run(self, turn: Turn, past: Past | None = None) -> None:
        """Work on a turn that this process owns. `past` is the turn's past, if it is known."""
        turn = _light(turn)
        job = _Job(turn, past)
        if stalled := self._jobs.get(turn.num):
            if stalled.turn.epoch > turn.epoch:
                return  # this claim was lost before its run began
            self._lose(stalled)  # the old run ignores its stop, or this process slept beyond its lease
        self._jobs[turn.num] = job
        job.task = asyncio.create_task(self._supervise(job), name=f"run-{turn.id}")
        self._started(turn)

    def works_on(self, turn: Turn) -> bool:
        """Whether the turn runs in this process under the same claim."""
        job = self._jobs.get(turn.num)
        return job is not None and job.turn.epoch == turn.epoch

    def runs(self, num: int) -> bool:
        """Whether the turn runs in this process, under any claim."""
        return num in self._jobs

    @property
    def count(self) -> int:
        return len(self._jobs)

    @property
    def room(self) -> int:
        """How many more turns this process may run."""
        return max(self._capacity - len(self._jobs), 0)

    @property
    def alive(self) -> bool:
        """Whether this process still renews its leases and looks for work."""
        return self._heart.alive and self._adopting is not None and not self._adopting.done()

    @property
    def draining(self) -> bool:
        """Whether this process is shutting down: it starts no more runs."""
        return self._stopping.is_set()

    def nudge(self) -> None:
        """Look for turns to adopt now, without waiting for the next poll."""
        self._nudged.set()

    def hurry(self, turn: Turn) -> None:
        """The person has answered: do not hold the segment of this claim open for a title. A later claim
        already works with the answer, and is not hurried."""
        if self.works_on(turn):
            self._jobs[turn.num].control.hurry.set()

    def stop(self, num: int, reason: ev.StopReason) -> bool:
        """Stop a run of this process; its messages are kept. False when the turn does not run here."""
        job = self._jobs.get(num)
        if job is None:
            return False
        if job.control.stop is None:
            job.control.stop = reason
            job.control.hurry.set()
            if job.control.stoppable:
                job.task.cancel()
                self.spawn(self._insist(job))
        return True

    async def join(self, num: int) -> None:
        """Wait until this process no longer works on the turn, at most `_PATIENCE` seconds."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        while (job := self._jobs.get(num)) is not None and (left := deadline - loop.time()) > 0:
            await asyncio.wait([job.task], timeout=min(left, _HEED / _TRIES))

    async def discard(self, num: int) -> None:
        """End the run of a turn that is about to be deleted. The run writes nothing more."""
        if job := self._jobs.get(num):
            job.task.cancel()
            if not await _heeds([job]):
                self._lose(job)

    async def drain(self, grace: float = 5.0) -> None:
        """Make every run release its turn at its next step, and cancel the runs that do not within `grace`
        seconds. The next process continues the turns. Leases are renewed until the last run has ended."""
        self._stopping.set()
        if self._adopting is not None:
            self._adopting.cancel()
        for job in self._jobs.values():
            job.control.leave()
        await _all_ended([job.task for job in self._jobs.values()], grace)
        for job in self._jobs.values():
            job.task.cancel()
        if not await _heeds(list(self._jobs.values())):
            for job in list(self._jobs.values()):
                self._lose(job)
                del self._jobs[job.turn.num]  # the lease is no longer renewed
                await self._hand_over(job.turn)
        for task in self._others:
            task.cancel()
        await _all_ended(self._others, _HEED)
        await Aside("caesura-drain").run(self._heart.stop, _HEED)

    async def _insist(self, job: _Job) -> None:
        """Take the turn from a run that ignores its stop, and end the turn under a new claim. Later writes of
        the old run are refused."""
        turn = job.turn
        while not await _heeds([job]) and self._jobs.get(turn.num) is job and job.control.stoppable:
            logger.warning("turn %s does not heed its stop and is ended without it", turn.id)
            try:
                claimed = await self._database.write(life.seize, turn.num, turn.epoch, self.lease_ms)
            except CaesuraError as error:
                logger.warning("turn %s could not be taken from its run: %s", turn.id, error)
                continue
            if claimed is not None:
                self.run(claimed)
                self._jobs[turn.num].control.stop = job.control.stop
            return

    def _lose(self, job: _Job) -> None:
        """Cancel a run that has lost its turn."""
        job.task.cancel()
        self._deaf.add(job.task)
        job.task.add_done_callback(self._deaf.discard)

    async def _supervise(self, job: _Job) -> None:
        turn = job.turn
        assert self._runner is not None  # noqa: S101 - start() comes first
        try:
            await self._runner.run(turn, job.control, job.take_past())
        except NotFound:
            logger.warning("turn %s is left to a server that has the agent %s", turn.id, turn.agent)
            await self._hand_over(turn)
        except (asyncio.CancelledError, Released):
            if self._stopping.is_set() and job.task not in self._deaf:
                await self._hand_over(turn)
            else:
                logger.info("turn %s was let go", turn.id)
        except Fenced:
            logger.warning("turn %s was taken over or deleted", turn.id)
        except Unavailable:
            logger.warning("turn %s is left until storage is back", turn.id)
            if len(self._left) < self._capacity and turn.epoch - turn.segment < _ATTEMPTS:
                self._left.add(life.Owned(turn.num, turn.epoch))
        except Exception:
            logger.exception("turn %s was left", turn.id)
        finally:
            full = not self.room
            if self._jobs.get(turn.num) is job:
                del self._jobs[turn.num]
            if full or job.control.hurry.is_set():
                self.nudge()  # another turn may wait for capacity, or an answer came early

    async def _hand_over(self, turn: Turn) -> None:
        try:
            await self._database.write(life.hand_over, turn.num, turn.epoch)
        except CaesuraError as error:
            logger.warning("turn %s could not be handed over: %s", turn.id, error)

    async def _hand_over_left(self) -> None:
        """Hand over the turns that were left, as soon as storage is back, so that they go on at once."""
        while self._left:
            owned = next(iter(self._left))
            with suppress(Fenced):  # another process has it, or it was deleted
                await self._database.write_lightly(life.hand_over, *owned)
            self._left.discard(owned)

    async def _adopt(self) -> None:
        alone = not self._database.shared
        while True:
            claimed: list[Turn] = []
            found: list[Turn] = []
            most = min(self.room, _ADOPTED)
            try:
                if alone:
                    # No other process can have this database open, so all earlier owners are gone.
                    await self._database.write_lightly(life.orphan, self.owner)
                    alone = False
                await self._hand_over_left()
                if most and self._runner is not None:
                    known, busy = list(self._runner.agents), set(self._jobs)
                    claimed = await self._database.write_lightly(
                        life.claim_some, self.owner, self.lease_ms, most, busy, known
                    )
                if claimed:
                    # If power loss took a claim back, its epoch would be used again, for other text. So the
                    # claims are made durable first. If that fails the turns are left alone, and found again
                    # when their lease expires.
                    await self._database.harden()
                found = claimed
            except CaesuraError as error:
                logger.warning("cannot look for work: %s", error)
            except Exception:
                logger.exception("cannot look for work")
            for turn in found:
                logger.info("turn %s is taken up", turn.id)
                self.run(turn)
            if len(found) < _ADOPTED or not self.room:
                await self._pause()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._poll):
                await self._nudged.wait()
        except TimeoutError:
            pass
        self._nudged.clear()

    def _renewed(self, jobs: dict[int, _Job], kept: Turns) -> None:
        self._stop_all(jobs, kept)
        for num, job in jobs.items():
            # A run that is not stoppable was just released, or its next write is refused.
            if num not in kept and self._jobs.get(num) is job and job.control.stoppable:
                logger.warning("turn %s was lost", job.turn.id)
                job.task.cancel()

    def _stop_all(self, jobs: dict[int, _Job], found: Turns) -> None:
        """Stop the turns for which a stop was found. A run that began after the rows were read, perhaps a
        retry, is not meant."""
        for num, stop in found.items():
            if stop is not None and num in jobs and self._jobs.get(num) is jobs[num]:
                self.stop(num, stop_reason(stop))


async def _heeds(jobs: Collection[_Job]) -> bool:
    """Whether these runs end within a second. They are cancelled repeatedly, because third-party code may
    swallow a cancellation."""
    for _ in range(_TRIES):
        if await _all_ended([job.task for job in jobs], _HEED / _TRIES):
            return True
        for job in jobs:
            if job.control.stoppable:
                job.task.cancel()
    return False


async def _all_ended(tasks: Collection[asyncio.Task[None]], within: float) -> bool:
    waiting = [task for task in tasks if not task.done()]
    return not waiting or not (await asyncio.wait(waiting, timeout=within))[1]


def _nobody(turn: Turn) -> None:
    pass


def _light(turn: Turn) -> Turn:
    """The turn without its messages, which are in the log. Its count is then that of the messages above."""
    shown = len(messages.shown(turn.messages or ()))
    return replace(turn, messages=None, message_count=turn.message_count - shown)
