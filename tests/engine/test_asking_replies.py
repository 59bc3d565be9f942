"""A reply that asks for a confirmation and calls tools: nothing is called before the person has answered."""

from __future__ import annotations

import asyncio

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Confirmation, Questions
from caesura.engine.interrupts import Interrupts
from tests.engine.crash import lose
from tests.engine.world import NO, YES, World, roles
from tests.openai_server import Broken, Call, Hang, Held, Say

SPEC = "tools: [note, seal, look, ask_user]\ninterrupt: {enabled: true}"
NOTE = Call("note", {"text": "a"}, "note-1")
SEAL = Call("seal", {"text": "b"}, "seal-1")
CONFIRMED = Answer("fields", fields={"confirm": True})
REFUSED = Answer("fields", fields={"confirm": False}, message="not today")
ASKS = "I note it. Please confirm that. Then I go on."


def reason(said_waiting: list[Confirmation]) -> str:
    (item,) = said_waiting
    return item.reason


async def test_a_tool_call_waits_for_the_confirmation_that_was_asked_with_it(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say(ASKS, [NOTE]), Say("noted"))
    said = await world.say("note it")
    assert reason(said.waiting(Confirmation)) == "Please confirm that."
    assert said.text == ASKS
    assert world.traces() == []
    assert not said.of(ev.ToolStarted)
    said = await world.resume(said, CONFIRMED)
    assert said.finished
    assert world.traces() == ["note a"]
    assert world.desk.sent()[-3:] == [
        ("assistant", ASKS),
        ("tool", "noted a"),
        ("user", "Yes, I confirm. Go ahead."),
    ]
    row = await world.checked(said.turn)
    assert roles(row.messages) == ["assistant", "tool", "user", "assistant"]
    assert len(world.desk.requests) == 2


async def test_a_refused_confirmation_refuses_the_tool_calls_of_its_reply(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say(ASKS, [NOTE, SEAL]), Say("then not"), Say("well"))
    said = await world.resume(await world.say("note it"), REFUSED)
    assert said.finished
    assert world.traces() == []
    assert [(name, status) for name, _, status in said.results()] == [
        ("note", "refused"),
        ("seal", "refused"),
    ]
    assert world.desk.sent()[-1] == ("user", "No, I refuse. Do not go ahead. not today")
    await world.checked(said.turn)
    assert (await world.say("and now?")).finished


async def test_what_was_asked_between_tool_calls_stops_the_turn_there(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(
        Say("First I look.", [Call("look", {"text": "x"}, "look-1")]), Say(ASKS, [NOTE]), Say("noted")
    )
    said = await world.say("note it")
    assert reason(said.waiting(Confirmation)) == "Please confirm that."
    assert [name for name, _, _ in said.results()] == ["look"]
    said = await world.resume(said, CONFIRMED)
    assert said.finished
    assert [name for name, _, _ in said.results()] == ["note"]
    assert len(world.desk.requests) == 3


async def test_a_confirmation_does_not_replace_the_approval_of_a_call(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say(ASKS, [NOTE, SEAL]), Say("done"))
    said = await world.resume(await world.say("go"), CONFIRMED)
    (item,) = said.waiting(Approval)
    assert item.name == "seal"
    assert world.traces() == ["note a"]
    said = await world.resume(said, NO)
    assert said.finished
    assert world.traces() == ["note a"]


async def test_calls_that_a_person_must_approve_anyway_are_asked_about_once(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say(ASKS, [SEAL]), Say("sealed"))
    said = await world.say("seal it")
    assert [item.name for item in said.waiting(Approval)] == ["seal"]
    said = await world.resume(said, Answer("approve", always_allow=True))
    assert said.finished
    assert world.traces() == ["seal b"]
    world.desk.script(Say(ASKS, [Call("seal", {"text": "c"}, "seal-2")]), Say("sealed"))
    said = await world.say("seal another")
    assert said.waiting(Confirmation)
    assert world.traces() == ["seal b"]


async def test_questions_in_the_same_reply_are_asked_alone(world: World) -> None:
    world.agent(SPEC)
    ask = Call("ask_user", {"questions": [{"question": "Which?"}]}, "ask-1")
    world.desk.script(Say("Do you want me to delete one?", [ask]), Say("fine"))
    said = await world.say("go")
    assert said.waiting(Questions)
    assert (await world.resume(said, Answer("answers", answers=("that",)))).finished


async def test_a_form_of_the_operator_is_filled_in_even_if_the_call_needs_approval(world: World) -> None:
    world.agent(
        """
        tools: [seal]
        interrupt:
          enabled: true
          fields: [{name: ticket, type: text, required: true}]
        """
    )
    world.desk.script(Say(ASKS, [SEAL]), Say("sealed"))
    said = await world.say("seal it")
    assert said.waiting(Confirmation)
    said = await world.resume(said, Answer("fields", fields={"ticket": "T-1"}))
    assert said.waiting(Approval)
    assert (await world.resume(said, YES)).finished
    assert world.desk.sent()[-1] == ("user", "Yes, I confirm. Go ahead. ticket: T-1")


async def test_a_confirmed_call_is_made_after_a_crash_without_another_question(hasty: World) -> None:
    hasty.agent(SPEC)
    hasty.desk.script(Say(ASKS, [NOTE]), Hang(["half"]), Say("noted"))
    said = await hasty.say("note it")
    await hasty.answer(said.turn, {said.interrupts[0].id: CONFIRMED})
    await hasty.until(said.turn, ev.TextDelta)
    await lose(hasty)
    said = await hasty.segment(said.turn)
    assert said.finished
    assert hasty.traces() == ["note a"]
    await hasty.checked(said.turn)


async def test_words_that_a_crash_made_void_do_not_ask(hasty: World) -> None:
    hasty.agent(SPEC)
    hasty.desk.script(Hang(["Please confirm that. "]), Say("Nothing to do."))
    turn = await hasty.send("go")
    await hasty.until(turn, ev.TextDelta)
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished
    assert said.of(ev.TextVoided)


async def test_a_reply_that_was_kept_over_a_crash_still_asks(
    hasty: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: object, run: object, found: object) -> None:
        await asyncio.Event().wait()

    hasty.agent(SPEC)
    hasty.desk.script(Say(ASKS, [NOTE]), Say("noted"))
    with monkeypatch.context() as patch:
        patch.setattr(Interrupts, "ask", never)
        turn = await hasty.send("note it")
        await hasty.until(turn, ev.ModelFinished)
        await lose(hasty)
    said = await hasty.segment(turn)
    assert reason(said.waiting(Confirmation)) == "Please confirm that."
    assert len(hasty.desk.requests) == 1
    assert hasty.traces() == []


async def test_a_yes_lapses_with_a_stop_for_calls_that_were_not_made(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say(ASKS, [SEAL, NOTE]), Say("sealed"))
    said = await world.resume(await world.say("go"), CONFIRMED)
    assert said.waiting(Approval)
    assert world.traces() == ["note a"]
    await world.close(said.turn)
    said = await world.retry(said.turn)
    assert reason(said.waiting(Confirmation)) == "Please confirm that."
    said = await world.resume(said, CONFIRMED)
    assert said.waiting(Approval)
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["note a", "seal b"]
    await world.checked(said.turn)


async def test_a_model_that_fails_after_it_asked_asks_nothing(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Broken(["Please confirm that. "]), Say("Nothing to do."))
    said = await world.say("go")
    assert said.failure.retryable
    assert (await world.retry(said.turn)).finished


async def test_a_sub_agent_that_asks_in_words_asks_its_caller(world: World) -> None:
    world.agent("tools: []\ninterrupt: {enabled: true}", name="helper", model="openai:helper")
    world.agent("tools: []\nsub_agents: [{ref: helper}]\ninterrupt: {enabled: true}")
    world.desk.script(Say("", [Call("helper", {"task": "go"}, "help-1")]), Say("It is done."))
    world.desk.script(Say("Are you sure?"), model="helper")
    assert (await world.say("go")).finished


async def test_a_very_long_piece_is_searched_too(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say("x " * 20_000 + "\nPlease confirm that.\n" + "y " * 20_000))
    said = await world.say("go")
    assert reason(said.waiting(Confirmation)) == "Please confirm that."


async def test_no_word_is_held_back_while_a_question_may_be_in_the_making(world: World) -> None:
    world.agent(SPEC)
    held = Held("Please ", Say("confirm that."))
    world.desk.script(held)
    turn = await world.send("go")
    try:
        assert (await world.until(turn, ev.TextDelta)).text == "Please "
    finally:
        held.go_on.set()
    assert reason((await world.segment(turn)).waiting(Confirmation)) == "Please confirm that."
