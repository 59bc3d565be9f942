"""What an owner can do with conversations: create, list, read, rename, branch and delete them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from caesura.core import ids, shown, tree
from caesura.core.conversations import Conversation
from caesura.core.errors import BadInput, CaesuraError, NotFound, TooManyConversations
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Line
from caesura.core.turns import Turn
from caesura.engine.engine import Engine
from caesura.engine.workspaces import Workspaces
from caesura.log import Log
from caesura.service import idempotency, pages
from caesura.service.agents import Agents
from caesura.service.counts import Counts
from caesura.service.idempotency import Kept, Key, Made
from caesura.service.locks import PersonLocks
from caesura.service.long_reads import LongReads
from caesura.service.pages import BranchPage, TreePage
from caesura.store import conversations as rows
from caesura.store import read_marks, remains, turns
from caesura.store.conversations import Order, Page
from caesura.store.database import Database
from caesura.store.schema import NOBODY
from caesura.store.shares import UNBOUNDED, Share
from caesura.store.turns import Link, Underway

#: Called with the error of each request that exceeds a person's share.
Refused = Callable[[CaesuraError], None]

_TITLE = 200


@dataclass(frozen=True, slots=True)
class Status:
    """The current state of a conversation."""

    conversation: Conversation
    turn: Turn | None
    pending: tuple[Interrupt, ...]
    message_count: int

    @property
    def running(self) -> bool:
        return self.conversation.running

    @property
    def interrupted(self) -> bool:
        return bool(self.pending)


class _Leaf(NamedTuple):
    turn_id: str
    turn_count: int


class Conversations:
    def __init__(
        self,
        database: Database,
        log: Log,
        engine: Engine,
        agents: Agents,
        workspaces: Workspaces,
        locks: PersonLocks,
        long_reads: LongReads,
        share: Share = UNBOUNDED,
        refused: Refused = lambda error: None,
    ) -> None:
        self._database, self._log, self._engine = database, log, engine
        self._agents, self._workspaces = agents, workspaces
        self._locks, self._long_reads, self._share, self._refused = locks, long_reads, share, refused
        self.counts = Counts(database, engine, long_reads)

    async def create(
        self,
        user_id: str,
        agent: str | None = None,
        conversation_id: str | None = None,
        title: str | None = None,
        key: Key | None = None,
    ) -> Conversation:
        """Under the same key, the same conversation."""
        name = self._agents.get(agent or self._agents.default).name
        titled = None if title is None else _title(title)
        new = conversation_id or ids.conversation()
        if not ids.is_file_name(new):  # the workspace folder has this name
            raise BadInput("a conversation's id has letters, digits, '.', '_' and '-'")

        def create(connection: Connection) -> Conversation:
            return _create(connection, new, user_id, name, titled, self._share.conversations)

        kept: Kept[Conversation] = Kept(
            made=lambda made: Made(made.id, made.id),
            again=lambda connection, known: rows.get(connection, known, user_id),
        )
        try:
            async with self._locks.of(user_id):
                return await idempotency.once(user_id, key, create, kept, self._database.write)
        except TooManyConversations as error:
            self._refused(error)
            raise

    async def get(self, user_id: str, conversation_id: str) -> Conversation:
        return await self._database.read(rows.get, conversation_id, user_id)

    async def of_session(self, user_id: str, agent: str, session: str) -> Conversation | None:
        """The conversation with this agent that the person calls `session`, if there is one."""
        if not ids.is_agent_name(agent):
            return None
        return await self._database.read(rows.of_session, user_id, agent, session)

    async def page(
        self,
        user_id: str,
        limit: int,
        *,
        offset: int = 0,
        after: tuple[int, str] | None = None,
        order: Order = "created",
        titled: str = "",
    ) -> Page:
        page, underway = await self._database.read(_page, user_id, limit, offset, after, order, titled)
        if not underway:
            return page
        counts = await self.counts.of(underway)
        items = [
            item._replace(message_count=counts.get(item.active_turn or "", item.message_count))
            for item in page.items
        ]
        return page._replace(items=items)

    async def rename(self, user_id: str, conversation_id: str, title: str) -> Conversation:
        return await self._database.write(_rename, user_id, conversation_id, _title(title))

    async def activate(self, user_id: str, conversation_id: str, turn_id: str) -> Conversation:
        """Switch to the branch through this turn. The newest leaf below the turn becomes the active turn."""
        while True:
            leaf = await self._database.read(_leaf_below, user_id, conversation_id, turn_id)
            made = await self._database.write(_activate, user_id, conversation_id, leaf)
            if made is not None:
                self._engine.changes.tell(user_id, conversation_id)
                return made

    async def delete(self, user_id: str, conversation_id: str) -> None:
        """Stop the conversation's runs and delete all of its rows and its workspace. The disk space of a
        large workspace is freed a little later."""
        live = await self._database.read(_live, user_id, conversation_id)
        for num in live:
            await self._engine.discard(num)
        async with self._locks.of(user_id):
            removed = await self._database.write(rows.remove, conversation_id, user_id)
        self._engine.changes.tell(user_id, conversation_id)
        for num in removed:
            self._log.forget(num)
            await self._engine.discard(num)  # the run may have begun meanwhile
        await self.clear(conversation_id)
        await self._workspaces.discard(conversation_id)

    async def clear(self, conversation_id: str) -> None:
        """Delete what remains of a conversation that was deleted."""
        while await self._database.write_lightly(remains.clear, conversation_id):
            pass

    async def clear_all(self) -> None:
        """As `clear`, for the conversations that a dead process did not finish."""
        for conversation_id in await self._database.read(rows.of_person, NOBODY):
            await self.clear(conversation_id)

    async def links(self, user_id: str, conversation_id: str) -> tuple[Conversation, list[Link]]:
        """The conversation, and all of its turns, oldest first, each with only its parent."""
        return await self._database.read(_links, user_id, conversation_id)

    async def tree(
        self, user_id: str, conversation_id: str, limit: int, after: int, write: Callable[[TreePage], bytes]
    ) -> bytes:
        """The conversation and a page of its turns on all branches: turns after the given ordinal, oldest
        first. `write` serializes the page in a thread. One page per person is in memory at a time."""

        def written() -> bytes:
            seen = pages.seen(found.turns)
            return write(TreePage(found.conversation, seen, seen[-1].turn.ordinal if more else None))

        async with self._long_reads.of(user_id):
            found, more = await self._database.read(pages.tree, user_id, conversation_id, limit, after)
            return await self._long_reads.run(written)

    async def branch(
        self,
        user_id: str,
        conversation_id: str,
        limit: int,
        leaf: str | None,
        write: Callable[[BranchPage], bytes],
    ) -> bytes:
        """Like `tree`, for the end of the active branch, or of the branch that ends in `leaf`."""

        def written() -> bytes:
            return write(BranchPage(found.conversation, pages.seen(found.turns), before, found.read))

        async with self._long_reads.of(user_id):
            found, before = await self._database.read(pages.branch, user_id, conversation_id, limit, leaf)
            return await self._long_reads.run(written)

    async def mark_read(self, user_id: str, conversation_id: str, turn_id: str, cursor: int) -> None:
        """Note up to where the person has read. The mark never moves back on its branch."""
        await self._database.write_lightly(_mark_read, user_id, conversation_id, turn_id, cursor)

    async def history(self, user_id: str, conversation_id: str) -> AsyncGenerator[list[Line], None]:
        """The messages with text on the active branch, oldest first. One page is in memory at a time."""
        async with self._long_reads.of(user_id):
            others, found = await self._database.read(pages.first_page, user_id, conversation_id)
            lines = await pages.lines(found, self._long_reads)
        yield lines
        for numbers in others:
            async with self._long_reads.of(user_id):
                found = await self._database.read(pages.history_turns, numbers)
                lines = await pages.lines(found, self._long_reads)
            yield lines

    async def status(self, user_id: str, conversation_id: str) -> Status:
        conversation, turn, pending, underway = await self._database.read(_status, user_id, conversation_id)
        if turn is None:
            return Status(conversation, None, (), 0)
        counts = await self.counts.of(underway)
        return Status(conversation, turn, pending, counts.get(turn.id, turn.message_count))


def _title(text: str) -> str:
    """The title as it is kept: one line, without characters that are invisible or reorder the text."""
    title = " ".join(shown.visible(" ".join(text.split())).split())
    if not title or len(title) > _TITLE:
        raise BadInput(f"title must have 1 to {_TITLE} visible characters")
    return title


def _create(
    connection: Connection,
    conversation_id: str,
    user_id: str,
    agent: str,
    title: str | None,
    most: int | None,
) -> Conversation:
    made = rows.create(connection, conversation_id, user_id, agent, most=most)
    if title is None:
        return made
    rows.set_title(connection, conversation_id, title)
    return rows.get(connection, conversation_id, user_id)


def _rename(connection: Connection, user_id: str, conversation_id: str, title: str) -> Conversation:
    rows.get(connection, conversation_id, user_id)
    rows.set_title(connection, conversation_id, title)
    return rows.get(connection, conversation_id, user_id)


def _mark_read(connection: Connection, user_id: str, conversation_id: str, turn_id: str, cursor: int) -> None:
    rows.get(connection, conversation_id, user_id)
    turn = turns.owned(connection, turn_id, user_id)
    if turn.conversation_id != conversation_id:
        raise NotFound("turn not found")
    read_marks.move(connection, turn, cursor)


def _links(connection: Connection, user_id: str, conversation_id: str) -> tuple[Conversation, list[Link]]:
    return rows.get(connection, conversation_id, user_id), turns.tree(connection, conversation_id)


def _leaf_below(connection: Connection, user_id: str, conversation_id: str, turn_id: str) -> _Leaf:
    conversation = rows.get(connection, conversation_id, user_id)
    found = turns.tree(connection, conversation_id)
    if turn_id not in {link.id for link in found}:
        raise NotFound("turn not found")
    return _Leaf(tree.leaf_below(found, turn_id), conversation.turn_count)


def _activate(connection: Connection, user_id: str, conversation_id: str, leaf: _Leaf) -> Conversation | None:
    """None if a turn was added since the leaf was determined: the new turn may be below it."""
    if rows.lock(connection, conversation_id, user_id).turn_count != leaf.turn_count:
        return None
    rows.activate(connection, conversation_id, leaf.turn_id)
    return rows.get(connection, conversation_id, user_id)


def _live(connection: Connection, user_id: str, conversation_id: str) -> list[int]:
    rows.get(connection, conversation_id, user_id)
    return turns.unfinished(connection, conversation_id)


def _status(
    connection: Connection, user_id: str, conversation_id: str
) -> tuple[Conversation, Turn | None, tuple[Interrupt, ...], list[Underway]]:
    conversation = rows.get(connection, conversation_id, user_id)
    if conversation.active_turn is None:
        return conversation, None, (), []
    turn = turns.get(connection, conversation.active_turn)
    runs = turn.status in ("queued", "running")
    underway = turns.underway(connection, [turn.id]) if runs else []
    return conversation, turn, pages.pending(connection, turn), underway


def _page(
    connection: Connection,
    user_id: str,
    limit: int,
    offset: int,
    after: tuple[int, str] | None,
    order: Order,
    titled: str,
) -> tuple[Page, list[Underway]]:
    found = rows.page(connection, user_id, limit, offset=offset, after=after, order=order, titled=titled)
    running = [item.active_turn for item in found.items if item.running and item.active_turn]
    return found, turns.underway(connection, running) if running else []
