"""The log: append, read, follow. An event is on disk before any reader sees it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from caesura.core.errors import CaesuraError, Fenced, Unavailable
from caesura.core.events import Envelope, Event
from caesura.log.stream import Batch, Stream
from caesura.log.tail import Tail
from caesura.log.wakeups import Alone, Wakeups
from caesura.store import events as rows
from caesura.store import turns
from caesura.store.database import Database
from caesura.store.prepared import savepoint

logger = logging.getLogger(__name__)

#: How many events a reader holds at the most.
WINDOW = 256
_BACKOFF = 0.05
#: How far apart commits are while more comes all the time.
_PACE = 0.002
#: The outcome of a batch that was not tried: one before it was refused.
_LATER = object()
_ITS_OWN_FAULT = (DataError, IntegrityError, ProgrammingError)

T = TypeVar("T")
#: Told of each commit: how long it took, and what it wrote.
Committed = Callable[[float, Sequence[Batch]], None]


class Log:
    """One per process. A single flusher commits what every stream has ready, in one transaction: while one
    commit is under way the next batch gathers, so batches grow with the load and nobody waits for a timer."""

    def __init__(
        self,
        database: Database,
        wakeups: Wakeups | None = None,
        *,
        patience: float = 5.0,
        poll: float = 1.0,
        committed: Committed | None = None,
    ) -> None:
        """`patience` is how long storage may be away before writers are told; `poll` how often a reader
        looks for itself where other processes write; `committed` must be quick and must not raise."""
        self._database = database
        self._wakeups = wakeups or Alone()
        self._wakeups.listen(self._heard)
        self._patience = patience
        self._poll = poll if database.shared else None
        self._committed = committed
        self._tails: dict[int, Tail] = {}
        self._dirty: dict[Stream, None] = {}
        self._flusher: asyncio.Task[None] | None = None
        self._pause: asyncio.Future[None] | None = None
        self._later: asyncio.TimerHandle | None = None
        self._hardening: set[asyncio.Task[None]] = set()

    async def open(self, turn: int, epoch: int) -> Stream:
        """The writing end of a turn's log, for the owner of this epoch; `Fenced` for anyone else."""
        return self.begin(turn, epoch, await self._database.read(_last, turn, epoch))

    def begin(self, turn: int, epoch: int, last: int = 0) -> Stream:
        """As `open`, for an owner that knows where the log ends."""
        return Stream(turn, epoch, last, self._touch)

    @contextmanager
    def live(self, stream: Stream) -> Iterator[None]:
        """While this lasts the stream's newest events are at hand for readers who come later: they need not
        look for them in the rows."""
        tail = self._join(stream.turn)
        tail.begin(stream.last)
        try:
            yield
        finally:
            self._leave(stream.turn, tail)

    async def append(self, turn: int, epoch: int, events: Sequence[Event]) -> int:
        """Append these, and give the number of the last one when it is on disk."""
        stream = await self.open(turn, epoch)
        await stream.commit(*events)
        return stream.last

    async def read(self, turn: int, after: int = 0, limit: int = WINDOW) -> list[Envelope]:
        """Committed events strictly after the cursor, in order, without gaps: about `limit` of them."""
        found = await self._database.read(rows.read, turn, after, limit)
        return found[:limit]

    async def follow(self, turn: int, after: int = 0) -> AsyncGenerator[list[Envelope], None]:
        """Committed events strictly after the cursor, in order, without gaps or repeats, as they come; ends
        only when the turn's log is closed. A reader that is slow holds one window and holds nobody up."""
        tail = self._join(turn)
        look = False
        try:
            while True:
                version = tail.version
                found = None if look else tail.after(after, WINDOW)
                if found is None:
                    found = await self._look(turn, after)
                    look = False
                if found:
                    for start in range(0, len(found), WINDOW):
                        after = found[min(start + WINDOW, len(found)) - 1].seq
                        yield found[start : start + WINDOW]
                elif tail.closed:
                    return
                elif tail.version == version:
                    look = not await tail.changed(self._poll)
        finally:
            self._leave(turn, tail)

    async def pack(self, turn: int, epoch: int) -> None:
        """Make the log of an ended turn small. Readers cannot tell."""
        await self._database.write_lightly(rows.pack, turn, epoch)

    def forget(self, turn: int) -> None:
        """The turn was deleted: its readers come to an end."""
        if tail := self._tails.get(turn):
            tail.close()

    async def close(self) -> None:
        """Write what is pending, then let every reader end."""
        self._start()
        while self._flusher is not None and not self._flusher.done():
            await asyncio.wait([self._flusher])
        if self._hardening:
            await asyncio.wait(self._hardening)
        for tail in list(self._tails.values()):
            tail.close()

    def _touch(self, stream: Stream) -> None:
        self._dirty[stream] = None
        if self._pause is not None and stream.waits:
            _finish(self._pause)
        if self._flusher is not None and not self._flusher.done():
            return
        if stream.patient:
            self._later = self._later or asyncio.get_running_loop().call_later(_PACE, self._start)
        else:
            self._start()

    def _start(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._dirty and (self._flusher is None or self._flusher.done()):
            self._flusher = asyncio.create_task(self._flush_all(), name="log-flusher")

    async def _flush_all(self) -> None:
        while self._dirty:
            streams, self._dirty = self._dirty, {}
            batches = [batch for stream in streams for batch in stream.take()]
            if batches:
                began = asyncio.get_running_loop().time()
                await self._flush(batches)
                await self._gather(began + _PACE)

    async def _gather(self, until: float) -> None:
        """Under load let a batch grow for a moment, unless somebody waits for it. Nobody waits for this while
        idle: a token that comes alone is written at once."""
        loop = asyncio.get_running_loop()
        if not self._dirty or loop.time() >= until or any(stream.waits for stream in self._dirty):
            return
        self._pause = loop.create_future()
        timer = loop.call_at(until, _finish, self._pause)
        try:
            await self._pause
        finally:
            timer.cancel()
            self._pause = None

    async def _flush(self, batches: list[Batch]) -> None:
        began = time.perf_counter()
        try:
            outcomes = await self._write(batches)
        except Exception as error:
            if len(batches) > 1 and not isinstance(error, Unavailable):
                for batch in batches:  # one of them is at fault: the others are not to suffer
                    if batch.stream.error is None:
                        batch.number(batch.stream.last + 1)
                        await self._flush([batch])
                    else:
                        batch.tell(batch.stream.error)
                return
            logger.exception("%d streams could not be written", len(batches))
            failure = error if isinstance(error, CaesuraError) else Unavailable()
            outcomes = [failure for _ in batches]
            for batch in batches:
                batch.stream.fail(failure)
        told = list(zip(batches, outcomes, strict=True))
        written = [batch for batch, outcome in told if self._publish(batch, outcome)]
        self._put_back([batch for batch, outcome in told if outcome is _LATER])
        self._wakeups.tell([batch.stream.turn for batch in written])
        if self._committed is not None:
            self._committed(time.perf_counter() - began, written)

    async def _write(self, batches: list[Batch]) -> list[Any]:
        return await self._patiently(lambda again: self._database.write_lightly(_append, batches, again))

    async def _patiently(self, attempt: Callable[[bool], Awaitable[T]]) -> T:
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

    async def _look(self, turn: int, after: int) -> list[Envelope]:
        # All that the rows gave: what is decoded once should not be decoded again.
        return await self._patiently(lambda _: self._database.read(rows.read, turn, after, WINDOW))

    def _put_back(self, batches: list[Batch]) -> None:
        by_stream: dict[Stream, list[Batch]] = {}
        for batch in batches:
            by_stream.setdefault(batch.stream, []).append(batch)
        for stream, late in by_stream.items():
            if stream.error is None:
                stream.put_back(late)
                self._dirty[stream] = None
            for batch in late if stream.error is not None else ():
                batch.tell(stream.error)

    def _publish(self, batch: Batch, outcome: Any) -> bool:
        """Show a batch to the readers, now that it is on disk, and tell who waits for it."""
        stream = batch.stream
        if outcome is _LATER:
            return False
        if isinstance(outcome, Exception):
            if isinstance(outcome, Fenced) or batch.done is None:
                stream.fail(outcome if isinstance(outcome, CaesuraError) else _unexpected(outcome))
            batch.tell(outcome)
            return False
        if not batch.envelopes:
            self._settle(batch, outcome)
            return False
        stream.last = batch.envelopes[-1].seq
        if tail := self._tails.get(stream.turn):
            tail.push(batch.envelopes)
        self._settle(batch, outcome)
        return True

    def _settle(self, batch: Batch, outcome: Any) -> None:
        """Tell who waits for the batch: at once, or when it would survive power loss, if it must. The next
        commit does not wait for that."""
        if not (batch.durable and self._database.light):
            batch.tell(outcome)
            return
        task = asyncio.create_task(self._harden(batch, outcome))
        self._hardening.add(task)
        task.add_done_callback(self._hardening.discard)

    async def _harden(self, batch: Batch, outcome: Any) -> None:
        try:
            await self._database.harden()
        except CaesuraError as error:
            batch.tell(error)
        else:
            batch.tell(outcome)

    def _join(self, turn: int) -> Tail:
        tail = self._tails.setdefault(turn, Tail())
        tail.readers += 1
        return tail

    def _leave(self, turn: int, tail: Tail) -> None:
        tail.readers -= 1
        if tail.readers == 0 and self._tails.get(turn) is tail:
            del self._tails[turn]

    def _heard(self, turn: int) -> None:
        if tail := self._tails.get(turn):
            tail.overtaken()


def _append(connection: Connection, batches: Sequence[Batch], again: bool) -> list[Any]:
    """Write the batches; for each, what its `also` gave or the error that refused it. `again` is for a
    second try: a commit whose answer got lost may have happened, and must not happen twice."""
    todo = [batch for batch in batches if not (again and _landed(connection, batch))]
    outcomes: dict[Batch, Any] = {batch: batch.result for batch in batches}
    # What streams begin with goes in with one statement; whatever follows an `also` has to wait for it.
    behind: set[Stream] = set()
    first: list[Batch] = []
    rest: list[Batch] = []
    for batch in todo:
        if batch.also is None and batch.stream not in behind:
            first.append(batch)
        else:
            behind.add(batch.stream)
            rest.append(batch)
    refused = _insert(connection, first)
    outcomes |= {batch: Fenced() for batch in first if batch.stream.turn in refused}
    stopped: dict[Stream, Any] = {batch.stream: Fenced() for batch in todo if batch.stream.turn in refused}
    for batch in rest:
        if batch.stream in stopped:
            outcomes[batch] = stopped[batch.stream]
            continue
        outcomes[batch] = batch.result = _append_with(connection, batch)
        if isinstance(batch.result, Exception):
            stopped[batch.stream] = Fenced() if isinstance(batch.result, Fenced) else _LATER
    return [outcomes[batch] for batch in batches]


def _insert(connection: Connection, batches: Sequence[Batch]) -> set[int]:
    made = [row for batch in batches if batch.envelopes for row in batch.rows()]
    return rows.insert_fenced(connection, made) if made else set()


def _append_with(connection: Connection, batch: Batch) -> Any:
    """Write a batch with what goes with it, or neither."""
    try:
        with savepoint(connection):
            turns.hold(connection, batch.stream.turn, batch.stream.epoch)
            _insert(connection, [batch])
            return batch.also(connection) if batch.also is not None else None
    except Exception as error:
        if isinstance(error, DBAPIError) and not isinstance(error, _ITS_OWN_FAULT):
            raise  # the storage failed, not this batch
        return error


def _unexpected(error: Exception) -> CaesuraError:
    logger.error("what went with an event could not be written", exc_info=error)
    failure = Unavailable()
    failure.__cause__ = error
    return failure


def _landed(connection: Connection, batch: Batch) -> bool:
    # What stands there under another epoch is another owner's.
    stream = batch.stream
    return (
        bool(batch.envelopes) and rows.last(connection, stream.turn, stream.epoch) >= batch.envelopes[-1].seq
    )


def _last(connection: Connection, turn: int, epoch: int) -> int:
    found = turns.numbered(connection, turn)
    if found is None or found.epoch != epoch:
        raise Fenced
    return rows.last(connection, turn)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
