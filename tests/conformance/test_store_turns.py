"""Turns, their tree, and who runs them, on every backend."""

import asyncio
from typing import Any

import pytest
from annotated_types import Le
from sqlalchemy import Connection, Select, update

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import CaesuraError, Conflict, Fenced, InterruptPending, NotFound, RunInProgress
from caesura.core.interrupts import Approval
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.settings import Settings
from caesura.store import conversations, events, fence, grants, interrupts, life, schema, turns
from caesura.store.database import Database
from tests.accounts import accounts
from tests.conformance.rows import (
    LEASE,
    change_turn,
    end_turn,
    make_conversation,
    make_turn,
    make_user,
    set_columns,
    settled,
    turns_of,
)
from tests.sent import statements

HOSTILE = "a\0b 中😀\ud800 \u2028"


async def test_the_first_turn_is_a_root_and_the_next_continues_the_active_branch(database: Database) -> None:
    conversation_id = await make_conversation(database, await make_user(database, "alice"))
    first = await end_turn(database, await make_turn(database, conversation_id))
    second = await make_turn(database, conversation_id)
    assert (first.parent_id, first.ordinal) == (None, 1)
    assert (second.parent_id, second.ordinal) == (first.id, 2)
    found = await database.read(conversations.get, conversation_id, "alice")
    assert (found.active_turn, found.turn_count) == (second.id, 2)
    assert [turn.id for turn in await database.read(turns_of, conversation_id)] == [first.id, second.id]


async def test_a_turn_is_found_by_id_and_by_number(database: Database) -> None:
    turn = await make_turn(database)
    assert await database.read(turns.get, turn.id) == turn
    assert await database.read(turns.numbered, turn.num) == turn
    assert await database.read(turns.numbered, turn.num + 1) is None
    with pytest.raises(NotFound, match="turn not found"):
        await database.read(turns.get, "turn-missing")


async def test_a_turn_with_an_owner_runs_and_one_without_is_queued(database: Database) -> None:
    held = await make_turn(database, owner="node-1", lease_ms=5_000)
    assert (held.status, held.owner, held.epoch) == ("running", "node-1", 1)
    assert held.lease_until is not None
    assert abs(held.lease_until - held.created_at - 5_000) < 2_000
    queued = await make_turn(database, owner=None)
    assert (queued.status, queued.owner, queued.lease_until, queued.epoch) == ("queued", None, None, 0)


async def test_a_branch_begins_at_any_ended_turn(database: Database) -> None:
    conversation_id = await make_conversation(database)
    first = await end_turn(database, await make_turn(database, conversation_id))
    await end_turn(database, await make_turn(database, conversation_id))
    branch = await make_turn(database, conversation_id, parent=first.id)
    assert (branch.parent_id, branch.ordinal) == (first.id, 3)


async def test_the_parent_none_begins_a_new_root(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await end_turn(database, await make_turn(database, conversation_id))
    root = await make_turn(database, conversation_id, parent=None)
    assert root.parent_id is None
    assert root.message_count == 1


async def test_a_parent_in_another_conversation_looks_missing(database: Database) -> None:
    foreign = await end_turn(database, await make_turn(database))
    conversation_id = await make_conversation(database, await make_user(database, "alice"))
    for parent in (foreign.id, "turn-missing"):
        with pytest.raises(NotFound, match="turn not found"):
            await make_turn(database, conversation_id, parent=parent)
    assert (await database.read(conversations.get, conversation_id, "alice")).turn_count == 0


async def test_a_turn_needs_a_conversation(database: Database) -> None:
    with pytest.raises(NotFound, match="conversation not found"):
        await make_turn(database, "missing")


@pytest.mark.parametrize("owner", ["node-1", None])
async def test_a_branch_has_one_live_turn(database: Database, owner: str | None) -> None:
    live = await make_turn(database, owner=owner)
    with pytest.raises(RunInProgress):
        await make_turn(database, live.conversation_id)
    with pytest.raises(RunInProgress):
        await make_turn(database, live.conversation_id, parent=live.id)
    await make_turn(database, live.conversation_id, parent=None)


async def test_one_of_many_concurrent_messages_becomes_the_turn(database: Database) -> None:
    conversation_id = await make_conversation(database)
    tries = (make_turn(database, conversation_id, content=str(number)) for number in range(15))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    made = [outcome for outcome in outcomes if isinstance(outcome, Turn)]
    assert sum(isinstance(outcome, RunInProgress) for outcome in outcomes) == 14
    assert await database.read(turns_of, conversation_id) == made


async def test_a_message_to_a_waiting_branch_is_refused_with_the_pending_interrupts(
    database: Database,
) -> None:
    turn = await make_turn(database)
    item = Approval("int-1", name="execute")
    await database.write(interrupts.ask, turn.num, "alice", {"g1": item})
    await change_turn(database, turn, status="waiting")
    with pytest.raises(InterruptPending) as caught:
        await make_turn(database, turn.conversation_id)
    assert caught.value.interrupts == (item,)


async def test_a_turn_keeps_any_text(database: Database) -> None:
    turn = await make_turn(database, content=HOSTILE, agent="other", on_disconnect="stop")
    assert turn.content == HOSTILE.replace("\ud800", "?")
    assert (turn.agent, turn.on_disconnect) == ("other", "stop")
    assert (await make_turn(database)).agent == "demo"


async def test_messages_are_kept_and_counted_along_the_branch(database: Database) -> None:
    conversation_id = await make_conversation(database)
    first = await make_turn(database, conversation_id)
    assert first.messages is None
    said = [
        Message("assistant", HOSTILE.replace("\ud800", "?"), cut=True),
        Message("assistant", "", reasoning="x"),
    ]
    first = await end_turn(database, first, "done", *said, Message("tool", "sub", parent="c1"))
    assert first.messages == [*said, Message("tool", "sub", parent="c1")]
    assert first.message_count == 2
    second = await make_turn(database, conversation_id)
    assert second.message_count == 3
    second = await end_turn(database, second, "done", Message("assistant", "a"), Message("tool", "b"))
    assert second.message_count == 5


async def test_a_queued_turn_is_claimed_under_a_new_epoch(database: Database) -> None:
    turn = await make_turn(database, owner=None)
    claimed = await database.write(life.claim, turn.num, "node-2", LEASE)
    assert claimed is not None
    assert (claimed.owner, claimed.epoch) == ("node-2", 1)
    assert await database.write(life.claim, turn.num, "node-3", LEASE) is None


async def test_a_held_turn_is_not_claimed_until_its_lease_expires(database: Database) -> None:
    turn = await make_turn(database, owner="node-1")
    assert await database.write(life.claim, turn.num, "node-2", LEASE) is None
    assert await database.write(life.claim_some, "node-2", LEASE, 10) == []
    await _expire(database, turn)
    claimed = await database.write(life.claim, turn.num, "node-2", LEASE)
    assert claimed is not None
    assert (claimed.owner, claimed.epoch, claimed.status) == ("node-2", 2, "running")
    assert claimed.lease_until is not None
    assert claimed.lease_until > claimed.created_at


async def test_an_ended_turn_whose_owner_died_is_claimed_to_write_its_last_event(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(life.settle, [settled(turn, released=False)])
    assert await database.write(life.claim_some, "node-2", LEASE, 10) == []
    await _expire(database, turn)
    [claimed] = await database.write(life.claim_some, "node-2", LEASE, 10)
    assert (claimed.status, claimed.epoch) == ("done", 2)
    await database.write(life.release, [life.Owned(turn.num, 2)])
    assert await database.write(life.claim_some, "node-2", LEASE, 10) == []


async def test_no_more_is_claimed_than_was_asked_for(database: Database) -> None:
    made = [await make_turn(database, owner=None) for _ in range(5)]
    first = await database.write(life.claim_some, "node-1", LEASE, 3)
    rest = await database.write(life.claim_some, "node-2", LEASE, 10)
    assert (len(first), len(rest)) == (3, 2)
    assert sorted(turn.num for turn in first + rest) == [turn.num for turn in made]
    assert await database.write(life.claim_some, "node-3", LEASE, 10) == []


async def test_a_waiting_turn_is_claimed_when_it_expires_or_is_stopped(
    database: Database,
) -> None:
    patient, late, stopped, queued = [await make_turn(database) for _ in range(4)]
    for turn, waits_until in ((patient, None), (late, 1), (stopped, None), (queued, 1)):
        await database.write(life.wait, turn, [], 0, waits_until, True)
    assert await database.write(life.request_stop, stopped.num, "user")
    await change_turn(database, queued, status="queued")
    found = await database.write(life.claim_some, "node-2", LEASE, 10)
    assert [turn.num for turn in found] == [late.num, stopped.num, queued.num]
    assert found[1].stop_requested == "user"


async def test_concurrent_claims_give_each_turn_to_one_owner(database: Database) -> None:
    made = [await make_turn(database, owner=None) for _ in range(12)]
    tries = (database.write(life.claim_some, f"node-{n}", LEASE, 3) for n in range(8))
    claimed = [turn for group in await asyncio.gather(*tries) for turn in group]
    claimed += await database.write(life.claim_some, "node-9", LEASE, 20)
    assert sorted(turn.num for turn in claimed) == [turn.num for turn in made]
    assert {turn.epoch for turn in claimed} == {1}


async def test_renewing_keeps_a_turn_and_returns_which_turns_are_asked_to_stop(database: Database) -> None:
    mine, stopped, theirs, gone = [await make_turn(database, lease_ms=1) for _ in range(4)]
    await _expire(database, theirs)
    await database.write(life.claim, theirs.num, "node-2", LEASE)
    assert await database.write(life.request_stop, stopped.num, "disconnect")
    numbers = [gone.num + 1, theirs.num, stopped.num, mine.num]
    renewed = await database.write(life.renew, "node-1", numbers, LEASE)
    assert renewed == {mine.num: None, stopped.num: "disconnect"}
    assert await database.write(life.claim, mine.num, "node-2", LEASE) is None
    assert await database.write(life.renew, "node-1", [], LEASE) == {}


async def test_the_heartbeat_may_run_in_a_thread_of_its_own(database: Database) -> None:
    turn = await make_turn(database)
    renewed = await asyncio.to_thread(database.write_now, life.renew, "node-1", [turn.num], LEASE)
    assert renewed == {turn.num: None}


async def test_a_heartbeat_names_as_many_turns_as_a_process_may_work_on(database: Database) -> None:
    turn = await make_turn(database)
    most = next(bound.le for bound in Settings.model_fields["runs"].metadata if isinstance(bound, Le))
    assert isinstance(most, int)
    numbers = range(turn.num, turn.num + most)
    with statements() as said:
        assert await database.write(life.renew, "node-1", numbers, LEASE) == {turn.num: None}
        assert await database.write(life.held, "node-1", numbers) == {turn.num: None}
    if database.shared:
        # PostgreSQL ends a transaction that waits too long for its client, which would compile a long list.
        assert len(said) == 2
        assert max(map(len, said)) < 1000


async def test_heartbeats_and_writes_of_many_turns_never_deadlock(
    database: Database,
) -> None:
    made = [await make_turn(database) for _ in range(8)]
    numbers = [turn.num for turn in made]

    def touch_all(connection: Connection, order: list[int]) -> None:
        for num in sorted(order):
            fence.hold(connection, num, 1)
            set_columns(connection, num, running_ms=1)

    for _ in range(5):
        works: list[Any] = []
        for shift in range(6):
            order = numbers[shift:] + numbers[:shift]
            works.append(database.write(life.renew, "node-1", reversed(order), LEASE))
            works.append(database.write(touch_all, order))
        await asyncio.gather(*works)


async def test_only_a_live_turn_can_be_asked_to_stop(database: Database) -> None:
    turn = await make_turn(database)
    assert await database.write(life.request_stop, turn.num, "user")
    assert (await database.read(turns.get, turn.id)).stop_requested == "user"
    ended = await end_turn(database, turn, "stopped")
    assert (ended.status, ended.stop_requested, ended.owner) == ("stopped", None, None)
    assert ended.ended
    assert not await database.write(life.request_stop, turn.num, "user")
    assert not await database.write(life.request_stop, turn.num + 1, "user")


async def test_the_reason_of_the_first_stop_stays(database: Database) -> None:
    turn = await make_turn(database)
    for reason in ("disconnect", "user", "superseded"):
        assert await database.write(life.request_stop, turn.num, reason) == "disconnect"
    assert await database.read(life.stops, "node-1") == {turn.num: "disconnect"}
    assert await database.read(life.stops, "node-2") == {}


async def test_a_question_and_a_stop_at_once_leave_no_question_open(database: Database) -> None:
    def ask(connection: Connection, turn: Turn, item: Approval) -> None:
        fence.hold(connection, turn.num, turn.epoch)
        interrupts.ask(connection, turn.num, turn.user_id, {"g": item})
        life.wait(connection, turn, [], 0, None, True)

    def stop(connection: Connection, turn: Turn) -> None:
        assert life.request_stop(connection, turn.num, "user")
        life.claim_stopped(connection, turn.num, "node-2", LEASE)

    for place in range(10):
        turn = await make_turn(database)
        item = Approval(f"int-{place}")
        works = [database.write(ask, turn, item), database.write(stop, turn)]
        await asyncio.gather(*(works if place % 2 else reversed(works)), return_exceptions=True)
        assert (await database.read(turns.get, turn.id)).stop_requested == "user"
        assert await database.read(interrupts.pending, turn.num) == []
        with pytest.raises(CaesuraError):
            await database.write(life.answer, turn.user_id, {item.id: Answer("approve")})


async def test_an_old_owner_can_write_nothing(database: Database) -> None:
    turn = await make_turn(database)
    await _expire(database, turn)
    await database.write(life.claim, turn.num, "node-2", LEASE)
    before = await database.read(turns.get, turn.id)
    works: list[Any] = [
        lambda c: fence.hold(c, turn.num, 1),
        lambda c: life.begin_segment(c, turn, 2),
        lambda c: life.wait(c, turn, [], 0, None, True),
        lambda c: life.settle(c, [settled(turn)]),
        lambda c: life.give_up(c, turn, None),
        lambda c: life.release(c, [life.Owned(turn.num, 1)]),
        lambda c: life.hand_over(c, turn.num, 1),
        lambda c: fence.hold(c, turn.num, 3),
        lambda c: fence.hold(c, turn.num + 1, 2),
    ]
    for work in works:
        with pytest.raises(Fenced):
            await database.write(work)
    assert await database.read(turns.get, turn.id) == before
    await database.write(fence.hold, turn.num, 2)


async def test_a_turn_that_was_handed_over_is_claimed_at_once(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(life.hand_over, turn.num, 1)
    [claimed] = await database.write(life.claim_some, "node-2", LEASE, 10)
    assert (claimed.num, claimed.epoch) == (turn.num, 2)


@pytest.mark.parametrize("status", ["failed", "stopped"])
async def test_a_failed_or_stopped_turn_can_be_retried(database: Database, status: life.Outcome) -> None:
    ended = await end_turn(database, await make_turn(database), status)
    assert ended.ended_at is not None
    again = await database.write(life.reopen, ended.id)
    assert (again.status, again.ended_at, again.epoch) == ("queued", None, 1)
    [claimed] = await database.write(life.claim_some, "node-2", LEASE, 10)
    assert claimed.epoch == 2


async def test_no_other_turn_can_be_retried(database: Database) -> None:
    running = await make_turn(database)
    done = await end_turn(database, await make_turn(database))
    held = await make_turn(database)
    await database.write(life.settle, [settled(held, "failed", released=False)])
    for turn_id in (running.id, done.id, held.id, "turn-missing"):
        with pytest.raises(Conflict, match="only a failed or stopped turn"):
            await database.write(life.reopen, turn_id)


async def test_one_of_many_concurrent_retries_succeeds(database: Database) -> None:
    ended = await end_turn(database, await make_turn(database), "failed")
    tries = (database.write(life.reopen, ended.id) for _ in range(8))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 7


async def test_grants_are_inherited_along_the_branch_alone(database: Database) -> None:
    conversation_id = await make_conversation(database)
    root = await make_turn(database, conversation_id)
    for tool in ("write_file", "execute", "execute"):
        await database.write(grants.add, root.num, tool)
    await end_turn(database, root)
    child = await end_turn(database, await make_turn(database, conversation_id))
    grandchild = await end_turn(database, await make_turn(database, conversation_id))
    other = await make_turn(database, conversation_id, parent=None)
    assert child.grants == grandchild.grants == ("execute", "write_file")
    assert other.grants == ()


async def _expire(database: Database, turn: Turn) -> None:
    """Let the lease of the turn's owner expire."""
    row = update(schema.turns).where(schema.turns.c.num == turn.num)
    await database.write(lambda connection: connection.execute(row.values(lease_until=1)).rowcount)


async def test_claims_from_the_queue_alternate_between_people(database: Database) -> None:
    many = [
        await make_turn(database, await make_conversation(database, name), owner=None)
        for name in [await make_user(database)] * 4
    ]
    other = await make_turn(database, owner=None)
    third = await make_turn(database, owner=None)
    claimed = [turn.num for turn in await database.write(life.claim_some, "node-1", LEASE, 3)]
    assert claimed == [many[0].num, other.num, third.num]
    rest = [turn.num for turn in await database.write(life.claim_some, "node-1", LEASE, 10)]
    assert rest == [turn.num for turn in many[1:]]


async def test_a_turn_whose_row_cannot_be_read_ends_and_the_others_are_claimed(database: Database) -> None:
    broken, good = await make_turn(database, owner=None), await make_turn(database, owner=None)

    def spoil(connection: Connection) -> None:
        values = {"messages": b"not what was stored"}
        connection.execute(update(schema.turns).where(schema.turns.c.num == broken.num).values(**values))

    await database.write(spoil)
    claimed = await database.write(life.claim_some, "node-1", LEASE, 10)
    assert [turn.num for turn in claimed] == [good.num]
    log = await database.read(events.read, broken.num, 0, 10)
    assert [type(item.event) for item in log] == [ev.Failed, ev.SegmentEnded]
    kept, counted = await database.read(accounts)
    assert kept[broken.conversation_id] == counted[broken.conversation_id] > 0
    assert await database.write(life.claim_some, "node-1", LEASE, 10) == []


async def test_claiming_work_reads_no_turn_that_only_waits_for_a_person(database: Database) -> None:
    """Each query reads one index, which holds few of all turns."""

    def plan(connection: Connection, statement: Select[tuple[int]]) -> str:
        given = {"limit": 1, "agents": ["a", "b"], "every_agent": False, "at_owner": "node-1"}
        made = statement.compile(dialect=connection.dialect)
        state = made.construct_expanded_state({**made.construct_params(given, _check=False), **given})
        if connection.dialect.name == "sqlite":
            values = tuple(state.positional_parameters)
            return str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {state.statement}", values).all())
        return str(connection.exec_driver_sql(f"EXPLAIN {state.statement}", state.parameters).all())

    def fill(connection: Connection) -> None:
        """Many turns that have ended. PostgreSQL reads all rows of a small table, even with an index."""
        others = [c.name for c in schema.turns.c if c.name not in ("num", "id", "ordinal", "status", "owner")]
        columns = ", ".join(others)
        connection.exec_driver_sql(
            f"INSERT INTO turns (id, ordinal, status, owner, {columns})"
            f" SELECT 'turn-' || n, n + 1, 'done', NULL, {columns} FROM turns, generate_series(1, 20000) n"
        )
        connection.exec_driver_sql("ANALYZE turns")

    await make_turn(database)
    if database.shared:
        await database.write(fill)
    indexes = ("turns_held", "turns_expiring", "turns_stopping", "turns_queued")
    stops = life._STOPS._statement
    assert isinstance(stops, Select)
    for statement, index in zip((*life._LOOKS, stops), (*indexes, "turns_stopping"), strict=True):
        found = await database.read(plan, statement)
        assert index in found
        assert "SCAN turns'" not in found
        assert "Seq Scan" not in found


async def test_an_owner_does_not_claim_turns_that_it_is_busy_with(database: Database) -> None:
    busy, dead = await make_turn(database, lease_ms=-1), await make_turn(database, lease_ms=-1)
    claimed = await database.write(life.claim_some, "node-1", LEASE, 10, {busy.num})
    assert [turn.num for turn in claimed] == [dead.num]


async def test_a_turn_that_waits_for_a_person_is_not_stopped_when_its_readers_leave(
    database: Database,
) -> None:
    turn = await make_turn(database)
    assert await database.write(life.request_stop, turn.num, "disconnect")
    await change_turn(database, turn, status="waiting", stop_requested=None)
    assert not await database.write(life.request_stop, turn.num, "disconnect")
    assert await database.write(life.request_stop, turn.num, "user")
