"""Streams: reading the log of a turn, from any cursor, to the end of a segment."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import Connection

from caesura.core import cursors
from caesura.core import events as ev
from caesura.core.events import Envelope
from caesura.core.turns import Turn
from caesura.log import Log
from caesura.service.presence import Presence
from caesura.service.readings import Readings
from caesura.store import conversations, events, turns
from caesura.store.database import Database

#: An outcome, the title, and the end of the segment.
_LATE = 3
#: What a reader reads up to the end of.
Until = Literal["segment", "turn"]
_OUTCOMES = (ev.Interrupted, ev.Finished, ev.Failed, ev.Stopped)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reader begins: after the event with this number, which was written under this epoch.
    `exhausted`: nothing will ever come after it, unless somebody acts. `segment` is the one to read where
    that begins after it. `anew`: the reader has seen events that were lost, and begins its segment again."""

    turn: Turn
    after: int
    exhausted: bool
    segment: int = 0
    epoch: int = 0
    anew: bool = False


class Streams:
    def __init__(self, database: Database, log: Log, presence: Presence, readings: Readings) -> None:
        self._database, self._log, self._presence, self._readings = database, log, presence, readings

    async def read(
        self, turn: Turn, after: int, *, until: Until, since: int | None = None, segment: int = 0
    ) -> AsyncGenerator[list[Envelope], None]:
        """Events strictly after the cursor, as they come, up to and with the end of its segment, or that of
        the turn. With `since`, also those between that and the cursor, for a reader that must know what came
        before; with `segment`, from the beginning of that one. Ends early only if the turn is deleted."""
        follow = self._log.follow(turn.num, after if since is None else since)
        with self._presence.reading(turn):
            try:
                async for batch in _from_segment(follow, segment) if segment else follow:
                    if until == "segment" and (end := _segment_end(batch, after)) is not None:
                        yield batch[: end + 1]
                        return
                    last = batch[-1]
                    yield batch
                    del batch  # a reader that waits holds nothing
                    if until == "turn" and await self._ends(turn, last):
                        return
            finally:
                await follow.aclose()

    async def place(self, user_id: str, turn_id: str, cursor: int) -> Place:
        """Where to read a turn on. A void cursor is moved to the beginning of its segment."""
        with self._presence.coming(user_id, turn_id):
            async with self._readings.of(user_id):
                place = await self._database.read(_place, user_id, turn_id, cursor)
            self._presence.expect(place.turn)
        return replace(place, turn=place.turn.bare())

    async def join(
        self, user_id: str, conversation_id: str, ordinal: int | None = None, cursor: int = 0
    ) -> Place | None:
        """Where to read a conversation on: behind the event that was seen last, in the turn with this
        ordinal, or in the newest turn once nothing is left there. Without a cursor the newest segment, from
        its beginning. None when nothing is left."""
        with self._presence.coming(user_id, conversation_id):
            async with self._readings.of(user_id):
                place = await self._database.read(_join, user_id, conversation_id, ordinal, cursor)
            if place is None:
                return None
            self._presence.expect(place.turn)
        return replace(place, turn=place.turn.bare())

    async def _ends(self, turn: Turn, item: Envelope) -> bool:
        """Whether the turn ends with this event: its last segment does."""
        return type(item.event) is ev.SegmentEnded and await self._database.read(
            _ended_in, turn.num, item.seq
        )


async def _from_segment(follow: AsyncIterator[list[Envelope]], segment: int) -> AsyncIterator[list[Envelope]]:
    """What was still to be said in an earlier segment (its title, its end) is not for this reader."""
    begun = False
    async for batch in follow:
        if not begun:
            start = next((i for i, item in enumerate(batch) if _begins(item, segment)), len(batch))
            begun, batch = start < len(batch), batch[start:]
        if begun:
            yield batch
        del batch


def _begins(item: Envelope, segment: int) -> bool:
    return isinstance(item.event, ev.RunStarted) and item.event.segment >= segment


def _segment_end(batch: list[Envelope], after: int) -> int | None:
    """Where in the batch the segment of the cursor ends."""
    for place, item in enumerate(batch):
        if type(item.event) is ev.SegmentEnded and item.seq > after:
            return place
    return None


def _current(connection: Connection, user_id: str, conversation_id: str) -> Turn | None:
    conversation = conversations.get(connection, conversation_id, user_id)
    return turns.get(connection, conversation.active_turn) if conversation.active_turn else None


def _place(connection: Connection, user_id: str, turn_id: str, cursor: int) -> Place:
    turn = turns.owned(connection, turn_id, user_id)
    last = events.last(connection, turn.num)
    epoch = _written_under(connection, turn, cursor, last)
    if epoch is None:
        return _anew(connection, turn, cursor) or Place(turn, turn.segment_seq, False, anew=True)
    after = cursors.seq(cursor)
    return Place(turn, after, after >= last and _quiet(connection, turn, last), epoch=epoch)


def _written_under(connection: Connection, turn: Turn, cursor: int, last: int) -> int | None:
    """The epoch under which the cursor's event was written; None when the cursor is void."""
    seq = cursors.seq(cursor)
    if cursor == 0:
        return 0
    if seq > last or cursors.attempt(cursor) > cursors.MOST:
        return None
    if cursors.attempt(cursor) == turn.epoch < cursors.MOST:
        return turn.epoch  # no later attempt has begun, and could have taken the event's place
    epoch = 1
    if turn.epoch > 1:
        since = turn.segment_seq if seq > turn.segment_seq else 0
        begun = events.starts(connection, turn.num, since, seq)
        epoch = begun[-1][1].epoch if begun else 0
    return epoch if cursors.names(cursor, epoch) else None


def _anew(connection: Connection, turn: Turn, cursor: int) -> Place | None:
    """The beginning of the segment in which a void cursor's attempt was, or the one that took its place. None
    when the cursor names no attempt, or one that nothing has replaced yet."""
    attempt = cursors.attempt(cursor)
    starts = events.starts(connection, turn.num) if attempt else []
    found = next((event.segment for _, event in starts if event.epoch >= attempt), None)
    begin = next((seq for seq, event in starts if event.segment == found), None)
    return Place(turn, begin - 1, False, anew=True) if begin is not None else None


def _join(
    connection: Connection, user_id: str, conversation_id: str, ordinal: int | None, cursor: int
) -> Place | None:
    current = _current(connection, user_id, conversation_id)
    if current is None:
        return None
    if ordinal is None:
        return _newest(connection, current)
    if ordinal < current.ordinal:
        older = turns.at(connection, conversation_id, ordinal)
        place = _behind(connection, older, cursor) if older is not None else None
        return place or _newest(connection, current)
    if ordinal > current.ordinal:  # of another branch, or of none
        return replace(_newest(connection, current), anew=True)
    return _behind(connection, current, cursor)


def _newest(connection: Connection, turn: Turn) -> Place:
    """The beginning of the newest segment. After an answer that is the one which is about to begin: the one
    before, with the question that was answered, is over."""
    last = events.last(connection, turn.num)
    if turn.status in ("queued", "running") and _came_to_an_outcome(connection, turn, last):
        return Place(turn, last, False, turn.segment + 1)
    return Place(turn, turn.segment_seq, False)


def _came_to_an_outcome(connection: Connection, turn: Turn, last: int) -> bool:
    """Whether the newest segment in the log has its outcome. Only its title and its end come after that."""
    newest = events.read(connection, turn.num, max(last - _LATE, turn.segment_seq), _LATE)
    return any(isinstance(item.event, _OUTCOMES) for item in newest)


def _behind(connection: Connection, turn: Turn, cursor: int) -> Place | None:
    last = events.last(connection, turn.num)
    if _written_under(connection, turn, cursor, last) is None:
        return _anew(connection, turn, cursor) or replace(_newest(connection, turn), anew=True)
    seq = cursors.seq(cursor)
    if seq == last and _quiet(connection, turn, last):
        return None
    return Place(turn, seq, False)


def _quiet(connection: Connection, turn: Turn, last: int) -> bool:
    """Whether the log ends in a whole segment that nothing follows by itself. An owner may still hold the
    turn for a moment after it has written the last event."""
    if not (turn.ended or turn.status == "waiting"):
        return False
    if turn.owner is None:
        return True
    return any(
        isinstance(item.event, ev.SegmentEnded) for item in events.read(connection, turn.num, last - 1, 1)
    )


def _ended_in(connection: Connection, num: int, seq: int) -> bool:
    turn = turns.numbered(connection, num)
    return turn is None or (turn.ended and events.last(connection, num) == seq)
