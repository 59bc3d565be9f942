"""Conversations that are longer than the model's window, against a provider that refuses them."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core import notes
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.dialects.native.replies import Snapshot
from caesura.engine.history import History
from caesura.engine.view import CUT_OFF, LEFT_OUT, SUMMARY
from caesura.store import conversations, life, summaries, turns, users
from caesura.store.database import Database
from caesura.store.summaries import Summary
from tests.conformance.rows import settled
from tests.engine.world import PATIENCE, World
from tests.openai_server import Call, Say
from tests.waiting import until

MODEL = """
tools: [{tools}]
system_prompt: Be brief.
model:
  primary: openai:test
  base_url: {url}
  api_key_env: TEST_KEY
  {more}
"""
WORDS = "some words of an answer " * 30  # about 180 tokens


def agent(world: World, more: str = "", tools: str = "") -> None:
    world.agent(MODEL.format(url=world.desk.base_url, more=more, tools=tools))
    world.desk.otherwise = Say(WORDS)


def shown(world: World, place: int = -1) -> list[str]:
    """What the person said, of that which the model was shown."""
    return [text for role, text in world.desk.sent(place) if role == "user"]


async def test_older_turns_are_left_out_before_the_provider_has_to_refuse(world: World) -> None:
    agent(world, "context_tokens: 1000")
    world.desk.window = 1000
    for number in range(12):
        assert (await world.say(f"message {number}")).finished
    assert world.desk.too_long == 0
    assert world.desk.sent()[0] == ("system", "Be brief.")
    seen = shown(world)
    assert seen[-1] == "message 11"
    assert 1 < len(seen) < 6
    assert seen == [f"message {number}" for number in range(12 - len(seen), 12)]


async def test_the_refusal_of_a_provider_teaches_the_window_and_nobody_notices(world: World) -> None:
    agent(world)
    for number in range(8):
        assert (await world.say(f"message {number}")).finished
    assert len(shown(world)) == 8
    world.desk.window = 1000
    said = await world.say("message 8")
    assert said.finished
    assert said.text == WORDS
    [started] = said.of(ev.ModelStarted)
    assert started.context_from is not None
    assert world.desk.too_long == 1
    await world.checked(said.turn)
    assert shown(world)[-1] == "message 8"
    await world.begin()
    for number in range(8):
        assert (await world.say(f"other {number}")).finished
    assert world.desk.too_long == 1, "the process remembers it for other conversations"


async def test_a_refusal_that_does_not_name_the_window_is_believed_too(world: World) -> None:
    agent(world)
    for number in range(24):
        assert (await world.say(f"message {number}")).finished
    world.desk.window, world.desk.names_window = 3000, False
    for number in range(24, 30):
        said = await world.say(f"message {number}")
        assert said.finished
        assert len(said.of(ev.ModelStarted)) == 1
        assert shown(world)[-1] == f"message {number}"
    assert 1 <= world.desk.too_long <= 4


async def test_a_cut_stays_for_several_turns_and_after_a_restart(world: World) -> None:
    agent(world, "context_tokens: 2000")
    world.desk.window = 2000
    firsts = []
    for number in range(20):
        if number == 15:
            world.engine.runner.history = History(world.database)  # as after a restart
            world.engine.runner._ending._history = world.engine.runner.history
        assert (await world.say(f"message {number}")).finished
        firsts.append(shown(world)[0])
    cuts = [before for before, after in pairwise(firsts) if before != after]
    assert 2 <= len(cuts) <= 6, firsts
    assert world.desk.too_long == 0


async def test_the_snapshot_says_from_which_turn_on_the_model_reads(world: World) -> None:
    agent(world, "context_tokens: 1000")

    async def snapshot() -> Snapshot:
        rows = world.service().conversations
        return Snapshot.model_validate_json(
            await rows.branch(
                world.user,
                world.conversation,
                50,
                None,
                lambda page: Snapshot.of_page(page).model_dump_json().encode(),
            )
        )

    await world.say("message 0")
    assert (await snapshot()).context_from is None
    said = {f"message {number}": await world.say(f"message {number}") for number in range(1, 9)}
    first = said[shown(world)[0]].turn.id
    found = await snapshot()
    assert found.context_from == found.turns[-1].context_from == first
    [started] = said["message 8"].of(ev.ModelStarted)
    assert started.context_from == first
    assert notes.read((await world.row(said["message 8"].turn)).about).context_from == first


async def test_a_turn_that_is_alone_in_the_window_is_where_the_model_begins(world: World) -> None:
    agent(world, "context_tokens: 400")
    await world.say("hi")
    said = await world.say("word " * 120)
    assert said.finished
    [started] = said.of(ev.ModelStarted)
    assert started.context_from == said.turn.id
    assert len(shown(world)) == 1


async def test_a_branch_begins_with_the_cut_of_the_turn_above_it(world: World) -> None:
    agent(world, "context_tokens: 1000")
    said = [await world.say(f"message {number}") for number in range(10)]
    assert (await world.say("another way", parent=said[1].turn.id)).finished
    assert shown(world) == ["message 0", "message 1", "another way"]


async def test_long_results_of_the_running_turn_are_left_out_but_no_call(world: World) -> None:
    agent(world, "context_tokens: 2500", tools="flood")
    world.desk.window = 2500
    calls = [Say("", [Call("flood", {"text": f"{number}"}, f"call-{number}")]) for number in range(6)]
    world.desk.script(*calls, Say("done"))
    said = await world.say("go on")
    assert said.finished
    assert world.desk.too_long == 0
    sent = world.desk.requests[-1]["messages"]
    assert [call["id"] for item in sent for call in item.get("tool_calls") or ()] == [
        f"call-{number}" for number in range(6)
    ]
    results = [item["content"] for item in sent if item["role"] == "tool"]
    assert results[0] == LEFT_OUT
    assert results[-1].startswith("5555")
    assert results[-1].endswith(CUT_OFF)
    row = await world.checked(said.turn)
    assert all(LEFT_OUT not in message.content for message in row.messages or ())


async def test_a_sub_agent_has_a_window_too(world: World) -> None:
    model = MODEL.replace("openai:test", "openai:helper")
    more = "context_tokens: 2500"
    world.agent(model.format(url=world.desk.base_url, more=more, tools="flood"), name="helper")
    world.agent("tools: []\nsub_agents: [{ref: helper}]")
    world.desk.window = 2500
    calls = [Say("", [Call("flood", {"text": f"{number}"}, f"call-{number}")]) for number in range(4)]
    world.desk.script(Say("", [Call("helper", {"task": "look"}, "ask")]), Say("thanks"))
    world.desk.script(*calls, Say("seen"), model="helper")
    said = await world.say("go on")
    assert said.finished
    assert said.text.endswith("thanks")
    assert world.desk.too_long == 0
    results = [item["content"] for item in world.desk.requests[-2]["messages"] if item["role"] == "tool"]
    assert results[0] == LEFT_OUT
    assert all(event.context_from is None for event in said.of(ev.ModelStarted))


async def test_calls_that_are_longer_than_the_window_fail_clearly(world: World) -> None:
    agent(world, "context_tokens: 2500", tools="note")
    long = "x" * 2000
    calls = [Say("", [Call("note", {"text": f"{number} {long}"}, f"call-{number}")]) for number in range(9)]
    world.desk.script(*calls, Say("done"))
    said = await world.say("go on")
    assert said.failure.message == "the conversation is too long for the model"
    assert len(said.of(ev.ToolFinished)) > 1


async def test_a_message_that_is_longer_than_the_window_fails_clearly(world: World) -> None:
    agent(world, "context_tokens: 1000")
    said = await world.say("x" * 20_000)
    assert said.failure.message == "the conversation is too long for the model"
    assert not world.desk.requests
    assert (await world.say("short")).finished


async def test_a_fallback_with_a_larger_window_answers_what_the_first_model_cannot(world: World) -> None:
    world.agent(
        f"""
        tools: []
        model:
          primary: openai:gpt-4
          fallbacks: [openai:gpt-4o]
          base_url: {world.desk.base_url}
          api_key_env: TEST_KEY
        """
    )
    world.desk.otherwise = Say("ok")
    said = await world.say("word " * 20_000)
    assert said.finished
    assert [request["model"] for request in world.desk.requests] == ["gpt-4o"]


async def test_what_is_left_out_is_summarised_beside_the_turns(world: World) -> None:
    agent(world, "context_tokens: 1500\n  context: summarise")
    world.desk.window = 1500
    world.desk.summary = Say("They spoke of whales.")
    for number in range(14):
        assert (await world.say(f"message {number}")).finished
        await until(lambda: not world.engine.runner._summaries._requested)
    assert world.desk.too_long == 0
    assert world.desk.to_summarise
    assert "message 0" in world.desk.to_summarise[0]
    first, *rest = shown(world)
    assert first == f"{SUMMARY}\nThey spoke of whales."
    assert rest[-1] == "message 13"
    if len(world.desk.to_summarise) > 1:
        assert "They spoke of whales." in world.desk.to_summarise[-1]
    kept = await world.database.read(summaries.of, world.conversation)
    covered = [(await world.database.read(turns.get, item.turn_id)).content for item in kept]
    number = int(rest[0].removeprefix("message "))
    assert f"message {number - 1}" in covered, "no turn is in neither"


async def test_a_summary_is_made_once_for_each_cut_and_then_used(world: World) -> None:
    agent(world, "context_tokens: 2000\n  context: summarise")
    world.desk.window = 2000
    made: list[str] = []
    for number in range(24):
        world.desk.summary = Say(f"Summary {number}.")
        before = len(world.desk.to_summarise)
        assert (await world.say(f"message {number}")).finished
        await until(lambda: not world.engine.runner._summaries._requested)
        made += [f"Summary {number}."] * (len(world.desk.to_summarise) - before)
    used = [next((text for text in made if text in shown(world, place)[0]), None) for place in range(24)]
    assert world.desk.too_long == 0
    assert set(made[:-1]) <= set(used), "none is replaced before its use"
    assert 2 < len(made) < 10
    for item in world.desk.to_summarise:
        told = item.partition("<conversation>\n")[2]
        assert told.startswith(("Person: message ", "Summary of what came before:\nSummary "))


async def test_a_summary_that_fails_leaves_the_turns_alone_and_is_made_later(world: World) -> None:
    agent(world, "context_tokens: 1000\n  context: summarise")
    world.desk.summary = Say("")
    for number in range(8):
        assert (await world.say(f"message {number}")).finished
    assert SUMMARY not in "".join(shown(world))
    await until(lambda: not world.engine.runner._summaries._requested)
    assert not await world.database.read(summaries.of, world.conversation)
    world.desk.summary = Say("<think>Hm.</think>Later.")
    await world.say("message 8")
    async with asyncio.timeout(PATIENCE):
        while not (made := await world.database.read(summaries.of, world.conversation)):  # noqa: ASYNC110 - another task writes it
            await asyncio.sleep(0.01)
    assert made[0].text == "Later."
    await world.say("message 9")
    assert shown(world)[0] == f"{SUMMARY}\nLater."


async def test_a_summary_of_another_branch_is_not_used(world: World) -> None:
    agent(world, "context_tokens: 1000\n  context: summarise")
    first = await world.say("message 0")
    other = await world.say("aside", parent=first.turn.id)
    await world.database.write(summaries.put, world.conversation, Summary(other.turn.id, "An aside."))
    world.desk.summary = Say("")
    turn = first.turn
    for number in range(1, 8):
        turn = (await world.say(f"message {number}", parent=turn.id)).turn
    assert "An aside." not in "".join(shown(world))


async def test_summaries_are_deleted_with_their_conversation(world: World) -> None:
    agent(world)
    said = await world.say("hi")
    await world.database.write(summaries.put, world.conversation, Summary(said.turn.id, "Hi."))
    await world.database.write(summaries.put, world.conversation, Summary(said.turn.id, "Again."))
    assert await world.database.read(summaries.of, world.conversation) == [Summary(said.turn.id, "Hi.")]
    await world.database.write(summaries.put, "gone", Summary(said.turn.id, "Nobody."))
    await world.service().conversations.delete(world.user, world.conversation)
    assert await world.database.read(summaries.of, world.conversation) == []


async def test_few_summaries_of_a_conversation_are_kept(world: World) -> None:
    agent(world)
    await world.say("hi")
    for number in range(summaries.MOST + 5):
        await world.database.write(summaries.put, world.conversation, Summary(f"turn-{number}", "x"))
    assert len(await world.database.read(summaries.of, world.conversation)) == summaries.MOST


@pytest.mark.parametrize("length", [100, 1500])
async def test_the_rows_that_a_turn_reads_do_not_grow_with_the_conversation(
    database: Database, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await database.write(_first)
    for _ in range(length // 100):
        turn = await database.write(_longer, turn)
    read, walked = _counted(monkeypatch)
    found = await History(database).before(turn, 4000)
    assert 10 < len(found.turns) < 40
    assert found.above is not None
    assert len(read) <= 100
    assert len(walked) <= 128


def _counted(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], list[Any]]:
    read: list[int] = []
    walked: list[Any] = []
    some, above = turns.some, turns.above

    def counted(connection: Any, numbers: Any) -> list[Turn]:
        read.extend(numbers)
        return some(connection, numbers)

    def climbed(*given: Any) -> list[turns.Entry]:
        found = above(*given)
        walked.extend(found)
        return found

    monkeypatch.setattr(turns, "some", counted)
    monkeypatch.setattr(turns, "above", climbed)
    return read, walked


def _first(connection: Any) -> Turn:
    users.create(connection, "alice", "hash")
    conversations.create(connection, "conv", "alice", "demo")
    return life.create(connection, life.New("conv", "hi", owner="node", lease_ms=60_000))


def _longer(connection: Any, turn: Turn) -> Turn:
    for _ in range(100):
        life.settle(connection, [settled(turn, "done", Message("assistant", WORDS))])
        turn = life.create(connection, life.New("conv", "hi", owner="node", lease_ms=60_000))
    return turn
