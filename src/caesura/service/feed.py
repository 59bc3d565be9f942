"""The feed of a person: what changes in their list of conversations, and which questions open and close.

A feed is a cursor over the person's rows in `store.changes`. It sleeps until there is news. A commit of this
process wakes it at once. Where other processes write to the same rows, one query each second finds the
news of all feeds of this process together. Without open feeds nothing is queried.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection

from caesura.core.conversations import Conversation
from caesura.core.errors import CaesuraError
from caesura.service.counts import Counts
from caesura.store import changes, conversations, interrupts, turns, users
from caesura.store.changes import Change
from caesura.store.conversations import Listed
from caesura.store.database import Database
from caesura.store.turns import Underway

logger = logging.getLogger(__name__)

#: How many changes are read at once.
_LIMIT = 100
#: Seconds between two looks for what other processes have changed.
_POLL = 1.0


@dataclass(frozen=True, slots=True)
class Ready:
    """The feed begins, with this many questions that wait. What follows comes after the cursor."""

    cursor: int
    inbox: int


@dataclass(frozen=True, slots=True)
class Reset:
    """The cursor of the reader is too old or was lost: it has to read its lists again."""

    cursor: int


@dataclass(frozen=True, slots=True)
class Changed:
    """The conversation as it is now. It was created, or something in it has changed."""

    cursor: int
    conversation: Conversation
    questions: int


@dataclass(frozen=True, slots=True)
class Deleted:
    cursor: int
    conversation_id: str


@dataclass(frozen=True, slots=True)
class Opened:
    """`told` is what a list shows of the question."""

    cursor: int
    told: dict[str, Any]
    conversation_id: str
    turn_id: str


@dataclass(frozen=True, slots=True)
class Closed:
    """`decision` is the person's, if they have answered and the server that noted it told which one."""

    cursor: int
    interrupt_id: str
    conversation_id: str
    turn_id: str
    outcome: str
    decision: str | None


@dataclass(frozen=True, slots=True)
class Inbox:
    """The number of questions that wait is another one now."""

    cursor: int
    count: int


Item = Ready | Reset | Changed | Deleted | Opened | Closed | Inbox


class _Begin(NamedTuple):
    head: int
    inbox: int
    known: bool
    born: int | None


class _Read(NamedTuple):
    born: int | None
    rows: list[Change]
    listed: dict[str, Listed]
    underway: list[Underway]
    inbox: int
    head: int


@dataclass(slots=True)
class _Place:
    """The open feeds of one person in this process, and the newest change that all of them have."""

    feeds: dict[int, int] = field(default_factory=dict)
    waiting: dict[asyncio.Event, None] = field(default_factory=dict)


class Feeds:
    def __init__(self, database: Database, counts: Counts) -> None:
        self._database, self._counts = database, counts
        self._people: dict[str, _Place] = {}
        self._opened = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop
        self._number = 0

    def start(self) -> None:
        """Begin to hear of the commits of this process."""
        self._loop = asyncio.get_running_loop()
        self._database.listen(self._heard)

    async def watch(self) -> None:
        """Look for what other processes change, once a second while feeds are open."""
        while True:
            await self._opened.wait()
            await asyncio.sleep(_POLL)
            seen = {user_id: min(place.feeds.values()) for user_id, place in self._people.items()}
            if not seen:
                self._opened.clear()
                continue
            try:
                self._wake(await self._database.read(changes.news, seen))
            except CaesuraError as error:
                logger.warning("changes by other processes are told late: %s", error)

    async def follow(self, user_id: str, after: int | None) -> AsyncGenerator[list[Item], None]:
        """What this person is told, in lists, from the given cursor on or, without one, from now on. It ends
        when the person is removed: somebody else may have the name then."""
        with self._open(user_id) as (place, number, news):
            begin = await self._database.read(_begin, user_id, after)
            cursor = after if after is not None and begin.known else begin.head
            told = begin.inbox
            place.feeds[number] = cursor
            yield [Ready(cursor, told), *([] if begin.known else [Reset(cursor)])]
            while True:
                news.clear()
                found = await self._database.read(_read, user_id, cursor)
                if found.born != begin.born:
                    return
                items, cursor = await self._items(found, cursor)
                if items and found.inbox != told:
                    told = found.inbox
                    items.append(Inbox(cursor, told))
                place.feeds[number] = cursor
                if items:
                    yield items
                if not found.rows:
                    await news.wait()

    async def _items(self, found: _Read, cursor: int) -> tuple[list[Item], int]:
        if any(row.kind == "floor" for row in found.rows):
            return [Reset(found.head)], found.head
        counts = await self._counts.of(found.underway) if found.underway else {}
        last = {row.conversation_id: row.seq for row in found.rows if row.kind in ("conversation", "deleted")}
        items: list[Item] = []
        for row in found.rows:
            if row.kind == "opened":
                items.append(
                    Opened(row.seq, dict(row.body["interrupt"]), row.conversation_id, row.body["turn_id"])
                )
            elif row.kind == "closed":
                items.append(_closed(row))
            elif row.kind != "blank" and last[row.conversation_id] == row.seq:
                items += _state(row, found.listed.get(row.conversation_id), counts)
        return items, found.rows[-1].seq if found.rows else cursor

    @contextmanager
    def _open(self, user_id: str) -> Iterator[tuple[_Place, int, asyncio.Event]]:
        place = self._people.setdefault(user_id, _Place())
        news = asyncio.Event()
        self._number += 1
        number = self._number
        place.waiting[news] = None
        place.feeds[number] = 0
        self._opened.set()
        try:
            yield place, number, news
        finally:
            del place.waiting[news], place.feeds[number]
            if not place.feeds:
                self._people.pop(user_id, None)

    def _heard(self, people: Collection[str]) -> None:
        """Called in any thread. To wake the event loop costs more than all of this, and most commits are of
        people without a feed."""
        if any(user_id in self._people for user_id in people):
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._wake, people)

    def _wake(self, people: Collection[str]) -> None:
        for user_id in people:
            if (place := self._people.get(user_id)) is not None:
                for news in place.waiting:
                    news.set()


def _closed(row: Change) -> Closed:
    body = row.body
    return Closed(
        row.seq, row.ref, row.conversation_id, body["turn_id"], body["outcome"], body.get("decision")
    )


def _state(row: Change, listed: Listed | None, counts: dict[str, int]) -> list[Item]:
    """The conversation as it is now: it may have changed again since. If it was deleted since, the row that
    says so follows."""
    if listed is None:
        return [Deleted(row.seq, row.conversation_id)] if row.kind == "deleted" else []
    item, questions = listed
    count = counts.get(item.active_turn or "", item.message_count)
    return [Changed(row.seq, item._replace(message_count=count), questions)]


def _begin(connection: Connection, user_id: str, after: int | None) -> _Begin:
    known = after is None or changes.is_known(connection, user_id, after)
    head, inbox = changes.head(connection, user_id), interrupts.count_of(connection, user_id)
    return _Begin(head, inbox, known, _born(connection, user_id))


def _born(connection: Connection, user_id: str) -> int | None:
    """When the person came to this server: another one with the same name came at another time."""
    user = users.get(connection, user_id)
    return user.created_at if user is not None else None


def _read(connection: Connection, user_id: str, after: int) -> _Read:
    rows, born = changes.after(connection, user_id, after, _LIMIT), _born(connection, user_id)
    if not rows:
        return _Read(born, [], {}, [], 0, after)
    listed = conversations.some(connection, user_id, {row.conversation_id for row in rows})
    running = [item.active_turn for item, _ in listed.values() if item.running and item.active_turn]
    return _Read(
        born,
        rows,
        listed,
        turns.underway(connection, running) if running else [],
        interrupts.count_of(connection, user_id),
        changes.head(connection, user_id),
    )
