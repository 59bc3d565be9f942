"""The flusher: commits the words that every stream has ready, in one transaction.

While one commit runs, the next batch gathers, so batches grow with the load. Events that a caller waits for
are written at once, and so is the first word of an answer. Later words are written at a pace. The pace slows
a little with the number of streams, because each stream adds a fixed cost to every commit.

Rows that go with events (an ending, a tool's result) cost far more than words. They are committed in a lane
of their own, a bounded number at a time, and words do not wait for them. A stream whose row is locked by
another transaction is retried separately until the row is free.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from caesura.core.errors import CaesuraError, Unavailable
from caesura.log.append import LOCKED, UNTRIED, append, append_words
from caesura.log.lane import Lane
from caesura.log.stream import Batch, Stream, Urgency
from caesura.store.database import Database, brief

logger = logging.getLogger(__name__)

_BACKOFF = 0.05
#: Seconds between commits while words flow: of few streams, of more, the addition per stream, the maximum.
#: Few streams pay for a whole commit each, so they commit less often.
_PACE_OF_FEW, _PACE, _SHARE, _SLOWEST = 0.02, 0.015, 0.00003, 0.03
#: The first word after that time triggers the commit of all gathered words. If none comes, they wait this
#: many seconds more: a timer for each commit, in addition to each word, would cost a lone stream a third
#: more.
_LATE = 0.005
#: Seconds that lax events wait for others: a quick tool's result and the next word join them.
_COMPANY = 0.005
#: With at most this many streams, their paced words are written along with events that are written at once.
_FEW = 8
#: At most this many batches with an `also` are written in one transaction. On SQLite, which has one writer
#: thread, words wait for that transaction; on PostgreSQL they do not.
_MOST, _MOST_SHARED = 64, 32
#: Seconds until a stream whose row is locked is retried: at first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1

_brief_append, _brief_words = brief(partial(append)), brief(partial(append_words))
T = TypeVar("T")
#: Called with each batch that was tried and its outcome. Returns whether events were written.
Publish = Callable[[Batch, Any], bool]
#: Called after each commit with its duration and the batches it wrote.
Committed = Callable[[float, Sequence[Batch]], None]


class Flusher:
    def __init__(self, database: Database, publish: Publish, committed: Committed, patience: float) -> None:
        self._database, self._publish, self._committed = database, publish, committed
        self._patience = patience
        #: Streams that are written at once, and all others with something to write.
        self._now: dict[Stream, None] = {}
        self._paced: dict[Stream, None] = {}
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None
        self._pause: asyncio.Future[None] | None = None
        self._start: asyncio.TimerHandle | None = None
        most = _MOST_SHARED if database.shared else _MOST
        self._with_rows = Lane("log-rows", most, self._commit_apart)
        self._locked = Lane("log-locked", most, self._commit_apart)
        #: The streams that are in a lane. They are not written together with the words of other streams.
        self._apart: set[Stream] = set()
        #: For each stream whose row is locked: its deadline, and the last pause between two tries.
        self._tries: dict[Stream, tuple[float, float]] = {}
        self._closed = False

    def touch(self, stream: Stream) -> None:
        """Note that this stream has something to write."""
        if self._closed:
            stream.fail(Unavailable("the log is closed"))
            return
        if stream in self._apart:
            return  # checked again when it leaves its lane
        urgency = stream.urgency
        if urgency is Urgency.NOW:
            self._paced.pop(stream, None)
            self._now[stream] = None
            if self._pause is not None:
                _finish(self._pause)
        elif stream not in self._now:
            self._paced[stream] = None
            left = self._due - asyncio.get_running_loop().time()
            stream.due = time.time_ns() // 1_000_000 + int(left * 1000)
            if left <= 0 and self._pause is not None:
                _finish(self._pause)
        if self._task is not None and not self._task.done():
            return
        now = asyncio.get_running_loop().time()
        if urgency is Urgency.LAX:
            self._start_at(now + _COMPANY)
        elif urgency is Urgency.PACED and now < self._due:
            self._start_at(self._due + _LATE)
        else:
            self.start()

    def _start_at(self, when: float) -> None:
        if self._start is None or when < self._start.when():
            self._cancel_start()
            self._start = asyncio.get_running_loop().call_at(when, self.start)

    def _cancel_start(self) -> None:
        if self._start is not None:
            self._start.cancel()
            self._start = None

    def start(self) -> None:
        self._cancel_start()
        if (self._now or self._paced) and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._flush_all(), name="log-flusher")

    async def finish(self) -> None:
        """Write everything that is pending."""
        self.start()
        while tasks := [task for task in self._tasks() if task is not None and not task.done()]:
            await asyncio.wait(tasks)
            self.start()  # a stream that leaves its lane may have more to write

    async def close(self) -> None:
        """Write everything that is pending. Later writes fail: nobody would write them."""
        await self.finish()
        self._closed = True

    async def patiently(self, attempt: Callable[[bool], Awaitable[T]]) -> T:
        """Retry while the storage is unavailable, for at most the log's patience. `attempt` is told whether
        it is a retry."""
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
        while self._now or self._paced:
            await self._gather()
            await self._commit(self._words(self._take()))

    def _tasks(self) -> tuple[asyncio.Task[None] | None, ...]:
        return self._task, self._with_rows.task, self._locked.task

    def _words(self, streams: Iterable[Stream]) -> list[Batch]:
        """The batches of these streams up to their first `also`. A stream with an `also` goes into the lane
        for rows. If that lane is busy, the words before the `also` are written here."""
        batches: list[Batch] = []
        for stream in streams:
            if not stream.has_also:
                batches += stream.take()
                continue
            words = stream.take_words() if not self._with_rows.free else []
            batches += words
            if words:
                self._now[stream] = None  # the rest follows when these are written
            else:
                self._apart.add(stream)
                self._with_rows.add(stream)
        return batches

    async def _commit(self, batches: list[Batch]) -> None:
        try:
            locked = await self._flush(batches) if batches else []
        except Exception:
            # Nobody knows which of these batches were published. Other streams still have words to write.
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
        """Somebody else has locked this stream's row. No other stream waits for it."""
        now = asyncio.get_running_loop().time()
        deadline, pause = self._tries.get(stream, (now + self._patience, _FIRST_PAUSE / 2))
        pause = min(pause * 2, _LONGEST_PAUSE)
        if stream.error is not None or now + pause > deadline:
            logger.error("turn %d could not be written: its row is locked", stream.turn)
            self._tries.pop(stream, None)
            stream.fail(stream.error or Unavailable())
            return
        self._tries[stream] = deadline, pause
        self._now.pop(stream, None)
        self._paced.pop(stream, None)
        self._apart.add(stream)
        self._locked.add(stream, pause)

    async def _gather(self) -> None:
        """Let words gather until they are due, unless a stream is written at once."""
        loop = asyncio.get_running_loop()
        if self._now or loop.time() >= self._due:
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
        taken, self._now = self._now, {}
        if now >= self._due or len(self._paced) <= _FEW:
            taken |= self._paced
            self._due = now + _pace(len(self._paced))
            self._paced = {}
        return taken

    async def _flush(self, batches: list[Batch]) -> list[Batch]:
        """Write these batches. Returns those that could not be written because another transaction holds a
        row."""
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
        pairs = list(zip(batches, outcomes, strict=True))
        tried = [
            (batch, outcome) for batch, outcome in pairs if outcome is not UNTRIED and outcome is not LOCKED
        ]
        written = [batch for batch, outcome in tried if self._publish(batch, outcome)]
        # The batches after a refused one are written next, in their order.
        _put_back([batch for batch, outcome in pairs if outcome is UNTRIED])
        self._committed(time.perf_counter() - began, written)
        return [batch for batch, outcome in pairs if outcome is LOCKED]

    async def _append(self, batches: list[Batch], again: bool) -> list[Any]:
        if again:
            for batch in batches:
                batch.again = True
        small = len(batches) <= _FEW and all(batch.is_brief for batch in batches)
        if any(batch.also or batch.again for batch in batches):
            return await self._database.write_lightly(_brief_append if small else append, batches)
        return await self._database.write_statement(_brief_words if small else append_words, batches)

    async def _flush_each(self, batches: list[Batch]) -> list[Batch]:
        """One of the batches caused an error: write each alone, so that the others do not fail with it."""
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


def _pace(streams: int) -> float:
    return _PACE_OF_FEW if streams <= _FEW else min(_PACE + _SHARE * streams, _SLOWEST)


def _put_back(batches: list[Batch]) -> None:
    for batch in reversed(batches):
        if batch.stream.error is not None:
            batch.tell(batch.stream.error)
        else:
            batch.stream.put_back(batch)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
