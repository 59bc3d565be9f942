"""A turn that runs and streams, and the history that the provider gets."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.core.errors import RunInProgress
from caesura.engine.run import LONGEST_DELTA
from tests.engine.world import YES, World, checkpoint_count, roles
from tests.openai_server import Call, Hang, Say


async def test_a_turn_runs_and_streams_its_reply_in_pieces(world: World) -> None:
    world.agent("tools: []\nsystem_prompt: Be brief.")
    world.desk.script(Say(["Hel", "lo ", "there"]))
    said = await world.say("hi")
    assert said.finished
    assert [event.text for event in said.of(ev.TextDelta)] == ["Hel", "lo ", "there"]
    version = world.catalog.get("tester").version
    assert said.events[0] == ev.RunStarted("tester", 1, "start", epoch=1, version=version)
    assert said.events[-1] == ev.SegmentEnded()
    row = await world.checked(said.turn)
    assert row.status == "done"
    assert row.owner is None
    assert [m.content for m in row.messages or ()] == ["Hello there"]
    assert row.message_count == 2
    assert world.desk.sent() == [("system", "Be brief."), ("user", "hi")]


async def test_the_events_name_the_model_and_its_usage(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("hello"))
    said = await world.say("hi")
    assert said.of(ev.ModelStarted)[0].model == "test"
    finished = said.of(ev.ModelFinished)[0]
    assert finished.usage == {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
    assert finished.finish_reason == "stop"
    assert world.desk.requests[0]["stream_options"] == {"include_usage": True}


async def test_reasoning_is_kept_apart_from_the_reply(world: World) -> None:
    world.agent("tools: []", model="deepseek:test")
    world.desk.script(Say(["42"], thought=["let me ", "think"]), Say("yes"))
    said = await world.say("what is it?")
    assert said.thought == "let me think"
    assert said.text == "42"
    finished = said.of(ev.ModelFinished)[0]
    assert finished.usage is not None
    assert finished.thought_ms is not None
    row = await world.checked(said.turn)
    assert row.messages is not None
    assert (row.messages[0].content, row.messages[0].reasoning) == ("42", "let me think")
    assert row.messages[0].ms == finished.thought_ms
    plain = await world.say("sure?")
    assert plain.of(ev.ModelFinished)[0].thought_ms is None
    assert world.desk.sent() == [("user", "what is it?"), ("assistant", "42"), ("user", "sure?")]


async def test_the_provider_gets_the_earlier_messages(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("one"), Say("two"), Say("three"))
    for text in ("first", "second", "third"):
        await world.say(text)
    said = [
        ("user", "first"),
        ("assistant", "one"),
        ("user", "second"),
        ("assistant", "two"),
        ("user", "third"),
    ]
    assert world.desk.sent() == said


async def test_the_history_of_a_branch_excludes_other_branches(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("root"), Say("left"), Say("right"), Say("deeper"), Say("anew"))
    root = await world.say("a")
    await world.say("b", parent=root.turn.id)
    right = await world.say("c", parent=root.turn.id)
    assert world.desk.sent() == [("user", "a"), ("assistant", "root"), ("user", "c")]
    await world.say("d", parent=right.turn.id)
    assert [text for _, text in world.desk.sent()] == ["a", "root", "c", "right", "d"]
    await world.say("e", parent=None)
    assert world.desk.sent() == [("user", "e")]


async def test_history_is_the_same_for_an_engine_that_never_saw_it(world: World) -> None:
    world.agent("tools: [note]")
    world.desk.script(Say("I note.", [Call("note", {"text": "x"})]), Say("done"), Say("again"))
    await world.say("first")
    other = world.new_engine()
    other.start()
    turn = await world.send("second", engine=other)
    await world.segment(turn)
    assert world.desk.sent() == [
        ("user", "first"),
        ("assistant", "I note."),
        ("tool", "noted x"),
        ("assistant", "done"),
        ("user", "second"),
    ]
    await other.drain()


async def test_parallel_tool_calls_arrive_whole_and_run_each_once(world: World) -> None:
    world.agent("tools: [note, look]")
    text = 'a long text, with "quotes" and 中文, that comes in many pieces'
    calls = [
        Call("note", {"text": text}, "one"),
        Call("look", {"text": "b"}, "two"),
        Call("note", {"text": "c"}, "three"),
    ]
    world.desk.script(Say("working", calls), Say("all done"))
    said = await world.say("go")
    assert said.finished
    assert sorted(world.traces()) == sorted([f"note {text}", "look b", "note c"])
    assert {event.id for event in said.of(ev.ToolStarted)} == {"one", "two", "three"}
    row = await world.checked(said.turn)
    assert roles(row.messages) == ["assistant", "tool", "tool", "tool", "assistant"]
    assert [m["tool_call_id"] for m in world.desk.requests[1]["messages"][2:]] == ["one", "two", "three"]


async def test_two_turns_on_one_branch_are_refused(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Hang(["so"]))
    turn = await world.send("first")
    await world.until(turn, ev.TextDelta)
    with pytest.raises(RunInProgress):
        await world.send("second")
    assert world.engine.supervisor.stop(turn.num, "user")
    await world.segment(turn)


async def test_two_branches_run_at_once(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Say("root"), Say(["slow"] * 5, pause=0.05), Say("quick"))
    root = await world.say("a")
    left = await world.send("b", parent=root.turn.id)
    await world.until(left, ev.TextDelta)
    right = await world.say("c", parent=root.turn.id)
    assert right.text == "quick"
    assert (await world.segment(left)).text == "slow" * 5


async def test_a_reply_that_is_many_hundred_pieces_long_is_whole(world: World) -> None:
    world.agent("tools: []")
    pieces = [f"{number} " for number in range(600)]
    world.desk.script(Say(pieces))
    said = await world.say("count")
    assert said.text == "".join(pieces)
    await world.checked(said.turn)


async def test_a_turn_of_an_agent_without_a_graph_has_no_checkpoints(world: World) -> None:
    world.agent("tools: [note, seal]")
    calls = [Call("note", {"text": "a"}, "1"), Call("seal", {"text": "b"}, "2")]
    world.desk.script(Say("", calls), Say("ok"))
    said = await world.say("go")
    assert await world.database.read(checkpoint_count) == 0
    assert (await world.resume(said, YES)).finished
    assert await world.database.read(checkpoint_count) == 0


async def test_a_long_text_becomes_several_events_and_one_message(world: World) -> None:
    world.agent("model: {class: tests.engine.odd_models:AtOnce}\ntools: []")
    said = await world.say("go")
    pieces = [event.text for event in said.of(ev.TextDelta)]
    assert max(map(len, pieces)) <= LONGEST_DELTA < len("".join(pieces))
    row = await world.checked(said.turn)
    assert [message.content for message in row.messages or ()] == ["".join(pieces)]
    assert "".join(pieces) == "0123456789" * 10_000
