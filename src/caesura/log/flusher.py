"""The flusher: commits the words that every stream has ready, in one transaction.

While one commit is under way the next batch gathers, so batches grow with the load. What somebody waits for
is written at once, and so is the first word of an answer. The words after it are written at a pace, which is
a little slower the more streams flow: each costs its share of every commit however little it has to say.

Rows that go with events (an ending, a tool's result) cost far more than words. They are committed in a lane
of their own, so many at a time, and words do not wait for them. A stream whose row somebody else holds is
tried again beside the others until the row is free.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from caesura.core.errors import CaesuraError, Unavailable
from caesura.log.append import LATER, LOCKED, append, append_words
from caesura.log.lane import Lane
from caesura.log.stream import Batch, Stream
from caesura.store.database import Database

logger = logging.getLogger(__name__)

_BACKOFF = 0.05
#: Seconds between commits while words flow: at least, for each stream that flows, and at the most.
_PACE, _SHARE, _SLOWEST = 0.02, 0.00003, 0.03
#: The first word after that time takes along all that have gathered. If none comes, they wait only so long:
#: to wake up for each commit, besides for each word, would cost a lone stream a third more.
_LATE = 0.005
#: What may wait for company waits so long: a tool that is quick, and the word after it, come along.
_COMPANY = 0.005
#: So few streams are written along with what somebody waits for.
_FEW = 8
#: So many batches with rows of their own are written in one transaction: in the one thread that writes to
#: SQLite words wait for it, on PostgreSQL they do not.
_MOST, _MOST_SHARED = 64, 32
#: Seconds until a stream whose row is locked is tried again: at first, and at the most.
_SOON, _LATEST = 0.005, 0.1

T = TypeVar("T")
#: Told of each batch that was tried: whether it was written, to be shown.
Publish = Callable[[Batch, Any], bool]
#: Told of each commit: how long it took, and what it wrote.
Committed = Callable[[float, Sequence[Batch]], None]


class Flusher:
    def __init__(self, database: Database, publish: Publish, committed: Committed, patience: float) -> None:
        self._database, self._publish, self._committed = database, publish, committed
        self._patience = patience
        #: What somebody waits for, and what flows.
        self._hasty: dict[Stream, None] = {}
        self._flowing: dict[Stream, None] = {}
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None
        self._pause: asyncio.Future[None] | None = None
        self._later: asyncio.TimerHandle | None = None
        most = _MOST_SHARED if database.shared else _MOST
        self._with_rows = Lane("log-rows", most, self._commit_apart)
        self._locked = Lane("log-locked", most, self._commit_apart)
        #: The streams that are in a lane: they are not written with the words of the others.
        self._apart: set[Stream] = set()
        #: For each stream whose row is locked: when it must be written, and the last pause between two tries.
        self._tries: dict[Stream, tuple[float, float]] = {}

    def touch(self, stream: Stream) -> None:
        """This stream has something to write."""
        if stream in self._apart:
            return  # it is looked at when it comes back
        if stream.waits:
            self._flowing.pop(stream, None)
            self._hasty[stream] = None
            if self._pause is not None:
                _finish(self._pause)
        elif stream not in self._hasty:
            self._flowing[stream] = None
            left = self._due - asyncio.get_running_loop().time()
            stream.due = time.time_ns() // 1_000_000 + int(left * 1000)
            if left <= 0 and self._pause is not None:
                _finish(self._pause)
        if self._task is not None and not self._task.done():
            return
        if stream.patient:
            self._later = self._later or asyncio.get_running_loop().call_later(_COMPANY, self.start)
        else:
            self.start()

    def start(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if (self._hasty or self._flowing) and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._flush_all(), name="log-flusher")

    async def finish(self) -> None:
        """Write all there is."""
        self.start()
        while tasks := [task for task in self._tasks() if task is not None and not task.done()]:
            await asyncio.wait(tasks)
            self.start()  # a stream that comes back from its lane may have more

    async def patiently(self, attempt: Callable[[bool], Awaitable[T]]) -> T:
        """Try again, and say so, for as long as the storage may be away."""
        deadline = asyncio.get_running_loop().time() + self._patience
        pause, again = _BACKOFF, False
        while True:
            try:
                return await attempt(again)
            except Unavailable:
                if asyncio.get_running_loop().time() + pause > deadline:
                    raise
            await asyncio.sleep(pause)
            pause, again = min(pause * 2, 1.0), True

    async def _flush_all(self) -> None:
        while self._hasty or self._flowing:
            await self._gather()
            await self._commit(self._words(self._take()))

    def _tasks(self) -> tuple[asyncio.Task[None] | None, ...]:
        return self._task, self._with_rows.task, self._locked.task

    def _words(self, streams: Iterable[Stream]) -> list[Batch]:
        """What these streams have to write, but for rows that go with it: those go into their lane, with the
        words before them if they need not wait for the rows of others."""
        batches: list[Batch] = []
        for stream in streams:
            if not stream.has_also:
                batches += stream.take()
                continue
            words = stream.take_words() if not self._with_rows.free else []
            batches += words
            if words:
                self._hasty[stream] = None  # and the rest when these are written
            else:
                self._apart.add(stream)
                self._with_rows.add(stream)
        return batches

    async def _commit(self, batches: list[Batch]) -> None:
        try:
            locked = await self._flush(batches) if batches else []
        except Exception:
            # Nobody knows what of these was shown. Other streams still have words to be written.
            logger.exception("%d streams were broken off", len(batches))
            for batch in batches:
                batch.stream.fail(Unavailable())
                batch.tell(Unavailable())
                self._tries.pop(batch.stream, None)
            return
        _put_back(locked)
        waiting = {batch.stream for batch in locked}
        for stream in {batch.stream for batch in batches} if self._tries else waiting:
            if stream in waiting:
                self._try_later(stream)
            else:
                self._tries.pop(stream, None)

    async def _commit_apart(self, streams: Sequence[Stream], batches: list[Batch]) -> None:
        await self._commit(batches)
        for stream in streams:
            if stream not in self._tries:
                self._apart.discard(stream)
                if stream.ready:
                    self.touch(stream)

    def _try_later(self, stream: Stream) -> None:
        """Somebody else holds this stream's row: nobody but this stream waits for it."""
        now = asyncio.get_running_loop().time()
        deadline, pause = self._tries.get(stream, (now + self._patience, _SOON / 2))
        pause = min(pause * 2, _LATEST)
        if stream.error is not None or now + pause > deadline:
            logger.error("turn %d could not be written: its row is locked", stream.turn)
            self._tries.pop(stream, None)
            stream.fail(stream.error or Unavailable())
            return
        self._tries[stream] = deadline, pause
        self._hasty.pop(stream, None)
        self._flowing.pop(stream, None)
        self._apart.add(stream)
        self._locked.add(stream, pause)

    async def _gather(self) -> None:
        """Let what flows gather until it is due, unless somebody waits for something."""
        loop = asyncio.get_running_loop()
        if self._hasty or loop.time() >= self._due:
            return
        self._pause = loop.create_future()
        timer = loop.call_at(self._due + _LATE, _finish, self._pause)
        try:
            await self._pause
        finally:
            timer.cancel()
            self._pause = None

    def _take(self) -> dict[Stream, None]:
        now = asyncio.get_running_loop().time()
        taken, self._hasty = self._hasty, {}
        if now >= self._due or len(self._flowing) <= _FEW:
            taken |= self._flowing
            self._due = now + min(_PACE + _SHARE * len(self._flowing), _SLOWEST)
            self._flowing = {}
        return taken

    async def _flush(self, batches: list[Batch]) -> list[Batch]:
        """Write these; those that could not be written because somebody else holds a row."""
        began = time.perf_counter()
        try:
            outcomes = await self.patiently(lambda again: self._append(batches, again))
        except Exception as error:
            if len(batches) > 1 and not isinstance(error, Unavailable):
                return await self._flush_each(batches)
            logger.exception("%d streams could not be written", len(batches))
            failure = error if isinstance(error, CaesuraError) else Unavailable()
            outcomes = [failure for _ in batches]
            for batch in batches:
                batch.stream.fail(failure)
        told = list(zip(batches, outcomes, strict=True))
        tried = [
            (batch, outcome) for batch, outcome in told if outcome is not LATER and outcome is not LOCKED
        ]
        written = [batch for batch, outcome in tried if self._publish(batch, outcome)]
        # What stood behind a batch that was refused is written next, in its order.
        _put_back([batch for batch, outcome in told if outcome is LATER])
        self._committed(time.perf_counter() - began, written)
        return [batch for batch, outcome in told if outcome is LOCKED]

    async def _append(self, batches: list[Batch], again: bool) -> list[Any]:
        if again:
            for batch in batches:
                batch.again = True
        if any(batch.also or batch.again for batch in batches):
            return await self._database.write_lightly(append, batches)
        return await self._database.write_statement(append_words, batches)

    async def _flush_each(self, batches: list[Batch]) -> list[Batch]:
        """One of them is at fault: the others are not to suffer."""
        locked: list[Batch] = []
        for batch in batches:
            if batch.stream.error is not None:
                batch.tell(batch.stream.error)
            elif any(batch.stream is other.stream for other in locked):
                locked.append(batch)
            else:
                batch.number(batch.stream.last + 1)
                locked += await self._flush([batch])
        return locked


def _put_back(batches: list[Batch]) -> None:
    for batch in reversed(batches):
        if batch.stream.error is not None:
            batch.tell(batch.stream.error)
        else:
            batch.stream.put_back(batch)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
