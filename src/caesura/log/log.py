"""The log: append, read, follow. An event is on disk before any reader sees it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from caesura.core import codec
from caesura.core.errors import CaesuraError, Fenced, Unwritable
from caesura.core.events import Envelope, Event
from caesura.log.flusher import Committed, Flusher
from caesura.log.stream import Batch, Stream
from caesura.log.tail import Tail, fitting
from caesura.log.wakeups import Alone, Wakeups
from caesura.store import events as rows
from caesura.store import turns
from caesura.store.database import Database

logger = logging.getLogger(__name__)

#: At most this many events, and bytes of events, are held for a reader; but at least one event.
WINDOW, WINDOW_BYTES = 256, 256 * 1024


#: At most this many readers query the rows at once. More threads would only wait for one another and for the
#: event loop. On a shared database each waiting reader also queries once a second.
_LOOKS, _LOOKS_SHARED = 2, 8


class Log:
    """The log of this process, for all of its writers and readers."""

    def __init__(
        self,
        database: Database,
        wakeups: Wakeups | None = None,
        *,
        patience: float = 5.0,
        poll: float = 1.0,
        committed: Committed | None = None,
    ) -> None:
        """`patience` is how many seconds storage may be unavailable before writers get an error. `poll` is
        how often a reader queries the rows if other processes write too. `committed` must be quick."""
        self._database = database
        self._wakeups = wakeups or Alone()
        self._wakeups.listen(self._heard)
        self._poll = poll if database.shared else None
        self._committed = committed
        self._flusher = Flusher(database, self._publish, self._written, patience)
        self._tails: dict[int, Tail] = {}
        self._closed = False
        self._packing = asyncio.Lock()
        self._looking = asyncio.Semaphore(_LOOKS_SHARED if database.shared else _LOOKS)
        self._hardening: set[asyncio.Task[None]] = set()

    async def open(self, turn: int, epoch: int) -> Stream:
        """The writing end of a turn's log, for the owner of this epoch; `Fenced` for anyone else."""
        return self.begin(turn, epoch, await self._database.read(_last, turn, epoch))

    def begin(self, turn: int, epoch: int, last: int = 0) -> Stream:
        """As `open`, for an owner that already knows the number of the last event."""
        return Stream(turn, epoch, last, self._flusher.touch)

    @contextmanager
    def live(self, stream: Stream) -> Iterator[None]:
        """While the context is open, keep the stream's newest events in memory, so that readers who come
        later need not query the rows."""
        tail = self._join(stream.turn)
        tail.begin(stream.last)
        try:
            yield
        finally:
            tail.end()
            self._leave(stream.turn, tail)

    async def append(self, turn: int, epoch: int, events: Sequence[Event]) -> int:
        """Append these events. Returns the number of the last one when it is on disk."""
        stream = await self.open(turn, epoch)
        await stream.commit(*events)
        return stream.last

    async def read(self, turn: int, after: int = 0, limit: int = WINDOW) -> list[Envelope]:
        """Committed events strictly after the cursor, in order, without gaps: at most `limit` of them."""
        found = await self._database.read(rows.read, turn, after, limit)
        return found[:limit]

    async def follow(self, turn: int, after: int = 0) -> AsyncGenerator[list[Envelope], None]:
        """Committed events strictly after the cursor, in order, without gaps or repeats, as they come. Ends
        only when the log is closed or the turn deleted. A slow reader holds one window and delays nobody."""
        tail = self._join(turn)
        look = False
        try:
            # A run that has just been created has not started yet. After this step its writer is known.
            await asyncio.sleep(0)
            while True:
                version = tail.version
                size = 0
                found = None if look else tail.after(after, WINDOW, WINDOW_BYTES)
                if found is None:
                    found, size = await self._look(turn, after)
                    look = False
                if found is None:
                    return
                if found:
                    short = len(found) <= WINDOW and size <= WINDOW_BYTES
                    for window in (found,) if short else _windows(found, size):
                        after = window[-1].seq
                        yield window
                    del found, window  # a waiting reader holds no events
                elif tail.version != version:
                    continue  # events came while the rows were queried
                elif tail.closed:
                    return
                else:
                    look = not await tail.changed(self._poll)
        finally:
            self._leave(turn, tail)

    async def pack(self, turn: int, epoch: int) -> None:
        """Pack the log of an ended turn into few rows. Readers see no difference."""
        async with self._packing:  # one at a time: nobody waits for packing, and others want to write
            await self._database.write_lightly(rows.pack, turn, epoch)

    def forget(self, turn: int) -> None:
        """End the readers of a turn that was deleted."""
        if tail := self._tails.get(turn):
            tail.close()

    async def close(self) -> None:
        """Write what is pending, then let every reader end."""
        await self._flusher.close()
        self._closed = True
        if self._hardening:
            await asyncio.wait(self._hardening)
        for tail in list(self._tails.values()):
            tail.close()

    async def _look(self, turn: int, after: int) -> tuple[list[Envelope] | None, int]:
        """All events of the rows in one window, since decoding them twice would be wasteful, and their size
        in bytes. None when the turn is gone, perhaps deleted by another process."""

        async def look(_: bool) -> tuple[list[Envelope] | None, int]:
            async with self._looking:
                return await self._database.read(_rows, turn, after)

        return await self._flusher.patiently(look)

    def _written(self, seconds: float, batches: Sequence[Batch]) -> None:
        """Announce a commit. The commit has happened: an error here must not affect it."""
        try:
            self._wakeups.tell([batch.stream.turn for batch in batches])
            if self._committed is not None:
                self._committed(seconds, batches)
        except Exception:
            logger.exception("a commit could not be announced to other processes or to the metrics")

    def _publish(self, batch: Batch, outcome: Any) -> bool:
        """Publish a batch, now on disk, to the readers, and notify its caller. Returns whether events were
        written."""
        stream = batch.stream
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
        """Notify the caller of the batch: at once, or, if the batch must be durable, when it would survive
        power loss. The next commit does not wait for that."""
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
        tail.closed = tail.closed or self._closed
        tail.readers += 1
        return tail

    def _leave(self, turn: int, tail: Tail) -> None:
        tail.readers -= 1
        if tail.readers == 0 and self._tails.get(turn) is tail:
            del self._tails[turn]

    def _heard(self, turn: int) -> None:
        if tail := self._tails.get(turn):
            tail.overtaken()


def _unexpected(error: Exception) -> CaesuraError:
    logger.error("the rows that belong to an event could not be written", exc_info=error)
    failure = Unwritable()
    failure.__cause__ = error
    return failure


def _windows(found: list[Envelope], size: int) -> Iterator[list[Envelope]]:
    """The same events split into windows. `size` is their total bytes: if it is small, no event is
    measured."""
    start = 0
    while start < len(found):
        window = found[start : start + WINDOW]
        if size > WINDOW_BYTES:
            window = window[: fitting((codec.size(item.event) for item in window), WINDOW_BYTES)]
        start += len(window)
        yield window


def _rows(connection: Connection, turn: int, after: int) -> tuple[list[Envelope] | None, int]:
    found, size = rows.window(connection, turn, after, WINDOW, WINDOW_BYTES)
    return found if found or turns.exists(connection, turn) else None, size


def _last(connection: Connection, turn: int, epoch: int) -> int:
    found = turns.numbered(connection, turn)
    if found is None or found.epoch != epoch:
        raise Fenced
    return rows.last(connection, turn)
