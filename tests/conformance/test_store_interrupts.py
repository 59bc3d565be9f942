"""Interrupts as rows, on every backend."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import update

from caesura.core.answers import Answer, to_dict
from caesura.core.errors import AlreadyAnswered, BadAnswer, InterruptPending, NotFound, NothingPending
from caesura.core.interrupts import Approval, GraphRequest, Question, Questions
from caesura.core.interrupts import Status as InterruptStatus
from caesura.core.turns import Turn
from caesura.store import interrupts, life, schema, turns, users
from caesura.store.database import Database
from tests.conformance.rows import LEASE, change_turn, make_conversation, make_turn, make_user

YES, NO = Answer("approve"), Answer("reject", message="no")


async def test_a_stored_interrupt_is_pending_with_all_its_members(database: Database) -> None:
    turn = await _waiting(database)
    item = Approval(
        "int-1",
        tool_call_id="c1",
        name="execute",
        args={"command": "a\0b 中", "flags": [0, False]},
        label="执行命令",
        agent="lead",
    )
    await database.write(interrupts.ask, turn.num, "alice", {"graph-1": item})
    [asked] = await database.read(interrupts.pending, turn.num)
    assert asked.interrupt == item
    assert (asked.graph_id, asked.status, asked.answer) == ("graph-1", "pending", None)
    assert (asked.turn, asked.turn_id, asked.conversation_id) == (turn.num, turn.id, turn.conversation_id)
    assert await database.read(interrupts.get, "int-1", "alice") == asked
    assert await database.read(interrupts.of, turn.num) == [asked]


async def test_an_interrupt_is_visible_only_to_its_person(database: Database) -> None:
    turn = await _waiting(database, "int-1")
    for interrupt_id, user in (("int-1", "alice-b"), ("int-2", "alice")):
        with pytest.raises(NotFound, match="interrupt not found"):
            await database.read(interrupts.get, interrupt_id, user)
        with pytest.raises(NotFound, match="interrupt not found"):
            await database.write(life.answer, user, {interrupt_id: YES})
    assert len(await database.read(interrupts.pending, turn.num)) == 1


async def test_the_inbox_lists_the_pending_interrupts_of_a_person_oldest_first(database: Database) -> None:
    first = await _waiting(database, "int-1")
    for number, user in ((2, "bob"), (3, "alice"), (4, "alice")):
        turn = await make_turn(database)
        await asyncio.sleep(0.002)
        await database.write(interrupts.ask, turn.num, user, {"g": GraphRequest(f"int-{number}")})
    await database.write(life.answer, "alice", {"int-3": Answer("value", value=0)})
    inbox = await database.read(interrupts.inbox, "alice")
    assert [(asked.interrupt.id, asked.conversation_id) for asked in inbox] == [
        ("int-1", first.conversation_id),
        ("int-4", turn.conversation_id),
    ]
    assert len(await database.read(interrupts.inbox, "alice", 1)) == 1
    assert await database.read(interrupts.more_pending, "alice", inbox[0])
    assert not await database.read(interrupts.more_pending, "alice", inbox[1])


async def test_a_page_of_the_inbox_is_bounded_in_bytes(database: Database) -> None:
    turn = await _waiting(database)
    large = {str(n): GraphRequest(f"int-{n}", value="x" * 3 * 1024 * 1024) for n in range(3)}
    await database.write(interrupts.ask, turn.num, "alice", large)
    seen: list[str] = []
    after = (-1, "")
    while found := await database.read(interrupts.inbox, "alice", 100, after):
        assert len(found) == 1
        seen.append(found[0].interrupt.id)
        after = (found[0].created_at, found[0].interrupt.id)
    assert seen == ["int-0", "int-1", "int-2"]


async def test_an_answer_is_kept_and_queues_the_turn(database: Database) -> None:
    turn = await _waiting(database, "int-1", waits_until=10**15)
    answer = Answer("edit", args={}, message="so", always_allow=True)
    assert await database.write(life.answer, "alice", {"int-1": answer})
    assert (await database.read(interrupts.get, "int-1", "alice")).answer == answer
    queued = await database.read(turns.get, turn.id)
    assert (queued.status, queued.waits_until) == ("queued", None)
    assert await database.read(interrupts.pending, turn.num) == []


async def test_the_last_answer_queues_the_turn(database: Database) -> None:
    turn = await _waiting(database, "int-1", "int-2", "int-3")
    assert not await database.write(life.answer, "alice", {"int-2": NO})
    assert (await database.read(turns.get, turn.id)).status == "waiting"
    assert await database.write(life.answer, "alice", {"int-1": YES, "int-3": YES})
    assert (await database.read(turns.get, turn.id)).status == "queued"


async def test_several_answers_are_all_stored_or_none(database: Database) -> None:
    turn = await _waiting(database, "int-1", "int-2")
    questions = Questions("int-3", questions=(Question("a?"), Question("b?"), Question("c?")))
    await database.write(interrupts.ask, turn.num, "alice", {"g3": questions})
    await database.write(life.answer, "alice", {"int-2": NO})
    bad = {"int-1": YES, "int-3": Answer("answers", answers=("x", "y"))}
    with pytest.raises(BadAnswer, match=r"answers count \(2\) does not match questions count \(3\)"):
        await database.write(life.answer, "alice", bad)
    with pytest.raises(AlreadyAnswered):
        await database.write(life.answer, "alice", {"int-1": YES, "int-2": YES})
    with pytest.raises(NotFound):
        await database.write(life.answer, "alice", {"int-1": YES, "missing": YES})
    pending = await database.read(interrupts.pending, turn.num)
    assert [asked.interrupt.id for asked in pending] == ["int-1", "int-3"]
    assert (await database.read(interrupts.get, "int-2", "alice")).answer == NO


async def test_the_answers_in_a_turn_are_bounded_in_bytes_but_a_refusal_is_always_taken(
    database: Database,
) -> None:
    turn = await _waiting(database)
    asked = {f"g{n}": GraphRequest(f"int-{n}") for n in range(6)}
    await database.write(interrupts.ask, turn.num, "alice", asked)
    large = Answer("value", value="x" * 1_000_000)
    for number in range(4):
        await database.write(life.answer, "alice", {f"int-{number}": large})
    with pytest.raises(BadAnswer, match="the answers in this turn have"):
        await database.write(life.answer, "alice", {"int-4": large})
    assert len(await database.read(interrupts.pending, turn.num)) == 2
    await database.write(life.answer, "alice", {"int-4": NO, "int-5": NO})


async def test_an_empty_set_of_answers_is_refused(database: Database) -> None:
    with pytest.raises(NothingPending):
        await database.write(life.answer, "alice", {})


async def test_a_wrong_answer_leaves_the_question_open(database: Database) -> None:
    await _waiting(database, "int-1")
    with pytest.raises(BadAnswer):
        await database.write(life.answer, "alice", {"int-1": Answer("answers", answers=("x",))})
    assert await database.write(life.answer, "alice", {"int-1": YES})


async def test_the_second_answer_gets_the_decision_of_the_first(database: Database) -> None:
    await _waiting(database, "int-1")
    await database.write(life.answer, "alice", {"int-1": NO})
    with pytest.raises(AlreadyAnswered) as caught:
        await database.write(life.answer, "alice", {"int-1": YES})
    assert caught.value.decision == {"decision": "reject", "message": "no"}


async def test_an_expired_interrupt_is_gone(database: Database) -> None:
    turn = await _waiting(database)
    now = await database.read(interrupts.clock)
    items = {
        "g1": GraphRequest("int-1", expires_at=now - 1),
        "g2": GraphRequest("int-2", expires_at=now + LEASE),
    }
    await database.write(interrupts.ask, turn.num, "alice", items)
    for found in (
        await database.read(interrupts.pending, turn.num),
        await database.read(interrupts.inbox, "alice"),
    ):
        assert [asked.interrupt.id for asked in found] == ["int-2"]
    with pytest.raises(NothingPending, match="the interrupt has expired"):
        await database.write(life.answer, "alice", {"int-1": Answer("value")})
    assert await database.write(life.answer, "alice", {"int-2": Answer("value")})
    closed = await database.write(interrupts.close, turn.num, "expired")
    assert [asked.interrupt.id for asked in closed] == ["int-1"]
    assert (await database.read(interrupts.get, "int-1", "alice")).status == "expired"
    with pytest.raises(NothingPending, match="the interrupt has expired"):
        await database.write(life.answer, "alice", {"int-1": Answer("value")})


@pytest.mark.parametrize("status", ["expired", "superseded", "cancelled"])
async def test_a_closed_interrupt_cannot_be_answered(database: Database, status: InterruptStatus) -> None:
    turn = await _waiting(database, "int-1", "int-2")
    await database.write(life.answer, "alice", {"int-2": YES})
    closed = await database.write(interrupts.close, turn.num, status)
    assert [asked.interrupt.id for asked in closed] == ["int-1"]
    assert await database.write(interrupts.close, turn.num, status) == []
    with pytest.raises(NothingPending):
        await database.write(life.answer, "alice", {"int-1": YES})
    assert [asked.status for asked in await database.read(interrupts.of, turn.num)] == [status, "answered"]


async def test_one_of_fifty_concurrent_answers_wins_and_the_others_get_its_decision(
    database: Database,
) -> None:
    turn = await _waiting(database, "int-1")
    answers = [Answer("reject", message=str(number)) for number in range(50)]
    tries = (database.write(life.answer, "alice", {"int-1": answer}) for answer in answers)
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert outcomes.count(True) == 1
    winner = answers[outcomes.index(True)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, AlreadyAnswered)]
    assert [outcome.decision for outcome in lost] == [to_dict(winner)] * 49
    assert (await database.read(interrupts.get, "int-1", "alice")).answer == winner
    assert (await database.read(turns.get, turn.id)).status == "queued"


async def test_concurrent_answers_to_the_last_two_questions_queue_the_turn_once(database: Database) -> None:
    for number in range(5):
        names = [f"int-{number}-{side}" for side in "ab"]
        turn = await _waiting(database, *names)
        tries = (database.write(life.answer, "alice", {name: YES}) for name in names)
        assert sorted(await asyncio.gather(*tries)) == [False, True]
        assert (await database.read(turns.get, turn.id)).status == "queued"


async def test_concurrent_answers_in_opposite_order_do_not_deadlock(
    database: Database,
) -> None:
    for number in range(5):
        names = [f"int-{number}-{side}" for side in "abcd"]
        await _waiting(database, *names)
        there = database.write(life.answer, "alice", dict.fromkeys(names, YES))
        back = database.write(life.answer, "alice", dict.fromkeys(reversed(names), NO))
        outcomes = await asyncio.gather(there, back, return_exceptions=True)
        [winner] = [outcome for outcome in outcomes if outcome is True]
        [loser] = [outcome for outcome in outcomes if outcome is not winner]
        assert isinstance(loser, AlreadyAnswered)
        decided = [(await database.read(interrupts.get, name, "alice")).answer for name in names]
        assert decided in ([YES] * 4, [NO] * 4)


async def test_an_interrupt_is_either_answered_or_expires(database: Database) -> None:
    for number in range(5):
        turn = await _waiting(database, f"int-{number}")
        works: list[Any] = [
            database.write(life.answer, "alice", {f"int-{number}": YES}),
            database.write(interrupts.close, turn.num, "expired"),
        ]
        answered, closed = await asyncio.gather(*works, return_exceptions=True)
        assert (answered is True) == (closed == [])
        assert (answered is True) or isinstance(answered, NothingPending)


async def test_a_blind_decision_directly_after_another_is_refused_with_the_pending_interrupts(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 60_000)
    turn = await _waiting(database, "int-1", "int-2")
    await database.write(life.answer, "alice", {"int-1": YES}, blind=True)
    [second] = await database.read(interrupts.pending, turn.num)
    with pytest.raises(InterruptPending) as caught:
        await database.write(life.answer, "alice", {"int-2": YES}, blind=True)
    assert caught.value.interrupts == (second.interrupt,)
    assert await database.read(interrupts.just_answered, turn.num)
    assert await database.write(life.answer, "alice", {"int-2": NO})


@pytest.mark.parametrize("apart", [60_001, -60_001])
async def test_a_blind_decision_later_or_after_the_clock_was_set_back_is_taken(
    database: Database, monkeypatch: pytest.MonkeyPatch, apart: int
) -> None:
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 60_000)
    turn = await _waiting(database, "int-1", "int-2")
    await database.write(life.answer, "alice", {"int-1": YES}, blind=True)
    earlier = update(schema.interrupts).values(closed_at=schema.interrupts.c.closed_at - 2 * apart)
    await database.write(lambda connection: connection.execute(earlier).rowcount)
    assert not await database.read(interrupts.just_answered, turn.num)
    assert await database.write(life.answer, "alice", {"int-2": YES}, blind=True)


async def test_one_of_several_concurrent_blind_decisions_wins_and_the_others_change_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 60_000)
    for number in range(3):
        names = [f"int-{number}-{side}" for side in "abcd"]
        turn = await _waiting(database, *names)
        tries = (database.write(life.answer, "alice", {name: YES}, blind=True) for name in names)
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert sum(isinstance(outcome, InterruptPending) for outcome in outcomes) == 3
        assert len(await database.read(interrupts.pending, turn.num)) == 3


async def test_blind_decisions_on_the_same_question_get_the_decision_of_the_winner(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 60_000)
    await _waiting(database, "int-1")
    tries = (database.write(life.answer, "alice", {"int-1": YES}, blind=True) for _ in range(4))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(outcome, AlreadyAnswered) for outcome in outcomes) == 3


async def _waiting(database: Database, *names: str, **values: Any) -> Turn:
    """Create a turn of alice that waits for these approvals."""
    if await database.read(users.get, "alice") is None:
        await make_user(database, "alice")
    turn = await make_turn(database, await make_conversation(database, "alice"))
    items = {f"graph-{name}": Approval(name, name="execute") for name in names}
    await database.write(interrupts.ask, turn.num, "alice", items)
    await change_turn(database, turn, status="waiting", **values)
    await database.write(life.release, [life.Owned(turn.num, 1)])
    return turn
