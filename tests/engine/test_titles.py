"""Titles: made concurrently with the first reply, after its first words, without affecting it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from caesura.core import events as ev
from caesura.core.errors import NothingPending
from caesura.core.turns import Turn
from caesura.engine.ending import Ending, Outcome
from caesura.engine.run import Run
from caesura.engine.supervisor import Supervisor
from caesura.engine.titles import Title
from caesura.log.tail import Tail
from caesura.store import conversations
from caesura.store.database import Database
from tests.engine.odd_models import DeafTitle, Traced
from tests.engine.world import PATIENCE, YES, World, limits, world_over
from tests.openai_server import Broken, Call, Desk, Hang, Refusal, Reply, Say
from tests.waiting import until

ODD = "model: {{class: tests.engine.odd_models:{}}}\ntools: []"
SEAL = Call("seal", {"text": "b"})
FALLBACK = """
tools: []
model:
  primary: openai:first
  fallbacks: [openai:second]
  base_url: {url}
  api_key_env: TEST_KEY
"""


@pytest_asyncio.fixture
async def patient(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    """A world in which a title has unlimited time."""
    async with world_over(database, tmp_path, desk, limits(title=2 * PATIENCE)) as world:
        yield world


async def title(world: World) -> str | None:
    return (await world.database.read(conversations.find, world.conversation)).title


async def test_the_first_reply_gives_the_conversation_a_title(world: World) -> None:
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
    await until(lambda: world.desk.titles_asked == 1)
    world.engine.supervisor.stop(turn.num, "user")
    await world.segment(turn)
    assert await title(world) is None
    world.desk.title = Say("Whales")
    said = await world.say("tell me about whales")
    assert said.of(ev.TitleChanged) == [ev.TitleChanged("Whales")]
    assert not (await world.say("more")).of(ev.TitleChanged)
    assert world.desk.titles_asked == 2


async def test_a_deletion_while_a_title_is_awaited_leaves_no_task(patient: World) -> None:
    patient.agent("tools: []")
    patient.desk.title = Hang([])
    patient.desk.script(Say("hello"))
    turn = await patient.send("hi")
    await patient.until(turn, ev.Finished)
    await until(lambda: patient.desk.titles_asked == 1)
    await patient.engine.supervisor.discard(turn.num)
    await asyncio.sleep(0.05)
    names = [getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks()]
    assert not [name for name in names if name in ("_wait", "Title._make")]


async def test_a_title_does_not_wait_for_the_reply(world: World) -> None:
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
async def test_whatever_title_the_model_makes_the_reply_is_unaffected(
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


async def test_a_title_that_hangs_delays_the_end_only_until_its_time_limit(world: World) -> None:
    world.agent("tools: []")
    world.desk.title = Hang()
    world.desk.script(Say("hello"), Say("more"))
    said = await world.say("hi")
    assert said.finished
    assert await title(world) is None
    envelopes = await world.log.read(said.turn.num)
    finished, ended = envelopes[-2:]
    assert (finished.event, ended.event) == (ev.Finished(), ev.SegmentEnded())
    assert ended.at - finished.at >= 900
    await world.checked(said.turn)


async def test_a_person_who_answers_does_not_wait_for_the_title(patient: World) -> None:
    patient.agent("tools: [seal]")
    patient.desk.title = Hang()
    patient.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Say("done"))
    turn = await patient.send("hi")
    asked = await patient.until(turn, ev.Interrupted)
    await patient.answer(turn, {asked.interrupts[0].id: YES})
    first = await patient.segment(turn)
    assert first.interrupts
    await patient.until(turn, ev.Finished)
    assert not patient.desk.refused


async def asked_while_a_title_is_made(world: World) -> tuple[Turn, str]:
    """A turn whose question waits, and whose run waits for a title that never comes."""
    world.agent("tools: [seal]")
    world.desk.title = Hang([])
    world.desk.script(Say("May I?", [SEAL]), Say("next"))
    turn = await world.send("hi")
    asked = await world.until(turn, ev.Interrupted)
    assert (await world.row(turn)).owner is not None
    return turn, asked.interrupts[0].id


async def test_a_stop_while_a_title_is_made_has_ended_the_turn_when_it_returns(patient: World) -> None:
    for _ in range(3):
        await patient.begin()
        turn, question = await asked_while_a_title_is_made(patient)
        assert await patient.turns().stop(patient.user, turn.id)
        row = await patient.checked(turn)
        assert (row.status, row.owner) == ("stopped", None)
        with pytest.raises(NothingPending):
            await patient.answer(turn, {question: YES})
        assert (await patient.events(turn))[-3:] == [
            ev.InterruptClosed(question, "cancelled"),
            ev.Stopped("user"),
            ev.SegmentEnded(),
        ]
        await patient.send("something else")
    assert patient.traces() == []


async def test_a_stopped_question_refuses_its_answer_before_the_turn_has_ended(
    patient: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, question = await asked_while_a_title_is_made(patient)
    monkeypatch.setattr(Supervisor, "run", lambda *_: None)  # a node that dies after its stop was committed
    assert await patient.engine.stop(turn, "superseded")
    assert (await patient.row(turn)).status == "waiting"
    with pytest.raises(NothingPending):
        await patient.answer(turn, {question: YES})


async def test_a_run_that_asks_after_its_stop_was_requested_leaves_no_open_question(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop comes after the agent's last step and before its question is stored."""
    world.agent("tools: [seal]")
    world.desk.script(Say("May I?", [SEAL]))
    about_to_ask, stopped = asyncio.Event(), asyncio.Event()
    genuine = Ending.end

    async def end(ending: Ending, run: Run, outcome: Outcome, title: Title | None) -> None:
        if isinstance(outcome, ev.Interrupted):
            about_to_ask.set()
            await stopped.wait()
        await genuine(ending, run, outcome, title)

    monkeypatch.setattr(Ending, "end", end)
    turn = await world.send("hi")
    async with asyncio.timeout(PATIENCE):
        await about_to_ask.wait()
        stopping = asyncio.create_task(world.engine.stop(turn, "user"))
        while (await world.row(turn)).stop_requested is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        stopped.set()
        assert await stopping
    assert (await world.checked(turn)).status == "stopped"


async def test_a_title_that_a_person_set_meanwhile_is_kept(world: World) -> None:
    world.agent("tools: []")
    world.desk.title = Say(["A ", "title"], pause=0.2)
    world.desk.script(Say("hello"))
    turn = await world.send("hi")
    await world.database.write(conversations.set_title, world.conversation, "Mine")
    said = await world.segment(turn)
    assert said.finished
    assert not said.of(ev.TitleChanged)
    assert await title(world) == "Mine"


async def test_a_title_is_made_later_if_the_first_attempt_failed(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.title = Refusal(500)
    world.desk.script(Say("May I?", [Call("seal", {"text": "b"})]), Say("done"))
    said = await world.say("hi")
    world.desk.title = Say("At last")
    said = await world.resume(said, YES)
    assert said.of(ev.TitleChanged) == [ev.TitleChanged("At last")]


# --- when it is made


async def test_the_model_is_asked_for_a_title_after_the_first_words_were_shown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace: list[str] = []
    monkeypatch.setattr(Traced, "trace", trace)
    push = Tail.push

    def pushed(tail: Tail, events: Sequence[ev.Envelope]) -> None:
        push(tail, events)
        trace.extend("words" for item in events if isinstance(item.event, ev.TextDelta))

    monkeypatch.setattr(Tail, "push", pushed)
    world.agent(ODD.format("Traced"))
    said = await world.say("hi")
    assert said.of(ev.TitleChanged) == [ev.TitleChanged("A title")]
    assert trace[:2] == ["answer begins", "words"]
    assert trace.count("title begins") == 1


async def test_a_segment_without_text_makes_no_title_but_the_next_one_does(patient: World) -> None:
    patient.agent("tools: [seal]")
    patient.desk.script(Say(calls=[SEAL]), Say("done"))
    asked = await patient.say("hi")
    assert asked.interrupts
    assert not asked.of(ev.TitleChanged)
    assert patient.desk.titles_asked == 0
    resumed = await patient.resume(asked, YES)
    assert resumed.of(ev.TitleChanged) == [ev.TitleChanged("A title")]


async def test_a_resumed_segment_has_the_full_time_for_a_title(patient: World) -> None:
    patient.agent("tools: [seal]")
    patient.desk.title = Say("At leisure", pause=0.3)
    patient.desk.script(Say(calls=[SEAL]), Say("done"))
    asked = await patient.say("hi")
    await patient.turns().answer("alice", {asked.interrupts[0].id: YES})
    resumed = await patient.segment(asked.turn)
    assert resumed.finished
    assert resumed.of(ev.TitleChanged) == [ev.TitleChanged("At leisure")]


async def test_no_title_is_requested_if_the_person_set_one(world: World) -> None:
    world.agent("tools: []")
    await world.begin()
    await world.database.write(conversations.set_title, world.conversation, "Mine")
    world.desk.script(Say("hello"))
    assert (await world.say("hi")).finished
    assert world.desk.titles_asked == 0


async def test_the_first_turn_requests_a_title_without_reading_the_conversation(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("hello"))
    looks: list[object] = []
    read = world.database.read

    async def counted(work: Any, *args: Any, **kwargs: Any) -> Any:
        looks.append(work)
        return await read(work, *args, **kwargs)

    world.database.read = counted  # type: ignore[method-assign]
    assert (await world.say("hi")).of(ev.TitleChanged)
    assert conversations.find not in looks


async def test_a_message_sent_while_a_title_is_made_is_answered_and_asks_for_no_other(patient: World) -> None:
    patient.agent("tools: []")
    patient.desk.title = Hang()
    patient.desk.script(Say("hello"), Say("more"))
    first = await patient.send("hi")
    await patient.until(first, ev.Finished)
    await until(lambda: patient.desk.titles_asked == 1)
    assert (await patient.say("and?")).text == "more"
    assert patient.desk.titles_asked == 1
    assert (await patient.row(first)).owner is not None
    patient.engine.supervisor.stop(first.num, "user")
    assert (await patient.segment(first)).events[-2:] == [ev.Finished(), ev.SegmentEnded()]


async def test_a_failed_turn_can_be_retried_while_a_title_is_made(patient: World) -> None:
    patient.agent("tools: []")
    patient.desk.title = Hang()
    patient.desk.script(Broken(["half"]))
    turn = await patient.send("hi")
    await patient.until(turn, ev.Failed)
    assert (await patient.row(turn)).owner is None


async def test_the_model_that_replies_makes_the_title(world: World) -> None:
    world.agent(FALLBACK.format(url=world.desk.base_url))
    world.desk.script(Refusal(400), model="first")
    world.desk.script(Say("hello"), model="second")
    assert (await world.say("hi")).of(ev.TitleChanged) == [ev.TitleChanged("A title")]
    assert world.desk.title_models == ["second"]


async def test_a_stop_does_not_wait_for_a_title_whose_model_ignores_its_cancellation(
    patient: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace: list[str] = []
    monkeypatch.setattr(DeafTitle, "trace", trace)
    monkeypatch.setattr(DeafTitle, "heard", asyncio.Event(), raising=False)
    patient.agent(ODD.format("DeafTitle"))
    turn = await patient.send("hi")
    await patient.until(turn, ev.Finished)
    await until(lambda: "title begins" in trace)
    patient.engine.supervisor.stop(turn.num, "user")
    assert (await patient.segment(turn)).events[-2:] == [ev.Finished(), ev.SegmentEnded()]
    DeafTitle.heard.set()
    await until(lambda: "title made" in trace)
    await patient.checked(turn)
    assert (await patient.events(turn))[-1] == ev.SegmentEnded()
    assert await title(patient) is None


async def test_a_first_reply_that_fails_requests_no_title_and_its_message_gives_one(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Refusal(401), Say("hello"))
    said = await world.say("tell me about whales")
    assert [type(event) for event in said.events[-3:]] == [ev.TitleChanged, ev.Failed, ev.SegmentEnded]
    assert await title(world) == "tell me about whales"
    assert not (await world.say("and?")).of(ev.TitleChanged)
    assert world.desk.titles_asked == 0


async def test_a_title_stays_when_a_later_reply_fails(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("hello"), Refusal(401))
    await world.say("hi")
    assert not (await world.say("tell me about whales")).of(ev.TitleChanged)
    assert await title(world) == "A title"
