"""Pages: the part of a conversation that is read at once, so that a long conversation is never in memory as a
whole.

The rows are read in one short transaction. A live turn's log is folded after the transaction, in a thread:
folding takes time, and neither the database nor the event loop should wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection

from caesura.core import cursors, fold, notes
from caesura.core import messages as msg
from caesura.core import tree as tree_of
from caesura.core.conversations import Conversation
from caesura.core.errors import NoConversation, NotFound
from caesura.core.events import ToolStarted
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Line, Message
from caesura.core.notes import About
from caesura.core.turns import ENDED, Turn
from caesura.service.long_reads import LongReads
from caesura.store import conversations as rows
from caesura.store import events, interrupts, read_marks, turns
from caesura.store.read_marks import ReadMark
from caesura.store.turns import Entry, Said

#: A page has at most this many turns and at most this many bytes, but at least one turn.
_TURNS = 1_000
BYTES = 4 * 1024 * 1024
_ALL = 1 << 30
_SIBLINGS = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """A turn with its messages so far, and the cursor of the last event that they include. A live turn also
    has the model call of each message, whose later text is to be appended, and the tool calls that run or are
    being written."""

    turn: Turn
    messages: list[Message]
    cursor: int
    pending: tuple[Interrupt, ...] = ()
    calls: tuple[int | None, ...] = ()
    running: tuple[ToolStarted, ...] = ()
    #: The model of the reply, what happened between the messages, the artifacts that were changed; and the
    #: turns with the same parent.
    about: About = notes.NOTHING
    siblings: tuple[str, ...] = ()
    writing: tuple[fold.Writing, ...] = ()
    #: What each tool call that runs does now, if it tells.
    progress: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TreePage:
    """`next` is the ordinal after which the next page begins; None on the last page."""

    conversation: Conversation
    turns: list[Seen]
    next: int | None


@dataclass(frozen=True, slots=True)
class BranchPage:
    """The newest turns of a branch, oldest first. `before` is the id of the turn before the first of them."""

    conversation: Conversation
    turns: list[Seen]
    before: str | None
    read: ReadMark | None = None


class Stored(NamedTuple):
    """A turn as the rows have it. A live turn also has its log, which is not yet folded."""

    turn: Turn
    end: int
    pending: tuple[Interrupt, ...]
    log: list[events.Stored] | None
    siblings: tuple[str, ...]


class Found(NamedTuple):
    conversation: Conversation
    turns: list[Stored]
    read: ReadMark | None = None


class HistoryTurn(NamedTuple):
    """A turn as a history shows it. A live turn also has its log, which is not yet folded."""

    turn: Said
    log: list[events.Stored] | None


def tree(
    connection: Connection, user_id: str, conversation_id: str, limit: int, after: int
) -> tuple[Found, bool]:
    conversation = rows.get(connection, conversation_id, user_id)
    found = turns.entries(connection, conversation_id, after, limit + 1)
    shown = next(_pages(found[:limit]), [])
    return _found(connection, conversation, shown), len(found) > len(shown)


def branch(
    connection: Connection, user_id: str, conversation_id: str, limit: int, leaf: str | None
) -> tuple[Found, str | None]:
    conversation = rows.get(connection, conversation_id, user_id)
    found = turns.above(connection, conversation_id, leaf or conversation.active_turn, limit)
    if leaf is not None and not found:
        raise NotFound("turn not found")
    shown = next(_pages(found), [])
    page = _found(connection, conversation, shown)
    read = read_marks.get(connection, conversation_id)
    return page._replace(read=read), shown[-1].parent_id if shown else None


def _pages(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """The turns, divided into pages of limited size with at least one turn each."""
    page: list[Entry] = []
    size = 0
    for entry in entries:
        if page and (size + entry.size > BYTES or len(page) == _TURNS):
            yield page
            page, size = [], 0
        page.append(entry)
        size += entry.size
    if page:
        yield page


def _found(connection: Connection, conversation: Conversation, entries: Sequence[Entry]) -> Found:
    numbers = [entry.num for entry in entries]
    ends = events.ends(connection, numbers)
    found = turns.some(connection, numbers)
    beside = tree_of.children(turns.tree(connection, conversation.id)) if found else {}
    return Found(
        conversation,
        [_stored(connection, turn, ends.get(turn.num, 0), beside[turn.parent_id]) for turn in found],
    )


def _stored(connection: Connection, turn: Turn, end: int, beside: list[str]) -> Stored:
    log = None if turn.ended else events.stored(connection, turn.num)
    return Stored(turn, end, pending(connection, turn), log, _near(beside, turn.id))


def _near(beside: list[str], turn_id: str) -> tuple[str, ...]:
    """At most `_SIBLINGS` of these turns, around this one: each of a thousand would have a thousand."""
    if len(beside) <= _SIBLINGS:
        return tuple(beside)
    first = max(min(beside.index(turn_id) - _SIBLINGS // 2, len(beside) - _SIBLINGS), 0)
    return tuple(beside[first : first + _SIBLINGS])


def pending(connection: Connection, turn: Turn) -> tuple[Interrupt, ...]:
    if turn.status != "waiting":
        return ()
    return tuple(item.interrupt for item in interrupts.pending(connection, turn.num))


def seen(found: list[Stored]) -> list[Seen]:
    """The turns with their messages. Call this in a thread: the log of a live turn is folded here, and may be
    long."""
    return [_seen(item) for item in found]


def _seen(item: Stored) -> Seen:
    """The messages come from the row if the turn has ended, and from the log, which is ahead of the row,
    while the turn is live."""
    if item.log is None:
        kept = notes.read(item.turn.about)
        messages = item.turn.messages or []
        return Seen(item.turn, messages, item.end, about=kept, siblings=item.siblings)
    transcript = folded(item.log)
    messages = transcript.messages()
    calls = tuple(_calls(transcript, messages))
    cursor = cursors.make(transcript.epoch, item.end)
    running = tuple(transcript.running.values())
    about = transcript.about(messages)
    return Seen(
        item.turn,
        messages,
        cursor,
        item.pending,
        calls,
        running,
        about,
        item.siblings,
        tuple(transcript.writing()),
        transcript.progress,
    )


def _calls(transcript: fold.Transcript, messages: list[Message]) -> Iterator[int | None]:
    """The model call of each message: the drafts come last, in the order of their calls."""
    finished = {id(message): call for call, (_, message) in transcript.calls.items()}
    drafts = [call for call, draft in transcript.drafts.items() if draft.text or draft.reasoning]
    for index, message in enumerate(messages):
        place = index - len(transcript.finished)
        yield finished.get(id(message)) if place < 0 else drafts[place]


def first_page(
    connection: Connection, user_id: str, conversation_id: str
) -> tuple[list[list[int]], list[HistoryTurn]]:
    """The first page of a history, and the turn numbers of the other pages."""
    conversation = rows.get(connection, conversation_id, user_id)
    found = turns.above(connection, conversation_id, conversation.active_turn, _ALL)
    pages = [[entry.num for entry in page] for page in _pages(found[::-1])]
    return pages[1:], history_turns(connection, pages[0]) if pages else []


def history_turns(connection: Connection, numbers: list[int]) -> list[HistoryTurn]:
    said = turns.said(connection, numbers)
    if len(said) < len(numbers):
        raise NoConversation  # deleted since the page before was read
    return [
        HistoryTurn(turn, None if turn.status in ENDED else events.stored(connection, turn.num))
        for turn in said
    ]


async def lines(found: list[HistoryTurn], long_reads: LongReads) -> list[Line]:
    if all(item.log is None for item in found):
        return [line for item in found for line in _lines_of(item)]
    return await long_reads.run(lambda: [line for item in found for line in _lines_of(item)])


def _lines_of(item: HistoryTurn) -> list[Line]:
    if item.log is None:
        said = msg.lines(item.turn.messages or ())
    else:
        said = [(m.role, m.content) for m in msg.shown(folded(item.log).messages())]
    return [("user", item.turn.content), *said]


def folded(log: list[events.Stored]) -> fold.Transcript:
    return fold.timed(events.decoded(log))
