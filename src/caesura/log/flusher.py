"""The flusher: commits what every stream has ready, in one transaction.

While one commit is under way the next batch gathers, so batches grow with the load. What somebody waits for
is written at once, and so is the first word of an answer. The words after it are written at a pace, which is
a little slower the more streams flow: each costs its share of every commit however little it has to say.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from caesura.core.errors import CaesuraError, Unavailable
from caesura.log.append import LATER, append
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

    def touch(self, stream: Stream) -> None:
        """This stream has something to write."""
        if stream.waits:
            self._flowing.pop(stream, None)
            self._hasty[stream] = None
            if self._pause is not None:
                _finish(self._pause)
        elif stream not in self._hasty:
            self._flowing[stream] = None
            if self._pause is not None and asyncio.get_running_loop().time() >= self._due:
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
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

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
            batches = [batch for stream in self._take() for batch in stream.take()]
            try:
                if batches:
                    await self._flush(batches)
            except Exception:
                # Nobody knows what of these was shown. Other streams still have words to be written.
                logger.exception("%d streams were broken off", len(batches))
                for batch in batches:
                    batch.stream.fail(Unavailable())
                    batch.tell(Unavailable())

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

    async def _flush(self, batches: list[Batch]) -> None:
        began = time.perf_counter()
        try:
            outcomes = await self.patiently(
                lambda again: self._database.write_lightly(append, batches, again)
            )
        except Exception as error:
            if len(batches) > 1 and not isinstance(error, Unavailable):
                await self._flush_each(batches)
                return
            logger.exception("%d streams could not be written", len(batches))
            failure = error if isinstance(error, CaesuraError) else Unavailable()
            outcomes = [failure for _ in batches]
            for batch in batches:
                batch.stream.fail(failure)
        told = list(zip(batches, outcomes, strict=True))
        written = [batch for batch, outcome in told if outcome is not LATER and self._publish(batch, outcome)]
        self._put_back([batch for batch, outcome in told if outcome is LATER])
        self._committed(time.perf_counter() - began, written)

    async def _flush_each(self, batches: list[Batch]) -> None:
        """One of them is at fault: the others are not to suffer."""
        for batch in batches:
            if batch.stream.error is not None:
                batch.tell(batch.stream.error)
                continue
            batch.number(batch.stream.last + 1)
            await self._flush([batch])

    def _put_back(self, batches: list[Batch]) -> None:
        """What stood behind a batch that was refused is written next, in its order."""
        for batch in reversed(batches):
            if batch.stream.error is not None:
                batch.tell(batch.stream.error)
            else:
                batch.stream.put_back(batch)
                self._hasty[batch.stream] = None


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
