"""A stream: the writing end of one turn's log, held by whoever owns the turn's epoch."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sqlalchemy import Connection

from caesura.core import codec, json_data
from caesura.core.errors import CaesuraError
from caesura.core.events import CallDelta, Envelope, Event, ReasoningDelta, TextDelta
from caesura.store.database import is_brief
from caesura.store.events import Rows
from caesura.store.turns import LIGHT

Also = Callable[[Connection], Any]
_Stamped = tuple[int, Event]
_HIGH = 4096
#: At most this many events, and bytes of events, are in one row; but at least one event. A reader decodes
#: whole rows.
_ROW, _ROW_BYTES = 512, 256 * 1024
_SAID = (TextDelta, ReasoningDelta, CallDelta)


class Urgency(Enum):
    """How soon the pending events of a stream are written."""

    #: At once: a caller waits, or it is the first word of a reply, or any other event that people see.
    NOW = "now"
    #: At the pace of the flusher: words that follow other words.
    PACED = "paced"
    #: A little later, together with the events that follow.
    LAX = "lax"


@dataclass(slots=True, eq=False)
class Batch:
    """The events of one stream that are committed together."""

    stream: Stream
    events: list[_Stamped]
    also: Also | None = None
    durable: bool = False
    done: asyncio.Future[Any] | None = None
    envelopes: list[Envelope] = field(default_factory=list)
    #: The last result of `also`.
    result: Any = None
    #: Whether the reply to an earlier try got lost. That try may have succeeded, and must not be repeated
    #: then.
    again: bool = False

    @property
    def is_brief(self) -> bool:
        """Whether it takes less than a millisecond to be stored."""
        return self.stream.size <= LIGHT and (self.also is None or is_brief(self.also))

    def number(self, first: int) -> None:
        """Number the events before they are written. A retry keeps the same numbers."""
        self.envelopes = [Envelope(seq, at, event) for seq, (at, event) in enumerate(self.events, first)]

    def rows(self) -> list[Rows]:
        starts = range(0, len(self.events), _ROW)
        return [row for start in starts for row in self._rows(start, min(start + _ROW, len(self.events)))]

    def _rows(self, start: int, stop: int) -> Iterator[Rows]:
        """These events as one row, or as several if they are too large."""
        part = self.events[start:stop]
        at = part[0][0]
        body = codec.encode([event for _, event in part], [stamp - at for stamp, _ in part])
        if len(body) > _ROW_BYTES and len(part) > 1:
            middle = (start + stop) // 2
            yield from self._rows(start, middle)
            yield from self._rows(middle, stop)
            return
        first = self.envelopes[start].seq
        if not all(_kept(event) for _, event in part):
            # Readers are shown the event as it was stored, not the original.
            self.envelopes[start:stop] = codec.decode(codec.VERSION, body, first, at)
        yield Rows(self.stream.turn, self.stream.epoch, first, first + len(part) - 1, at, body)

    def tell(self, outcome: Any) -> None:
        if self.done is None or self.done.done():
            return
        if isinstance(outcome, StopIteration):
            self.done.set_exception(RuntimeError("StopIteration was raised"))  # a future does not accept it
        elif isinstance(outcome, Exception):
            self.done.set_exception(outcome)
        else:
            self.done.set_result(outcome)


class Stream:
    """Appends in order. `put` returns at once. `commit` returns when all that was put is on disk."""

    def __init__(self, turn: int, epoch: int, last: int, dirty: Callable[[Stream], None]) -> None:
        self.turn = turn
        self.epoch = epoch
        #: The number of the newest event on disk.
        self.last = last
        #: How many bytes the turn has, approximately: its message and its log.
        self.size = 0
        #: When the pending words are due to be written, in milliseconds.
        self.due = 0
        #: The time of the newest event that was put or submitted, in milliseconds.
        self.stamped = 0
        #: Why nothing more can be written, if that is so.
        self.error: CaesuraError | None = None
        self._dirty = dirty
        self._pending: list[_Stamped] = []
        self._commits: list[Batch] = []
        #: Whether the last event was a word, and whether the pending events are written at once.
        self._in_words = self._now = False

    def put(self, event: Event, *, lax: bool = False) -> None:
        """Append with the next commit, which begins at once if none is running. If `lax`, the commit begins a
        little later, together with the events that follow."""
        if self.error is not None:
            raise self.error
        now = self.stamped = time.time_ns() // 1_000_000
        self._pending.append((now, event))
        if lax:
            self._dirty(self)
            return
        is_word = isinstance(event, _SAID)
        if not (is_word and self._in_words):
            self._now = True
            self._dirty(self)
        elif len(self._pending) == 1 or now >= self.due:
            self._dirty(self)
        self._in_words = is_word

    async def breathe(self) -> None:
        """Let other tasks run. If too much is pending, wait until it is written."""
        if len(self._pending) >= _HIGH:
            await self.commit()
        else:
            await asyncio.sleep(0)

    async def commit(self, *events: Event, also: Also | None = None, durable: bool = False) -> Any:
        """Append these events, after all that was put before, with `also` in the same transaction: all or
        nothing. Returns the result of `also` when it is on disk. If `also` raises, the error is raised here
        and none of these events is written. An `also` without an event must be safe to repeat."""
        return await self.submit(*events, also=also, durable=durable)

    def submit(
        self, *events: Event, also: Also | None = None, durable: bool = False, at: int | None = None
    ) -> asyncio.Future[Any]:
        """As `commit`, for a caller that waits for the outcome in its own way. `at` is the time of the
        events, if the caller has already used it."""
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._now = True
        self._queue(events, also, durable, done, at)
        return done

    def note(self, *events: Event, also: Also, lax: bool = False) -> None:
        """As `commit`, without waiting for it. If `lax`, the commit begins a little later, together with the
        events that follow. If the commit is refused, nothing more can be written."""
        self._now = self._now or not lax
        self._queue(events, also)

    def _queue(
        self,
        events: Sequence[Event],
        also: Also | None,
        durable: bool = False,
        done: asyncio.Future[Any] | None = None,
        at: int | None = None,
    ) -> None:
        if self.error is not None:
            raise self.error
        now = self.stamped = time.time_ns() // 1_000_000 if at is None else at
        taken, self._pending = self._pending, []
        if also is not None and taken:
            # Events that were put before must not fail together with `also`.
            self._commits.append(Batch(self, taken))
            taken = []
        taken = [*taken, *((now, event) for event in events)]
        self._commits.append(Batch(self, taken, also, durable, done))
        self._dirty(self)

    def take(self, most: int | None = None) -> list[Batch]:
        """All pending batches, or at most `most` of them, in order. Only for the log."""
        if self._pending:
            self._commits.append(Batch(self, self._pending))
            self._pending = []
        count = len(self._commits) if most is None else most
        batches, self._commits = self._commits[:count], self._commits[count:]
        self._now = bool(self._commits)
        first = self.last + 1
        for batch in batches:
            batch.number(first)
            first += len(batch.events)
        return batches

    def take_words(self) -> list[Batch]:
        """The batches before the first one with an `also`. Only for the log."""
        place = next(place for place, batch in enumerate(self._commits) if batch.also is not None)
        return self.take(place)

    @property
    def ready(self) -> bool:
        """Whether there is something to write."""
        return bool(self._commits or self._pending)

    @property
    def has_also(self) -> bool:
        """Whether a pending batch has an `also`."""
        return any(batch.also is not None for batch in self._commits)

    def put_back(self, batch: Batch) -> None:
        """Put back a batch that was not tried because an earlier one was refused. Only for the log."""
        self._commits.insert(0, batch)
        self._now = True

    @property
    def urgency(self) -> Urgency:
        if self._now:
            return Urgency.NOW
        return Urgency.PACED if self._in_words else Urgency.LAX

    def fail(self, error: CaesuraError) -> None:
        """Mark the stream as failed: all waiting callers, and all later ones, get this error."""
        self.error = error
        self._pending.clear()
        refused, self._commits = self._commits, []
        for batch in refused:
            batch.tell(error)


def _kept(event: Event) -> bool:
    """Whether decoding the stored form is sure to give an equal event."""
    if not isinstance(event, _SAID) or (isinstance(event, CallDelta) and event.name):
        return False
    return event.text.isascii() or event.text == json_data.text(event.text)
