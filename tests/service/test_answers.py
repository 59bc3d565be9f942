"""Answers: everything is checked before anything is claimed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from caesura.core.answers import Answer
from caesura.core.errors import AlreadyAnswered, BadInput, CaesuraError, InterruptPending, NotFound
from caesura.service.idempotency import Key
from caesura.service.service import Service
from caesura.service.turns import Message
from caesura.store import interrupts
from tests.engine.world import NO, YES, Said, World
from tests.openai_server import Call, Say

TWO = Say("May I?", [Call("seal", {"text": text}, f"seal-{text}") for text in ("a", "b")])


async def asked(service: Service, world: World) -> Said:
    """A turn that waits for two approvals."""
    world.desk.script(TWO)
    turn = await service.turns.send(world.user, world.conversation, Message("go"))
    return await world.segment(turn)


async def assert_untouched(world: World, said: Said) -> None:
    row = await world.row(said.turn)
    assert (row.status, row.owner, row.epoch) == ("waiting", None, said.row.epoch)
    pending = await world.database.read(interrupts.pending, said.turn.num)
    assert [item.interrupt.id for item in pending] == [item.id for item in said.interrupts]
    assert world.traces() == []


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer("no such decision"), BadInput),  # type: ignore[arg-type]
        (Answer("fields", fields={"text": "x"}), BadInput),
        (Answer("edit", args={"text": 7}), BadInput),
        (Answer("edit", args={"other": "x"}), BadInput),
    ],
)
async def test_a_wrong_answer_beside_a_right_one_answers_nothing(
    service: Service, world: World, answer: Answer, error: type[CaesuraError]
) -> None:
    said = await asked(service, world)
    right, wrong = (item.id for item in said.interrupts)
    for given in ({right: YES, wrong: answer}, {wrong: answer, right: YES}):
        with pytest.raises(error):
            await service.turns.answer(world.user, given)
        await assert_untouched(world, said)


async def test_questions_of_others_and_of_nobody_are_not_found(service: Service, world: World) -> None:
    said = await asked(service, world)
    first, second = (item.id for item in said.interrupts)
    attempts: list[tuple[str, Mapping[str, Answer]]] = [
        ("bob", {first: YES, second: YES}),
        ("alice", {first: YES, "int-none": YES}),
    ]
    for user, given in attempts:
        with pytest.raises(NotFound):
            await service.turns.answer(user, given)
        await assert_untouched(world, said)


async def test_answers_to_two_turns_are_refused_together(service: Service, world: World) -> None:
    first = await asked(service, world)
    await world.begin()
    second = await asked(service, world)
    with pytest.raises(BadInput, match="one turn"):
        await service.turns.answer(world.user, {said.interrupts[0].id: YES for said in (first, second)})
    for said in (first, second):
        await assert_untouched(world, said)


async def test_the_turn_continues_after_the_last_answer(service: Service, world: World) -> None:
    said = await asked(service, world)
    first, second = (item.id for item in said.interrupts)
    assert (await service.turns.answer(world.user, {first: YES})).turn.status == "waiting"
    before = await world.log.read(said.turn.num)
    world.desk.script(Say("done"))
    answered = await service.turns.answer(world.user, {second: NO})
    assert (answered.turn.status, answered.after) == ("queued", before[-1].seq)
    assert (await world.segment(said.turn)).text == "done"
    assert world.traces() == ["seal a"]


async def test_of_two_answers_at_once_one_wins_and_the_other_is_told(service: Service, world: World) -> None:
    said = await asked(service, world)
    world.desk.script(Say("done"))
    given = [dict.fromkeys((item.id for item in said.interrupts), answer) for answer in (YES, NO)]
    outcomes = await asyncio.gather(
        *(service.turns.answer(world.user, each) for each in given), return_exceptions=True
    )
    (lost,) = [each for each in outcomes if isinstance(each, BaseException)]
    assert isinstance(lost, AlreadyAnswered)
    won = given[0 if outcomes[1] is lost else 1][said.interrupts[0].id]
    assert lost.decision is not None
    assert lost.decision["decision"] == won.decision
    await world.segment(said.turn)
    assert world.traces() == (["seal a", "seal b"] if won == YES else [])


async def test_an_answer_that_is_repeated_under_its_key_is_no_second_answer(
    service: Service, world: World
) -> None:
    said = await asked(service, world)
    given = {item.id: YES for item in said.interrupts}
    key = Key("k-1", ("answer",))
    world.desk.script(Say("done"))
    first = await service.turns.answer(world.user, given, key)
    again = await service.turns.answer(world.user, given, key)
    assert again.turn.id == first.turn.id
    await world.segment(said.turn)
    assert world.traces() == ["seal a", "seal b"]


async def test_a_blind_answer_right_after_another_decision_decides_nothing(
    service: Service, world: World
) -> None:
    said = await asked(service, world)
    first, second = (item.id for item in said.interrupts)
    await service.turns.answer(world.user, {first: YES}, blind=True)
    with pytest.raises(InterruptPending):
        await service.turns.answer(world.user, {second: YES}, blind=True)
    world.desk.script(Say("done"))
    await service.turns.answer(world.user, {second: NO})
    await world.segment(said.turn)
    assert world.traces() == ["seal a"]
