"""Streams: reading the log of a turn from any cursor to the end of a segment or of the turn."""

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
from caesura.service.long_reads import LongReads
from caesura.service.presence import Presence
from caesura.store import conversations, events, turns
from caesura.store.database import Database

#: The last events of a segment at most: an outcome, the title, and the segment's end.
_LATE = 3
#: Where reading ends: with the segment, with the segment or already with its question, or with the turn.
Until = Literal["segment", "pause", "turn"]
_ENDS: dict[Until, tuple[type[ev.Event], ...]] = {
    "segment": (ev.SegmentEnded,),
    "pause": (ev.SegmentEnded, ev.Interrupted),
    "turn": (),
}
_OUTCOMES = (ev.Interrupted, ev.Finished, ev.Failed, ev.Stopped)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reader begins: after the event with the number `after`, which was written under `epoch`.
    `exhausted`: no event will follow unless somebody acts. `segment`: if not 0, the segment to read, which
    begins after that event. `anew`: the reader has seen events that were lost or never existed, and reads a
    segment from its beginning."""

    turn: Turn
    after: int
    exhausted: bool
    segment: int = 0
    epoch: int = 0
    anew: bool = False


class Streams:
    def __init__(self, database: Database, log: Log, presence: Presence, long_reads: LongReads) -> None:
        self._database, self._log, self._presence, self._long_reads = database, log, presence, long_reads

    async def read(
        self, turn: Turn, after: int, *, until: Until, since: int | None = None, segment: int = 0
    ) -> AsyncGenerator[list[Envelope], None]:
        """Events after the given cursor, as they are written, up to and including the end of the cursor's
        segment or of the turn. `since` also yields the events between `since` and the cursor, for a reader
        that needs them to build its state. `segment` starts at the beginning of that segment. Ends early only
        if the turn is deleted."""
        follow = self._log.follow(turn.num, after if since is None else since)
        with self._presence.reading(turn):
            try:
                async for batch in _from_segment(follow, segment) if segment else follow:
                    if (end := _end(batch, after, _ENDS[until])) is not None:
                        yield batch[: end + 1]
                        return
                    last = batch[-1]
                    yield batch
                    del batch  # a waiting reader keeps no events in memory
                    if until == "turn" and await self._ends(turn, last):
                        return
            finally:
                await follow.aclose()

    async def place(self, user_id: str, turn_id: str, cursor: int) -> Place:
        """Where to continue reading a turn. A void cursor is moved to the beginning of its segment."""
        with self._presence.coming(user_id, turn_id):
            async with self._long_reads.of(user_id):
                place = await self._database.read(_place, user_id, turn_id, cursor)
            self._presence.expect(place.turn)
        return replace(place, turn=place.turn.bare())

    async def enter(self, user_id: str, turn_id: str, cursor: int) -> Place | None:
        """Where to continue reading a turn one segment at a time: after the cursor, or at the next segment if
        the cursor's segment has ended or has asked its question. With cursor 0: at the beginning of the
        newest segment. None when nothing is left unless somebody acts. A void cursor leads to the beginning
        of a segment, and the place is `anew`."""
        with self._presence.coming(user_id, turn_id):
            async with self._long_reads.of(user_id):
                place = await self._database.read(_enter, user_id, turn_id, cursor)
            if place is None:
                return None
            self._presence.expect(place.turn)
        return replace(place, turn=place.turn.bare())

    async def join(
        self, user_id: str, conversation_id: str, ordinal: int | None = None, cursor: int = 0
    ) -> Place | None:
        """Where to continue reading a conversation: after the given cursor in the turn with this ordinal, on
        whichever branch it is. If nothing is left there: at the beginning of the next turn, which is the
        first one on the active branch with a greater ordinal. If there is none, but the active turn still
        runs: at its newest segment. None when nothing is left.

        Without a cursor: the beginning of the newest segment of the active turn. A cursor that names no event
        of the conversation leads to the beginning of a segment, and the place is `anew`."""
        with self._presence.coming(user_id, conversation_id):
            async with self._long_reads.of(user_id):
                place = await self._database.read(_join, user_id, conversation_id, ordinal, cursor)
            if place is None:
                return None
            self._presence.expect(place.turn)
        return replace(place, turn=place.turn.bare())

    async def _ends(self, turn: Turn, item: Envelope) -> bool:
        """Whether this event ends the turn's last segment, and so the turn."""
        return type(item.event) is ev.SegmentEnded and await self._database.read(
            _ended_in, turn.num, item.seq
        )


async def _from_segment(follow: AsyncIterator[list[Envelope]], segment: int) -> AsyncIterator[list[Envelope]]:
    """Events from the beginning of this segment on. Late events of an earlier segment (its title, its end)
    are skipped."""
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


def _end(batch: list[Envelope], after: int, ends: tuple[type[ev.Event], ...]) -> int | None:
    """The index in the batch of the first event after the cursor that is one of `ends`; None if there is
    none."""
    for place, item in enumerate(batch) if ends else ():
        if type(item.event) in ends and item.seq > after:
            return place
    return None


def _current(connection: Connection, user_id: str, conversation_id: str) -> Turn | None:
    conversation = conversations.get(connection, conversation_id, user_id)
    return turns.get(connection, conversation.active_turn) if conversation.active_turn else None


def _place(connection: Connection, user_id: str, turn_id: str, cursor: int) -> Place:
    turn = turns.owned(connection, turn_id, user_id)
    last = events.last(connection, turn.num)
    epoch = _written_under(connection, turn, cursor, last) if cursor else 0
    if epoch is None:
        return _anew(connection, turn, cursor, last) or Place(turn, turn.segment_seq, False, anew=True)
    after = cursors.seq(cursor)
    return Place(turn, after, after >= last and _quiet(connection, turn, last), epoch=epoch)


def _written_under(connection: Connection, turn: Turn, cursor: int, last: int) -> int | None:
    """The epoch under which the cursor's event was written, as the log says: 0 in a log of an older version.
    None when the cursor is void."""
    seq, attempt = cursors.seq(cursor), cursors.attempt(cursor)
    if seq == 0 or seq > last or attempt > cursors.MOST:
        return None
    newest = seq > turn.segment_seq
    if newest and 1 < attempt == turn.epoch < cursors.MOST:
        return turn.epoch  # no later attempt has begun that could have replaced the event
    # Under its first epoch a turn has one `RunStarted`: its first event.
    since, final = turn.segment_seq if newest else 0, seq if turn.epoch > 1 else 1
    begun = events.starts(connection, turn.num, since, final)
    epoch = begun[-1][1].epoch if begun else 0
    return epoch if cursors.names(cursor, epoch) else None


def _anew(connection: Connection, turn: Turn, cursor: int, last: int) -> Place | None:
    """The beginning of the segment of a void cursor's attempt, or of the attempt that replaced it, but no
    later than the beginning of the segment that now has the cursor's number. None when the cursor names no
    attempt, or an attempt that has not been replaced yet."""
    seq, attempt = cursors.seq(cursor), cursors.attempt(cursor)
    if seq == 0:
        return Place(turn, 0, False, anew=True)
    starts = events.starts(connection, turn.num) if attempt else []
    begins: dict[int, int] = {}
    for number, event in starts:
        begins.setdefault(event.segment, number)
    found = next((begins[event.segment] for _, event in starts if event.epoch >= attempt), None)
    if seq <= last:
        here = max((begin for begin in begins.values() if begin <= seq), default=None)
        found = min((begin for begin in (found, here) if begin is not None), default=None)
    return Place(turn, found - 1, False, anew=True) if found is not None else None


def _join(
    connection: Connection, user_id: str, conversation_id: str, ordinal: int | None, cursor: int
) -> Place | None:
    current = _current(connection, user_id, conversation_id)
    if current is None:
        return None
    if ordinal is None:
        return _newest(connection, current)
    turn = current if ordinal == current.ordinal else turns.at(connection, conversation_id, ordinal)
    if turn is None:
        return replace(_newest(connection, current), anew=True)
    return _behind(connection, turn, cursor) or _next(connection, turn, current)


def _enter(connection: Connection, user_id: str, turn_id: str, cursor: int) -> Place | None:
    turn = turns.owned(connection, turn_id, user_id)
    if cursor == 0:
        return _newest(connection, turn)
    place = _behind(connection, turn, cursor)
    if place is None or place.anew or not _is_end(connection, turn, place.after):
        return place
    if place.after <= turn.segment_seq:
        return replace(place, segment=_segment_of(connection, turn, place.after) + 1)
    return None if turn.ended or turn.status == "waiting" else replace(place, segment=turn.segment + 1)


def _is_end(connection: Connection, turn: Turn, seq: int) -> bool:
    """Whether a reader that has this event has all of its segment: the question with which it ends, or its
    last event."""
    found = events.read(connection, turn.num, seq - 1, 1)
    return bool(found) and isinstance(found[0].event, ev.Interrupted | ev.SegmentEnded)


def _segment_of(connection: Connection, turn: Turn, seq: int) -> int:
    begun = events.starts(connection, turn.num, 0, seq)
    return begun[-1][1].segment if begun else 0


def _next(connection: Connection, turn: Turn, current: Turn) -> Place | None:
    """Where a reader continues that has seen all of a turn."""
    if (later := turns.later(connection, current, turn.ordinal)) is not None:
        return Place(later, 0, False)
    quiet = _quiet(connection, current, events.last(connection, current.num))
    return None if quiet else _newest(connection, current)


def _newest(connection: Connection, turn: Turn) -> Place:
    """The beginning of the newest segment. After an answer that is the segment which is about to begin: the
    previous segment, with the answered question, is over."""
    last = events.last(connection, turn.num)
    if turn.status in ("queued", "running") and _came_to_an_outcome(connection, turn, last):
        return Place(turn, last, False, turn.segment + 1)
    return Place(turn, turn.segment_seq, False)


def _came_to_an_outcome(connection: Connection, turn: Turn, last: int) -> bool:
    """Whether the log has the outcome of its newest segment. Only the title and the segment's end follow an
    outcome."""
    newest = events.read(connection, turn.num, max(last - _LATE, turn.segment_seq), _LATE)
    return any(isinstance(item.event, _OUTCOMES) for item in newest)


def _behind(connection: Connection, turn: Turn, cursor: int) -> Place | None:
    last = events.last(connection, turn.num)
    if _written_under(connection, turn, cursor, last) is None:
        return _anew(connection, turn, cursor, last) or replace(_newest(connection, turn), anew=True)
    seq = cursors.seq(cursor)
    if seq == last and _quiet(connection, turn, last):
        return None
    return Place(turn, seq, False)


def _quiet(connection: Connection, turn: Turn, last: int) -> bool:
    """Whether the log ends with a complete segment, and nothing follows unless somebody acts. The owner may
    still hold the turn for a moment after it has written the last event."""
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
