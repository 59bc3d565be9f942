"""How long a question waits: each kind has a time of its own, by the database's clock."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, update

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer, NothingPending
from caesura.core.interrupts import Approval, Confirmation, Questions
from caesura.core.turns import Turn
from caesura.store import interrupts, schema
from tests.engine.world import NO, YES, Said, World
from tests.openai_server import Call, Say

SEAL = Call("seal", {"text": "b"}, "seal-1")
ASK = Call("ask_user", {"questions": [{"question": "Which?"}]}, "ask-1")
HOUR = 3_600_000


def pass_time(connection: Connection, turn: Turn, milliseconds: int) -> None:
    """Move the deadlines of a turn, as if this much time had passed."""
    asked, rows = schema.interrupts, schema.turns
    passed = {"expires_at": asked.c.expires_at - milliseconds}
    connection.execute(update(asked).where(asked.c.turn == turn.num).values(**passed))
    until = {"waits_until": rows.c.waits_until - milliseconds}
    connection.execute(update(rows).where(rows.c.num == turn.num).values(**until))


async def waiting(world: World, spec: str, *calls: Call) -> Said:
    world.agent(f"tools: [seal, ask_user]\n{spec}")
    world.desk.script(Say("Here.", list(calls)), Say("done"))
    return await world.say("go")


@pytest.mark.parametrize("call", [SEAL, ASK], ids=lambda call: call.name)
async def test_approvals_and_questions_wait_for_ever_where_only_phrases_are_looked_for(
    world: World, call: Call
) -> None:
    said = await waiting(world, "interrupt: {enabled: true, timeout_seconds: 1}", call)
    (item,) = said.interrupts
    assert isinstance(item, Approval | Questions)
    assert item.expires_at is None
    assert said.row.waits_until is None
    await world.database.write(pass_time, said.turn, HOUR)
    answer = YES if isinstance(item, Approval) else Answer("answers", answers=("that",))
    assert (await world.resume(said, answer)).finished


@pytest.mark.parametrize("call", [SEAL, ASK], ids=lambda call: call.name)
async def test_approvals_and_questions_expire_after_the_time_of_their_own(world: World, call: Call) -> None:
    before = await world.database.read(interrupts.clock)
    said = await waiting(world, "approvals: {timeout_seconds: 3600}\ninterrupt: {timeout_seconds: 1}", call)
    (item,) = said.interrupts
    assert item.expires_at is not None
    assert before + HOUR <= item.expires_at <= await world.database.read(interrupts.clock) + HOUR
    assert said.row.waits_until == item.expires_at
    await world.database.write(pass_time, said.turn, HOUR)
    with pytest.raises(NothingPending):
        await world.answer(said.turn, {item.id: NO})
    closed = await world.segment(said.turn)
    assert [event.outcome for event in closed.of(ev.InterruptClosed)] == ["expired"]
    assert closed.outcome == ev.Stopped("timeout")
    assert world.traces() == []


async def test_a_question_can_be_answered_until_its_last_minute(world: World) -> None:
    said = await waiting(world, "approvals: {timeout_seconds: 3600}", SEAL)
    await world.database.write(pass_time, said.turn, HOUR - 60_000)
    assert (await world.resume(said, YES)).finished


async def test_a_confirmation_waits_for_its_own_time(world: World) -> None:
    world.agent("tools: []\ninterrupt: {enabled: true}\napprovals: {timeout_seconds: 7}")
    world.desk.script(Say("Please confirm."))
    before = await world.database.read(interrupts.clock)
    (item,) = (await world.say("go")).waiting(Confirmation)
    assert item.expires_at is not None
    assert before + 300_000 <= item.expires_at <= await world.database.read(interrupts.clock) + 300_000


async def test_fields_that_do_not_fit_leave_the_question_and_its_deadline(world: World) -> None:
    world.agent(
        """
        tools: []
        interrupt:
          enabled: true
          fields:
            - {name: confirm, type: confirm, required: true}
            - {name: where, type: select, options: [staging, production]}
            - {name: why, type: text, required: true}
            - {name: tell, type: confirm}
        """
    )
    world.desk.script(Say("Please confirm."), Say("done"))
    said = await world.say("go")
    wrong: list[dict[str, Any]] = [
        {},
        {"confirm": True},
        {"confirm": "yes", "why": "x"},
        {"confirm": True, "why": " "},
        {"confirm": True, "why": "x", "where": "moon"},
        {"confirm": True, "why": "x", "else": "x"},
    ]
    for fields in wrong:
        with pytest.raises(BadAnswer):
            await world.answer(said.turn, {said.interrupts[0].id: Answer("fields", fields=fields)})
    row = await world.row(said.turn)
    assert (row.status, row.epoch, row.waits_until) == ("waiting", said.row.epoch, said.row.waits_until)
    fields = {"confirm": True, "why": "it is time", "where": "staging", "tell": False}
    assert (await world.resume(said, Answer("fields", fields=fields))).finished
    told = "Yes, I confirm. Go ahead. why: it is time; where: staging; tell: no"
    assert world.desk.sent()[-1] == ("user", told)
