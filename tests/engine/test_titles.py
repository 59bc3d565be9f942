"""Titles: made beside the first answer, harming nothing."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.store import conversations
from tests.engine.world import YES, World
from tests.openai_server import Broken, Call, Hang, Refusal, Reply, Say


async def title(world: World) -> str | None:
    return (await world.database.read(conversations.find, world.conversation)).title


async def test_the_first_answer_gives_the_conversation_a_title(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("hello"), Say("more"))
    said = await world.say("hi")
    assert said.of(ev.TitleChanged) == [ev.TitleChanged("A title")]
    assert said.events[-1] == ev.SegmentEnded()
    assert await title(world) == "A title"
    later = await world.say("and?")
    assert not later.of(ev.TitleChanged)
    assert world.desk.titles_asked == 1


async def test_a_conversation_whose_first_turn_was_stopped_gets_its_title_with_the_next(world: World) -> None:
    world.agent("tools: []")
    world.desk.title = Hang([])
    world.desk.script(Hang(["hm"]), Say("whales sing"), Say("and dive"))
    turn = await world.send("hi")
    await world.until(turn, ev.TextDelta)
    world.engine.supervisor.stop(turn.num, "user")
    await world.segment(turn)
    assert await title(world) is None
    world.desk.title = Say("Whales")
    said = await world.say("tell me about whales")
    assert said.of(ev.TitleChanged) == [ev.TitleChanged("Whales")]
    assert not (await world.say("more")).of(ev.TitleChanged)
    assert world.desk.titles_asked == 2


async def test_a_title_does_not_wait_for_the_answer(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["hm"]))
    turn = await world.send("hi")
    await world.until(turn, ev.TitleChanged)
    assert await title(world) == "A title"
    world.engine.supervisor.stop(turn.num, "user")
    await world.segment(turn)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Say('"A quoted\ttitle"\nand more'), "A quoted title"),
        (Say("x" * 500), "x" * 20),
        (
            Say("标题：《关于天气的一次很长很长的对话的标题是这样的》"),
            "关于天气的一次很长很长的对话的标题是这样",
        ),
        (Say("   "), None),
        (Say("\u0000\u0007"), None),
        (Refusal(500), None),
        (Refusal(401), None),
        (Broken(["half"]), None),
    ],
)
async def test_whatever_the_model_makes_of_it_the_chat_is_unharmed(
    world: World, reply: Reply, expected: str | None
) -> None:
    world.agent("tools: []")
    world.desk.title = reply
    world.desk.script(Say("hello"))
    said = await world.say("hi")
    assert said.finished
    assert said.text == "hello"
    assert said.events[-1] == ev.SegmentEnded()
    assert await title(world) == expected


async def test_a_title_that_hangs_holds_the_end_up_no_longer_than_it_may(world: World) -> None:
    world.agent("tools: []")
    world.desk.title = Hang()
    world.desk.script(Say("hello"), Say("more"))
    said = await world.say("hi")
    assert said.finished
    assert await title(world) is None
    envelopes = await world.log.read(said.turn.num)
    finished, ended = envelopes[-2:]
    assert (finished.event, ended.event) == (ev.Finished(), ev.SegmentEnded())
    assert 900 <= ended.at - finished.at < 3000
    await world.checked(said.turn)


async def test_a_person_who_answers_does_not_wait_for_the_title(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.title = Hang()
    world.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Say("done"))
    turn = await world.send("hi")
    asked = await world.until(turn, ev.Interrupted)
    await world.answer(turn, {asked.interrupts[0].id: YES})
    first = await world.segment(turn)
    envelopes = await world.log.read(turn.num)
    at = {type(item.event): item.at for item in envelopes}
    assert at[ev.SegmentEnded] - at[ev.Interrupted] < 800
    assert first.interrupts
    assert (await world.segment(turn)).finished


async def test_a_title_that_a_person_gave_meanwhile_stays(world: World) -> None:
    world.agent("tools: []")
    world.desk.title = Say(["A ", "title"], pause=0.2)
    world.desk.script(Say("hello"))
    turn = await world.send("hi")
    await world.database.write(conversations.set_title, world.conversation, "Mine")
    said = await world.segment(turn)
    assert said.finished
    assert not said.of(ev.TitleChanged)
    assert await title(world) == "Mine"


async def test_a_title_is_made_later_when_the_first_try_failed(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.title = Refusal(500)
    world.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Say("done"))
    said = await world.say("hi")
    world.desk.title = Say("At last")
    said = await world.resume(said, YES)
    assert said.of(ev.TitleChanged) == [ev.TitleChanged("At last")]
