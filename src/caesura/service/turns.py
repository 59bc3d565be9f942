"""What a person can do with turns: send a message, stop, answer, retry and regenerate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection

from caesura.core import ids
from caesura.core.answers import Answer
from caesura.core.errors import (
    BadInput,
    Conflict,
    InterruptPending,
    RunInProgress,
    StorageFull,
    TooManyConversations,
    TooManyQuestions,
    TooManyRuns,
)
from caesura.core.events import StopReason
from caesura.core.turns import OnDisconnect, Turn
from caesura.engine.engine import Begun, Engine
from caesura.service import idempotency
from caesura.service.agents import Agents
from caesura.service.conversations import Refused
from caesura.service.idempotency import Kept, Key, Made
from caesura.service.locks import PersonLocks
from caesura.service.presence import Presence
from caesura.store import conversations, fence, interrupts, life, readings, shares, turns
from caesura.store.database import Database, brief
from caesura.store.shares import UNBOUNDED, Share

MESSAGE_LIMIT = 256 * 1024


@dataclass(frozen=True, slots=True)
class Message:
    """A message from a person. `parent` is a turn's id, None for a new root, `...` for the active branch.

    So that the message can be sent, `supersede` closes interrupts that wait for an answer, and `stop_unread`
    stops a run that nobody reads. A dialect chooses both.
    """

    content: str
    parent: str | Any | None = ...
    agent: str | None = None
    on_disconnect: OnDisconnect = "continue"
    supersede: bool = False
    stop_unread: bool = False


class Answered(NamedTuple):
    """A turn that was answered. All events that follow from the answer come after the cursor `after`."""

    turn: Turn
    after: int


class Turns:
    def __init__(
        self,
        database: Database,
        engine: Engine,
        agents: Agents,
        presence: Presence,
        locks: PersonLocks,
        share: Share = UNBOUNDED,
        refused: Refused = lambda error: None,
    ) -> None:
        self._database, self._engine, self._agents = database, engine, agents
        self._presence, self._locks, self._share, self._refused = presence, locks, share, refused

    async def send(
        self, user_id: str, conversation_id: str, message: Message, key: Key | None = None
    ) -> Turn:
        """Accept a message. When this returns, the message is on disk and the turn has started or is
        queued."""
        new = self._new(user_id, conversation_id, message)

        def create(connection: Connection) -> Begun:
            return self._engine.create(connection, new)

        if len(message.content) <= turns.LIGHT:
            brief(create)
        # A request with a key may be a repetition, whose turn already runs.
        locks = (conversation_id,) if key is not None else ()
        for _ in range(2):
            try:
                return (await self._begin(user_id, key, create, *locks)).turn
            except (RunInProgress, InterruptPending) as refusal:
                await self._make_way(user_id, conversation_id, message, refusal)
        return (await self._begin(user_id, key, create, *locks)).turn

    async def send_to_session(self, user_id: str, agent: str, session: str, message: Message) -> Turn:
        """Accept a message in the conversation with this agent that the person calls `session`. If there is
        none, it is created together with its first message, both or neither."""
        self._agents.get(agent)
        new = self._new(user_id, ids.conversation(), message)

        def create(connection: Connection) -> Begun:
            # Of several first messages at once, one creates the conversation and the others find it.
            shares.hold(connection, user_id)
            found = conversations.of_session(connection, user_id, agent, session)
            if found is not None:
                return self._engine.create(connection, replace(new, conversation_id=found.id))
            most = self._share.conversations
            conversations.create(connection, new.conversation_id, user_id, agent, session, most=most)
            return self._engine.create(connection, new)

        for _ in range(2):
            try:
                return (await self._begin(user_id, None, create)).turn
            except (RunInProgress, InterruptPending) as refusal:
                found = await self._database.read(conversations.of_session, user_id, agent, session)
                if found is not None:
                    await self._make_way(user_id, found.id, message, refusal)
        return (await self._begin(user_id, None, create)).turn

    async def open(self, user_id: str, agent: str, message: Message, key: Key | None = None) -> Turn:
        """Create a conversation with this agent and accept its first message, both or neither."""
        self._agents.get(agent)
        new = self._new(user_id, ids.conversation(), message)

        def create(connection: Connection) -> Begun:
            shares.hold(connection, user_id)
            conversations.create(
                connection, new.conversation_id, user_id, agent, most=self._share.conversations
            )
            return self._engine.create(connection, new)

        return (await self._begin(user_id, key, create)).turn

    def _new(self, user_id: str, conversation_id: str, message: Message) -> life.New:
        check_message(message.content)
        if message.agent is not None:
            self._agents.get(message.agent)
        return life.New(
            conversation_id,
            message.content,
            message.agent,
            message.parent,
            on_disconnect=message.on_disconnect,
            user_id=user_id,
            share=self._share,
        )

    async def get(self, user_id: str, turn_id: str) -> Turn:
        return await self._database.read(turns.owned, turn_id, user_id)

    async def stop(self, user_id: str, turn_id: str) -> bool:
        """Stop a running or waiting turn; false when it had already ended, or came to its end before it heard
        of the stop. Its messages are kept."""
        return await self._stop_for_person(await self.get(user_id, turn_id))

    async def stop_active(self, user_id: str, conversation_id: str) -> bool:
        """Stop the active turn of the conversation."""
        conversation = await self._database.read(conversations.get, conversation_id, user_id)
        if conversation.active_turn is None:
            return False
        return await self.stop(user_id, conversation.active_turn)

    async def stop_all(self, user_id: str, conversation_id: str) -> bool:
        """Stop every turn of the conversation that runs or waits, on all branches. False when there is
        none."""
        live = await self._database.read(_live, user_id, conversation_id)
        stopped = [await self._stop_for_person(turn) for turn in live]
        return any(stopped)

    async def leave(self, num: int) -> None:
        """Stop a run whose readers have all left, if it must not continue without them."""
        turn = await self._database.read(turns.numbered, num)
        if turn is None or turn.status not in ("queued", "running") or self._elsewhere(turn):
            return
        if not await self._stop(turn, "disconnect"):
            self._presence.started(turn)  # a reader was about to connect, and may not do so

    async def answer(
        self,
        user_id: str,
        answers: Mapping[str, Answer],
        key: Key | None = None,
        *,
        blind: bool = False,
        viewer: str | None = None,
    ) -> Answered:
        """Answer questions of one turn, all or none. Once no question is pending the turn continues at once.

        `blind` says that the request named no question: the caller chose the questions that wait now, which
        the person may not have seen. Within a second after another decision in the turn a blind answer raises
        `InterruptPending`. With `viewer`, for an API that records its showings, so does a blind answer to a
        question that was not shown, or of a viewer whose view is stale."""

        def decide(connection: Connection) -> Begun:
            found = [interrupts.get(connection, interrupt_id, user_id) for interrupt_id in answers]
            if len({item.turn for item in found}) > 1:
                raise BadInput("answers must belong to one turn")
            life.answer(connection, user_id, answers, blind=blind, viewer=viewer)
            return self._engine.take(connection, found[0].turn_id)

        await self._check_edits(user_id, answers)
        for interrupt_id in list(answers)[:1]:  # they are of one turn
            await self._engine.check_graph(user_id, interrupt_id)
        begun = await self._begin(user_id, key, decide)
        if begun.new and not begun.ours:  # the run that asked may still hold the turn
            self._engine.hurry(begun.turn)
        return Answered(begun.turn, begun.after)

    async def _check_edits(self, user_id: str, answers: Mapping[str, Answer]) -> None:
        """Refuse edited arguments that do not fit, before a transaction: an operator's check may take
        long."""
        for interrupt_id in (name for name, answer in answers.items() if answer.decision == "edit"):
            found = await self._database.read(interrupts.get, interrupt_id, user_id)
            await self._engine.check_edit(found.interrupt, answers[interrupt_id])

    async def retry(self, user_id: str, turn_id: str, key: Key | None = None) -> Turn:
        """Retry a failed or stopped turn that no other turn follows. It continues from what it has."""

        def reopen(connection: Connection) -> Begun:
            shares.hold(connection, user_id)
            turn = turns.owned(connection, turn_id, user_id)
            # Lock the turn before its conversation: a run that sets a title uses the same order.
            fence.lock(connection, [turn.num])
            conversations.lock(connection, turn.conversation_id)
            if turns.followed(connection, turn):
                raise Conflict("other turns follow this one: regenerate it instead")
            shares.check(connection, user_id, self._share)
            life.reopen(connection, turn_id)
            conversations.activate(connection, turn.conversation_id, turn_id)
            return self._engine.take(connection, turn_id)

        return (await self._begin(user_id, key, reopen, turn_id)).turn

    async def regenerate(self, user_id: str, turn_id: str, key: Key | None = None) -> Turn:
        """Send the same message again, as a sibling of the turn. Both replies are kept."""
        turn = await self.get(user_id, turn_id)
        again = Message(turn.content, turn.parent_id, turn.agent)
        return await self.send(user_id, turn.conversation_id, again, key)

    async def _begin(
        self, user_id: str, key: Key | None, work: Callable[[Connection], Begun], *locks: str
    ) -> Begun:
        """Do the work that creates or moves a turn, once per key, and run the turn. `locks` are the
        conversations or turns that the client will read."""
        try:
            with self._presence.coming(user_id, *locks) as about:
                async with self._locks.of(user_id):
                    begun = await idempotency.once(
                        user_id, key, work, _KEPT, lambda unit: self._engine.begin(unit, about)
                    )
                self._presence.expect(begun.turn)
                return begun
        except (TooManyRuns, TooManyQuestions, TooManyConversations, StorageFull) as error:
            self._refused(error)
            raise

    async def _make_way(
        self, user_id: str, conversation_id: str, message: Message, refusal: Conflict
    ) -> None:
        """Stop the turn that blocks a new message, if the message allows that; otherwise raise the
        refusal."""
        conversation = await self._database.read(conversations.get, conversation_id, user_id)
        agent = message.agent or conversation.agent
        blocking = conversation.active_turn if message.parent is ... else message.parent
        if blocking is None:
            raise refusal
        turn = await self.get(user_id, blocking)
        if isinstance(refusal, InterruptPending):
            if refusal.interrupts and not message.supersede:
                raise refusal
            # Do not close the questions for a message that would be refused anyway.
            self._engine.check_agent(agent)
            await self._database.read(shares.check, user_id, replace(self._share, questions=None))
            # Questions that have expired no longer count, even if the turn has not been closed yet.
            reason: StopReason = "superseded" if refusal.interrupts else "timeout"
            asked = {item.id for item in refusal.interrupts}
            # Meanwhile the person may have answered, or another message may have begun the next turn.
            await self._engine.stop(turn, reason, lambda connection: not _waits(connection, turn.num, asked))
        elif not message.stop_unread or self._presence.anybody(turn) or self._elsewhere(turn):
            raise refusal
        else:
            self._engine.check_agent(agent)
            await self._stop(turn, "disconnect")

    def _elsewhere(self, turn: Turn) -> bool:
        """Whether another node runs the turn: that node knows who reads it."""
        return self._database.shared and turn.owner is not None and not self._engine.owns(turn)

    async def _stop_for_person(self, turn: Turn) -> bool:
        if not await self._stop(turn, "user"):
            return False
        found = await self._database.read(turns.numbered, turn.num)
        return found is None or found.status not in ("done", "failed")

    async def _stop(self, turn: Turn, reason: StopReason) -> bool:
        def unless(connection: Connection) -> bool:
            # A reader may have connected while this waited for storage.
            if reason != "disconnect":
                return False
            return self._presence.anybody(turn) or readings.anybody(connection, turn.num)

        return await self._engine.stop(turn, reason, unless)


def _live(connection: Connection, user_id: str, conversation_id: str) -> list[Turn]:
    conversations.get(connection, conversation_id, user_id)
    return turns.live_of(connection, conversation_id)


def _waits(connection: Connection, num: int, asked: set[str]) -> bool:
    """Whether the turn still waits, for exactly these questions. Its row is locked, so that this stays so."""
    fence.lock(connection, [num])
    turn = turns.numbered(connection, num)
    pending = {item.interrupt.id for item in interrupts.pending(connection, num)}
    return turn is not None and turn.status == "waiting" and pending == asked


_KEPT: Kept[Begun] = Kept(
    made=lambda begun: Made(begun.turn.id, begun.turn.conversation_id),
    again=lambda connection, turn_id: Begun(turns.get(connection, turn_id), new=False),
)


def check_message(content: str) -> None:
    if not content.strip():
        raise BadInput("message must not be empty")
    if len(content.encode("utf-8", "replace")) > MESSAGE_LIMIT:
        raise BadInput(f"message must not be longer than {MESSAGE_LIMIT} bytes")
