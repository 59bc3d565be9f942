"""The store compared with a model in memory, for random actions of people and nodes."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Connection, update

from caesura.core.answers import Answer
from caesura.core.errors import CaesuraError
from caesura.core.interrupts import Approval, Interrupt
from caesura.core.interrupts import Status as InterruptStatus
from caesura.core.messages import Message
from caesura.core.turns import Turn as Row
from caesura.store import conversations, fence, grants, interrupts, life, schema, turns, users
from caesura.store.database import Database
from caesura.store.open import open_database
from tests.conformance.rows import LEASE, settled, turns_of
from tests.effort import examples

T = TypeVar("T")
NAMES = ("alice", "alice-b", "bob")
NODES = ("node-1", "node-2")
YES, WRONG = Answer("approve"), Answer("answers", answers=("x",))


@dataclass
class Conversation:
    id: str
    user: str
    turns: list[str] = field(default_factory=list)
    active: str | None = None


@dataclass
class Turn:
    id: str
    num: int
    conversation: str
    ordinal: int
    parent: str | None
    status: str
    owner: str | None
    epoch: int
    above: int
    count: int
    grants: tuple[str, ...] = ()
    lease_over: bool = False
    late: bool = False
    stop: str | None = None

    @property
    def ended(self) -> bool:
        return self.status in ("done", "failed", "stopped")

    @property
    def claimable(self) -> bool:
        if self.owner is not None:
            return self.lease_over
        return self.status == "queued" or (self.status == "waiting" and (self.late or self.stop is not None))


@dataclass
class Asked:
    id: str
    turn: str
    user: str
    late: bool
    status: str = "pending"

    @property
    def open(self) -> bool:
        return self.status == "pending" and not self.late


class Store(RuleBasedStateMachine):
    """Every rule does the same to the store and to the model. Some rules compare the two."""

    def __init__(self, run: Callable[[Any], Any], database: Database) -> None:
        super().__init__()
        self.run = run
        self.database = database
        self.people: dict[str, int] = {}
        self.conversations: dict[str, Conversation] = {}
        self.turns: dict[str, Turn] = {}
        self.asked: dict[str, Asked] = {}
        self.made = self.steps = 0
        self.run(database.write(_empty))

    @initialize()
    def begin(self) -> None:
        """Two people whose names share a prefix; two turns run, one waits."""
        for name in (*NAMES[:2], NAMES[0]):
            if name not in self.people:
                self.register(name)
            self.open(name)
        for conversation in self.conversations.values():
            self._say(conversation, ..., NODES[0])
        self._ask([*self.turns.values()][-1], 2, late=False)

    def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of the work, or the code of its error."""
        try:
            return self.run(self.database.write(work, *args, **kwargs))
        except CaesuraError as error:
            return error.code

    def new_id(self, kind: str) -> str:
        self.made += 1
        return f"{kind}-{self.made:03}"

    def _with_status(self, *statuses: str) -> dict[str, Turn]:
        return {key: turn for key, turn in self.turns.items() if turn.status in statuses}

    def _held(self) -> dict[str, Turn]:
        return {key: turn for key, turn in self.turns.items() if turn.owner is not None}

    def pick(self, data: st.DataObject, things: dict[str, T]) -> T:
        """In the order in which they were made: ids of the same millisecond have no order of their own, and
        Hypothesis needs the same choice when it runs an example again."""
        return things[data.draw(st.sampled_from(list(things)))]

    # People and conversations

    @rule(name=st.sampled_from(NAMES))
    def register(self, name: str) -> None:
        outcome = self.write(users.create, name, "hash")
        assert outcome == ("username_taken" if name in self.people else None)
        self.people.setdefault(name, 0)

    @precondition(lambda self: 0 in self.people.values())
    @rule()
    def leave(self) -> None:
        name = next(name for name, count in self.people.items() if count == 0)
        assert self.write(users.remove, name) is None
        del self.people[name]

    @rule(name=st.sampled_from(NAMES))
    def open(self, name: str) -> None:
        made = Conversation(self.new_id("conv"), name)
        outcome = self.write(conversations.create, made.id, name, "demo")
        if name not in self.people:
            assert outcome == "unauthenticated"
            return
        assert outcome.id == made.id
        self.people[name] += 1
        self.conversations[made.id] = made

    @precondition(lambda self: self.conversations)
    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def delete(self, data: st.DataObject, name: str) -> None:
        gone = self.pick(data, self.conversations)
        outcome = self.write(conversations.remove, gone.id, name)
        if gone.user != name:
            assert outcome == "not_found"
            return
        assert outcome == [self.turns[turn_id].num for turn_id in gone.turns]
        self.people[name] -= 1
        del self.conversations[gone.id]
        self.turns = {key: turn for key, turn in self.turns.items() if turn.conversation != gone.id}
        self.asked = {key: asked for key, asked in self.asked.items() if asked.turn in self.turns}

    # Turns

    @precondition(lambda self: self.conversations)
    @rule(data=st.data(), owner=st.sampled_from((None, *NODES)))
    def say(self, data: st.DataObject, owner: str | None) -> None:
        conversation = self.pick(data, self.conversations)
        others = [key for key in self.turns if key not in conversation.turns]
        wanted = data.draw(st.sampled_from([..., None, *conversation.turns, *others[:1], "turn-missing"]))
        self._say(conversation, wanted, owner)

    def _say(self, conversation: Conversation, wanted: Any, owner: str | None) -> None:
        new = life.New(conversation.id, "hi", parent=wanted, owner=owner, lease_ms=LEASE)
        outcome = self.write(life.create, new)
        parent_id = conversation.active if wanted is ... else wanted
        parent = self.turns.get(parent_id or "")
        if parent_id is not None and (parent is None or parent.conversation != conversation.id):
            assert outcome == "not_found"
        elif parent is not None and parent.status == "waiting":
            assert outcome == "interrupt_pending"
        elif parent is not None and not parent.ended:
            assert outcome == "run_in_progress"
        else:
            self._said(conversation, parent, owner, outcome)

    def _said(self, conversation: Conversation, parent: Turn | None, owner: str | None, made: Any) -> None:
        assert isinstance(made, Row)
        turn = Turn(
            made.id,
            made.num,
            conversation.id,
            ordinal=len(conversation.turns) + 1,
            parent=parent.id if parent else None,
            status="running" if owner else "queued",
            owner=owner,
            epoch=1 if owner else 0,
            above=parent.count if parent else 0,
            count=(parent.count if parent else 0) + 1,
            grants=parent.grants if parent else (),
        )
        self.turns[turn.id] = turn
        conversation.turns.append(turn.id)
        conversation.active = turn.id

    @precondition(lambda self: self._held())
    @rule(data=st.data())
    def let_a_lease_run_out(self, data: st.DataObject) -> None:
        turn = self.pick(data, self._held())
        self.write(_set_lease, turn.num, 1)
        turn.lease_over = True

    @precondition(lambda self: self.turns)
    @rule(data=st.data(), node=st.sampled_from(NODES))
    def claim(self, data: st.DataObject, node: str) -> None:
        turn = self.pick(data, self.turns)
        outcome = self.write(life.claim, turn.num, node, LEASE)
        assert (outcome is not None) == turn.claimable
        if outcome is not None:
            self._claimed(turn, node, outcome)

    @rule(node=st.sampled_from(NODES), limit=st.integers(1, 4))
    def claim_some(self, node: str, limit: int) -> None:
        expected = {turn.num: turn for turn in self.turns.values() if turn.claimable}
        outcome = self.write(life.claim_some, node, LEASE, limit)
        assert len(outcome) == min(limit, len(expected))
        for made in outcome:
            self._claimed(expected[made.num], node, made)

    def _claimed(self, turn: Turn, node: str, made: Turn) -> None:
        turn.owner, turn.epoch, turn.lease_over = node, turn.epoch + 1, False
        assert (made.id, made.owner, made.epoch) == (turn.id, turn.owner, turn.epoch)

    @rule(node=st.sampled_from(NODES))
    def renew(self, node: str) -> None:
        outcome = self.write(life.renew, node, [turn.num for turn in self.turns.values()], LEASE)
        mine = [turn for turn in self.turns.values() if turn.owner == node]
        assert outcome == {turn.num: turn.stop for turn in mine}
        for turn in mine:
            turn.lease_over = False

    @precondition(lambda self: self.turns)
    @rule(data=st.data(), reason=st.sampled_from(("user", "superseded")))
    def ask_to_stop(self, data: st.DataObject, reason: str) -> None:
        turn = self.pick(data, self.turns)
        if not turn.ended:
            turn.stop = turn.stop or reason  # the first reason stays
        assert self.write(life.request_stop, turn.num, reason) == turn.stop

    @rule(node=st.sampled_from(NODES))
    def look_for_stops(self, node: str) -> None:
        found = {turn.num: turn.stop for turn in self.turns.values() if turn.owner == node and turn.stop}
        assert self.write(life.stops, node) == found

    @precondition(lambda self: self.turns)
    @rule(data=st.data(), status=st.sampled_from(("done", "failed", "stopped")), stale=st.booleans())
    def end(self, data: st.DataObject, status: life.Outcome, stale: bool) -> None:
        turn = self.pick(data, self.turns)
        outcome = self.write(_say_and_end, turn.id, turn.epoch - stale, status)
        if stale or turn.status != "running":
            assert outcome == "fenced"
            return
        turn.count = turn.above + 2
        turn.status, turn.stop, turn.late, turn.owner, turn.lease_over = status, None, False, None, False

    @precondition(lambda self: self.turns)
    @rule(data=st.data(), stale=st.booleans())
    def begin_segment(self, data: st.DataObject, stale: bool) -> None:
        turn = self.pick(data, self.turns)
        outcome = self.write(_begin_segment, turn.id, turn.epoch - stale)
        if stale or turn.ended:
            assert outcome == "fenced"
            return
        turn.status = "running"

    @precondition(lambda self: self._with_status("running"))
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        turn = self.pick(data, self._with_status("running"))
        assert self.write(life.hand_over, turn.num, turn.epoch) is None
        turn.status, turn.owner, turn.lease_over = "queued", None, False

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def try_again(self, data: st.DataObject) -> None:
        turn = self.pick(data, self.turns)
        outcome = self.write(life.reopen, turn.id)
        if turn.status in ("failed", "stopped") and turn.owner is None:
            assert outcome.status == "queued"
            turn.status = "queued"
        else:
            assert outcome == "conflict"

    @precondition(lambda self: self.turns)
    @rule(data=st.data(), tool=st.sampled_from(("execute", "web_fetch")))
    def always_allow(self, data: st.DataObject, tool: str) -> None:
        turn = self.pick(data, self.turns)
        assert self.write(grants.add, turn.num, tool) is None
        turn.grants = tuple(sorted({*turn.grants, tool}))

    # Interrupts

    @precondition(lambda self: self._with_status("running"))
    @rule(data=st.data(), count=st.integers(1, 3), late=st.booleans())
    def ask(self, data: st.DataObject, count: int, late: bool) -> None:
        self._ask(self.pick(data, self._with_status("running")), count, late)

    def _ask(self, turn: Turn, count: int, late: bool) -> None:
        user = self.conversations[turn.conversation].user
        items = [Approval(self.new_id("int"), expires_at=1 if late else None) for _ in range(count)]
        outcome = self.write(_suspend, turn.id, turn.epoch, user, items)
        if turn.stop is not None:
            assert outcome == "stop_requested"
            return
        assert outcome is None
        turn.status, turn.owner, turn.late, turn.lease_over = "waiting", None, late, False
        turn.count = turn.above + 1  # its message: it waits with no answer so far
        for item in items:
            self.asked[item.id] = Asked(item.id, turn.id, user, late)

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def answer_one(self, data: st.DataObject) -> None:
        self._answer([self.pick(data, self.asked)], None, wrong=False)

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), name=st.sampled_from((None, None, *NAMES)), wrong=st.booleans())
    def answer_some(self, data: st.DataObject, name: str | None, wrong: bool) -> None:
        some = st.lists(st.sampled_from(sorted(self.asked)), min_size=1, max_size=3, unique=True)
        self._answer([self.asked[key] for key in sorted(data.draw(some))], name, wrong)

    def _answer(self, chosen: list[Asked], name: str | None, wrong: bool) -> None:
        user = name or chosen[0].user
        outcome = self.write(
            life.answer,
            user,
            {asked.id: YES for asked in chosen} | ({chosen[-1].id: WRONG} if wrong else {}),
        )
        shut = [asked for asked in chosen if not asked.open]
        if any(asked.user != user for asked in chosen):
            assert outcome == "not_found"
        elif wrong:
            assert outcome == "bad_answer"
        elif shut:
            assert outcome == ("already_answered" if shut[0].status == "answered" else "nothing_pending")
        else:
            assert outcome is self._answered(chosen)

    def _answered(self, chosen: list[Asked]) -> bool:
        for asked in chosen:
            asked.status = "answered"
        ready = {asked.turn for asked in chosen}
        ready -= {asked.turn for asked in self.asked.values() if asked.open}
        for turn_id in ready:
            turn = self.turns[turn_id]
            if turn.status == "waiting":
                turn.status, turn.late = "queued", False
        return ready == {asked.turn for asked in chosen}

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), status=st.sampled_from(("expired", "superseded", "cancelled")))
    def close_questions(self, data: st.DataObject, status: InterruptStatus) -> None:
        turn_id = self.pick(data, self.asked).turn
        due = [asked for asked in self.asked.values() if asked.turn == turn_id and asked.status == "pending"]
        outcome = self.write(interrupts.close, self.turns[turn_id].num, status)
        assert sorted(item.interrupt.id for item in outcome) == sorted(asked.id for asked in due)
        for asked in due:
            asked.status = status

    # What there is to see

    @invariant()
    def now_and_then_the_store_shows_what_the_model_holds(self) -> None:
        self.steps += 1
        if self.steps % 4 == 0:
            self._compare()

    def teardown(self) -> None:
        self._compare()

    def _compare(self) -> None:
        seen = self.run(self.database.read(_look, list(self.conversations)))
        assert seen == (self._people(), self._trees(), self._inboxes())

    def _people(self) -> dict[str, Any]:
        found: dict[str, Any] = {name: (count, count, []) for name, count in self.people.items()}
        for conversation in self.conversations.values():
            active = self.turns.get(conversation.active or "")
            state = (False, False, 0)
            if active is not None:
                waits = active.status == "waiting" and not active.late
                state = (active.status in ("queued", "running"), waits, active.count)
            row = (conversation.id, conversation.active, len(conversation.turns), *state)
            found[conversation.user][2].append(row)
        return found

    def _trees(self) -> dict[str, Any]:
        return {
            conversation.id: [_told(self.turns[turn_id]) for turn_id in conversation.turns]
            for conversation in self.conversations.values()
        }

    def _inboxes(self) -> dict[str, Any]:
        found: dict[str, Any] = {name: [] for name in self.people}
        for asked in self.asked.values():
            if asked.open:
                found[asked.user].append(asked.id)
        return found


def test_the_store_does_what_its_model_does(database_url: str) -> None:
    bounds = settings(
        max_examples=examples(8, 50),
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    with asyncio.Runner() as runner:
        database = runner.run(open_database(database_url))
        try:

            class Bound(Store):
                def __init__(self) -> None:
                    super().__init__(runner.run, database)

            run_state_machine_as_test(Bound, settings=bounds)
        finally:
            runner.run(database.close())


def _told(turn: Turn) -> tuple[Any, ...]:
    place = (turn.id, turn.num, turn.ordinal, turn.parent, turn.count)
    return (*place, turn.status, turn.owner, turn.epoch, turn.grants, turn.stop)


def _look(connection: Connection, ids: list[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    people: dict[str, Any] = {}
    inboxes: dict[str, Any] = {}
    for user in users.listing(connection):
        page = conversations.page(connection, user.id, 100)
        rows = [
            (c.id, c.active_turn, c.turn_count, c.running, c.interrupted, c.message_count) for c in page.items
        ]
        people[user.id] = (user.conversation_count, page.total, sorted(rows))
        inboxes[user.id] = sorted(item.interrupt.id for item in interrupts.inbox(connection, user.id))
    trees = {key: [_row(turn) for turn in turns_of(connection, key)] for key in ids}
    return people, trees, inboxes


def _row(turn: Row) -> tuple[Any, ...]:
    place = (turn.id, turn.num, turn.ordinal, turn.parent_id, turn.message_count)
    return (*place, turn.status, turn.owner, turn.epoch, turn.grants, turn.stop_requested)


def _say_and_end(connection: Connection, turn_id: str, epoch: int, status: life.Outcome) -> None:
    turn = turns.get(connection, turn_id)
    fence.hold(connection, turn.num, epoch)
    said = Message("assistant", "hi"), Message("assistant", " ")
    life.settle(connection, [settled(turn, status, *said)])


def _begin_segment(connection: Connection, turn_id: str, epoch: int) -> None:
    turn = turns.get(connection, turn_id)
    life.begin_segment(connection, replace(turn, epoch=epoch), turn.segment + 1)


def _suspend(connection: Connection, turn_id: str, epoch: int, user: str, items: list[Interrupt]) -> None:
    turn = turns.get(connection, turn_id)
    fence.hold(connection, turn.num, epoch)
    interrupts.ask(connection, turn.num, user, {f"g-{item.id}": item for item in items})
    life.wait(connection, turn, [], 0, items[0].expires_at, True)


def _set_lease(connection: Connection, num: int, until: int) -> None:
    connection.execute(update(schema.turns).where(schema.turns.c.num == num).values(lease_until=until))


def _empty(connection: Connection) -> None:
    for table in reversed(schema.metadata.sorted_tables):
        connection.execute(table.delete())
