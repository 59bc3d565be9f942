"""A confirmation that the agent asks for in its text."""

from __future__ import annotations

import asyncio

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import NothingPending
from caesura.core.interrupts import Confirmation
from caesura.engine.interrupts import Interrupts
from caesura.engine.run import Run
from caesura.store import interrupts, life
from tests.engine.world import NO, PATIENCE, World, roles
from tests.openai_server import Call, Say

SPEC = "tools: [note]\ninterrupt: {enabled: true}"
CONFIRMED = Answer("fields", fields={"confirm": True})
REFUSED = Answer("fields", fields={"confirm": False})


async def test_text_that_asks_for_confirmation_is_streamed_and_then_the_turn_waits(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say(["I will delete it. ", "Please con", "firm that."]), Say("deleted"))
    said = await world.say("delete it")
    assert said.text == "I will delete it. Please confirm that."
    (item,) = said.waiting(Confirmation)
    assert (item.kind, item.reason) == ("confirmation", "Please confirm that.")
    assert item.context == "I will delete it. Please confirm that."
    assert [(field.name, field.type, field.required) for field in item.fields] == [
        ("confirm", "confirm", True)
    ]
    said = await world.resume(said, CONFIRMED)
    assert said.finished
    assert said.text == "deleted"
    row = await world.checked(said.turn)
    assert roles(row.messages) == ["assistant", "user", "assistant"]
    assert [role for role, _ in world.desk.sent()] == ["user", "assistant", "user"]
    assert "confirm" in world.desk.sent()[-1][1].lower()


async def test_the_end_of_a_long_reply_is_told_with_the_confirmation_for_which_it_asks(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say("x" * 3000 + ". Delete it? Please confirm."), Say("deleted"))
    (item,) = (await world.say("delete it")).waiting(Confirmation)
    assert item.context == "…" + ("x" * 3000 + ". Delete it? Please confirm.")[-1999:]


async def test_the_agent_gets_a_refusal_and_continues(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say("Are you sure?"), Say("then not"))
    said = await world.resume(await world.say("delete it"), REFUSED)
    assert said.finished
    told = world.desk.sent()[-1]
    assert told[0] == "user"
    assert any(word in told[1].lower() for word in ("no", "not", "refuse"))


@pytest.mark.parametrize("message", ["rather rename it", "yes", "确认"])
async def test_a_refusal_with_a_message_stays_a_refusal(world: World, message: str) -> None:
    world.agent(SPEC)
    world.desk.script(Say("Are you sure?"), Say("then not"))
    await world.resume(await world.say("delete it"), Answer("reject", message=message))
    assert world.desk.sent()[-1][1] == f"No, I refuse. Do not go ahead. {message}"


async def test_a_consent_with_a_message_keeps_the_form(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say("Are you sure?"), Say("deleted"))
    consent = Answer("fields", fields={"confirm": True}, message="no hurry")
    await world.resume(await world.say("delete it"), consent)
    assert world.desk.sent()[-1][1] == "Yes, I confirm. Go ahead. no hurry"


async def test_a_reply_that_asks_for_confirmation_again_interrupts_again(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say("Please confirm."), Say("Really: are you sure?"), Say("done"))
    first = await world.say("delete it")
    second = await world.resume(first, CONFIRMED)
    assert second.waiting(Confirmation)[0].reason == "Really: are you sure?"
    assert second.interrupts[0].id != first.interrupts[0].id
    third = await world.resume(second, CONFIRMED)
    assert third.finished
    row = await world.checked(third.turn)
    assert roles(row.messages) == ["assistant", "user", "assistant", "user", "assistant"]


async def test_a_resumed_reply_without_text_does_not_repeat_the_old_question(world: World) -> None:
    world.agent(SPEC)
    world.desk.script(Say("Please confirm."), Say("", [Call("note", {"text": "a"})]), Say([]))
    said = await world.resume(await world.say("note it"), CONFIRMED)
    assert said.finished
    assert world.traces() == ["note a"]


async def test_the_operators_own_fields_are_asked_for_and_passed_to_the_agent(world: World) -> None:
    world.agent(
        """
        tools: []
        interrupt:
          enabled: true
          phrases: [say the word]
          fields:
            - {name: size, type: select, options: [small, large], required: true}
            - {name: why, type: text}
        """
    )
    world.desk.script(Say("Now say the word!"), Say("done"))
    said = await world.say("go")
    assert [field.name for field in said.waiting(Confirmation)[0].fields] == ["size", "why"]
    said = await world.resume(said, Answer("fields", fields={"size": "large", "why": "because"}))
    assert said.finished
    assert "large" in world.desk.sent()[-1][1]
    assert "because" in world.desk.sent()[-1][1]


async def test_an_agent_without_interrupts_enabled_does_not_stop(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("Please confirm."))
    assert (await world.say("go")).finished


async def test_an_expired_question_is_closed(world: World) -> None:
    world.agent("tools: []\ninterrupt: {enabled: true, timeout_seconds: 1}")
    world.desk.script(Say("Please confirm."), Say("next"))
    said = await world.say("go")
    (item,) = said.interrupts
    assert item.expires_at is not None
    assert said.row.waits_until == item.expires_at
    await asyncio.sleep(1.0)
    with pytest.raises(NothingPending):
        await world.answer(said.turn, {item.id: CONFIRMED})
    closed = await world.segment(said.turn)
    assert closed.of(ev.RunStarted)[0].cause == "close"
    assert closed.of(ev.InterruptClosed) == [ev.InterruptClosed(item.id, "expired")]
    assert closed.outcome == ev.Stopped("timeout")
    row = await world.checked(said.turn)
    assert row.status == "stopped"
    assert [asked.status for asked in await world.database.read(interrupts.of, said.turn.num)] == ["expired"]
    assert (await world.say("and now?")).finished
    assert [role for role, _ in world.desk.sent()] == ["user", "assistant", "user"]


async def test_a_question_that_has_not_expired_can_be_answered_after_an_engine_outage(world: World) -> None:
    world.agent("tools: []\ninterrupt: {enabled: true, timeout_seconds: 60}")
    world.desk.script(Say("Please confirm."), Say("done"))
    said = await world.say("go")
    await world.engine.drain()
    assert await world.database.write(life.answer, world.user, {said.interrupts[0].id: NO})
    world.engine = world.new_engine()
    world.engine.start()
    assert (await world.segment(said.turn)).finished


async def test_an_expired_question_stays_expired_after_a_crash_while_it_is_closed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.agent("tools: []\ninterrupt: {enabled: true, timeout_seconds: 1}")
    world.desk.script(Say("Are you sure?"))
    said = await world.say("go")
    (asked,) = said.interrupts

    async def never(self: Interrupts, run: Run) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(Interrupts, "close", never)
        async with asyncio.timeout(PATIENCE):
            while (await world.row(said.turn)).status != "running":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        for job in list(world.engine.supervisor._jobs.values()):
            job.task.cancel()  # as if the process had died here
        await world.engine.supervisor.join(said.turn.num)
    await world.database.write(life.orphan, "somebody else")
    closed = await world.segment(said.turn)
    assert closed.outcome == ev.Stopped("timeout")
    (row,) = await world.database.read(interrupts.of, said.turn.num)
    assert (row.interrupt.id, row.status) == (asked.id, "expired")
