"""Conversations, as their owner may ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from caesura.core import fold, ids, tree
from caesura.core import messages as msg
from caesura.core.errors import BadInput, NotFound
from caesura.core.events import ToolStarted
from caesura.core.interrupts import Interrupt
from caesura.core.messages import Line, Message
from caesura.engine.engine import Engine
from caesura.engine.workspaces import Workspaces
from caesura.log import Log
from caesura.store import conversations as rows
from caesura.store import events, interrupts, turns
from caesura.store.conversations import Conversation, Order, Page
from caesura.store.database import Database
from caesura.store.turns import Turn

_TITLE = 200
_EVERYTHING = 1 << 30


@dataclass(frozen=True, slots=True)
class Status:
    """How a conversation stands now."""

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


@dataclass(frozen=True, slots=True)
class Seen:
    """A turn with what was said in it so far, and the number of the event up to which that is. Of a live
    turn also the model call of each message, under which more text may come, and the tools under way."""

    turn: Turn
    messages: list[Message]
    cursor: int
    pending: tuple[Interrupt, ...] = ()
    calls: tuple[int | None, ...] = ()
    running: tuple[ToolStarted, ...] = ()


class Conversations:
    def __init__(
        self, database: Database, log: Log, engine: Engine, workspaces: Workspaces, default_agent: str
    ) -> None:
        self._database, self._log, self._engine = database, log, engine
        self._workspaces, self._default_agent = workspaces, default_agent

    async def create(
        self,
        user_id: str,
        agent: str | None = None,
        conversation_id: str | None = None,
        title: str | None = None,
    ) -> Conversation:
        name = agent or self._default_agent
        self._engine.catalog.get(name)
        titled = None if title is None else _title(title)
        chosen = conversation_id or ids.conversation()
        if not ids.is_file_name(chosen):  # its workspace has this name
            raise BadInput("a conversation's id has letters, digits, '.', '_' and '-'")
        return await self._database.write(_create, chosen, user_id, name, titled)

    async def get(self, user_id: str, conversation_id: str) -> Conversation:
        return await self._database.read(rows.get, conversation_id, user_id)

    async def page(
        self,
        user_id: str,
        limit: int,
        *,
        offset: int = 0,
        after: tuple[int, str] | None = None,
        order: Order = "created",
    ) -> Page:
        return await self._database.read(_page, user_id, limit, offset, after, order)

    async def rename(self, user_id: str, conversation_id: str, title: str) -> Conversation:
        return await self._database.write(_rename, user_id, conversation_id, _title(title))

    async def activate(self, user_id: str, conversation_id: str, turn_id: str) -> Conversation:
        """Go on with the branch through this turn: at the newest end below it."""
        return await self._database.write(_activate, user_id, conversation_id, turn_id)

    async def delete(self, user_id: str, conversation_id: str) -> None:
        """Stop what runs and leave nothing of it in any table, nor in its workspace. The space of a large
        workspace becomes free a little later."""
        live = await self._database.read(_live, user_id, conversation_id)
        for num in live:
            await self._engine.supervisor.discard(num)
        for num in await self._database.write(rows.remove, conversation_id, user_id):
            self._log.forget(num)
            await self._engine.supervisor.discard(num)  # it may have begun meanwhile
        await self._workspaces.discard(conversation_id)

    async def tree(self, user_id: str, conversation_id: str) -> tuple[Conversation, list[Seen]]:
        """The conversation and all its turns, oldest first."""
        return await self._database.read(_tree, user_id, conversation_id)

    async def branch(self, user_id: str, conversation_id: str) -> tuple[Conversation, list[Seen]]:
        """The conversation and the turns of its active branch, oldest first."""
        return await self._database.read(_branch, user_id, conversation_id)

    async def history(self, user_id: str, conversation_id: str) -> list[Line]:
        """What was said on the active branch, as people see it: messages with text."""
        return await self._database.read(_history, user_id, conversation_id)

    async def status(self, user_id: str, conversation_id: str) -> Status:
        return await self._database.read(_status, user_id, conversation_id)


def _title(text: str) -> str:
    title = " ".join(text.replace("\0", "").split())
    if not title or len(title) > _TITLE:
        raise BadInput(f"title must have 1 to {_TITLE} characters")
    return title


def _create(
    connection: Connection, conversation_id: str, user_id: str, agent: str, title: str | None
) -> Conversation:
    made = rows.create(connection, conversation_id, user_id, agent)
    if title is None:
        return made
    rows.set_title(connection, conversation_id, title)
    return rows.get(connection, conversation_id, user_id)


def _rename(connection: Connection, user_id: str, conversation_id: str, title: str) -> Conversation:
    rows.get(connection, conversation_id, user_id)
    rows.set_title(connection, conversation_id, title)
    return rows.get(connection, conversation_id, user_id)


def _activate(connection: Connection, user_id: str, conversation_id: str, turn_id: str) -> Conversation:
    rows.get(connection, conversation_id, user_id)
    found = turns.of(connection, conversation_id)
    if turn_id not in {turn.id for turn in found}:
        raise NotFound("turn not found")
    rows.activate(connection, conversation_id, tree.leaf_below(found, turn_id))
    return rows.get(connection, conversation_id, user_id)


def _live(connection: Connection, user_id: str, conversation_id: str) -> list[int]:
    rows.get(connection, conversation_id, user_id)
    found = turns.of(connection, conversation_id)
    return [turn.num for turn in found if not turn.ended or turn.owner is not None]


def _tree(connection: Connection, user_id: str, conversation_id: str) -> tuple[Conversation, list[Seen]]:
    conversation = rows.get(connection, conversation_id, user_id)
    return conversation, _all_seen(connection, turns.of(connection, conversation_id))


def _branch(connection: Connection, user_id: str, conversation_id: str) -> tuple[Conversation, list[Seen]]:
    conversation = rows.get(connection, conversation_id, user_id)
    above = tree.branch(turns.of(connection, conversation_id), conversation.active_turn)
    return conversation, _all_seen(connection, above)


def _status(connection: Connection, user_id: str, conversation_id: str) -> Status:
    conversation = rows.get(connection, conversation_id, user_id)
    if conversation.active_turn is None:
        return Status(conversation, None, (), 0)
    turn = turns.get(connection, conversation.active_turn)
    waiting = turn.status == "waiting"
    pending = tuple(item.interrupt for item in interrupts.pending(connection, turn.num)) if waiting else ()
    return Status(conversation, turn, pending, _count(connection, turn))


def _page(
    connection: Connection,
    user_id: str,
    limit: int,
    offset: int,
    after: tuple[int, str] | None,
    order: Order,
) -> Page:
    """One query, and one more for each conversation in which something runs."""
    found = rows.page(connection, user_id, limit, offset=offset, after=after, order=order)
    return found._replace(items=[_counted(connection, item) for item in found.items])


def _counted(connection: Connection, item: Conversation) -> Conversation:
    if not item.running or item.active_turn is None:
        return item
    return item._replace(message_count=_count(connection, turns.get(connection, item.active_turn)))


def _count(connection: Connection, turn: Turn) -> int:
    """How many messages the branch up to this turn shows. While it runs its log is ahead of its row."""
    if turn.ended or turn.status == "waiting":
        return turn.message_count
    transcript = _transcript(connection, turn.num)
    above = turn.message_count - len(msg.shown(turn.messages or ()))
    return above + len(msg.shown(transcript.messages()))


def _all_seen(connection: Connection, found: list[Turn]) -> list[Seen]:
    ends = events.ends(connection, [turn.num for turn in found])
    return [_seen(connection, turn, ends.get(turn.num, 0)) for turn in found]


def _seen(connection: Connection, turn: Turn, end: int) -> Seen:
    """From the row when the turn has ended; from the log, which is ahead of the row, while it is live."""
    if turn.ended:
        return Seen(turn, turn.messages or [], end)
    past = events.read(connection, turn.num, 0, _EVERYTHING)
    transcript = fold.fold(item.event for item in past)
    waiting = turn.status == "waiting"
    pending = tuple(item.interrupt for item in interrupts.pending(connection, turn.num)) if waiting else ()
    messages = transcript.messages()
    return Seen(
        turn,
        messages,
        past[-1].seq if past else 0,
        pending,
        tuple(_calls(transcript, messages)),
        tuple(transcript.running.values()),
    )


def _calls(transcript: fold.Transcript, messages: list[Message]) -> Iterator[int | None]:
    """The model call of each message: the drafts come last, in the order of their calls."""
    finished = {id(message): call for call, (_, message) in transcript.calls.items()}
    drafts = [call for call, draft in transcript.drafts.items() if draft.text or draft.reasoning]
    for index, message in enumerate(messages):
        place = index - len(transcript.finished)
        yield finished.get(id(message)) if place < 0 else drafts[place]


def _history(connection: Connection, user_id: str, conversation_id: str) -> list[Line]:
    conversation = rows.get(connection, conversation_id, user_id)
    told: list[Line] = []
    for turn in tree.branch(turns.said(connection, conversation_id), conversation.active_turn):
        told.append(("user", turn.content))
        if turn.status in turns.ENDED:
            told += msg.lines(turn.messages or ())
        else:
            told += [(m.role, m.content) for m in msg.shown(_transcript(connection, turn.num).messages())]
    return told


def _transcript(connection: Connection, num: int) -> fold.Transcript:
    return fold.fold(item.event for item in events.read(connection, num, 0, _EVERYTHING))
