"""Tools that misbehave, and models that call them wrongly: the model gets an error, and the turn
continues."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Questions
from caesura.store.database import Database
from tests.engine.world import World, limits, world_over
from tests.openai_server import Call, Desk, Say

EVERY = "tools: [note, look, fail, refuse, flood, late, wait]"


async def used(world: World, *calls: Call) -> list[tuple[str, str, str]]:
    world.agent(EVERY)
    world.desk.script(Say("working", calls), Say("I see"))
    said = await world.say("go")
    assert said.finished
    assert said.text.endswith("I see")
    await world.checked(said.turn)
    assert [text for role, text in world.desk.sent() if role == "tool"] == [
        m.content for m in said.row.messages or () if m.role == "tool"
    ]
    return said.results()


async def test_a_tool_that_raises_gives_an_error_without_internals(world: World) -> None:
    ((_, output, status),) = await used(world, Call("fail", {"text": "x"}))
    assert status == "error"
    assert "hunter2" not in output
    assert "err-" in output
    assert world.traces() == ["fail x"]


async def test_the_model_gets_the_reason_of_a_tool_that_refuses(world: World) -> None:
    assert await used(world, Call("refuse", {"text": "fly"})) == [("refuse", "cannot fly", "error")]


async def test_a_tools_own_timeout_is_not_reported_as_the_servers_time_limit(world: World) -> None:
    ((_, output, status),) = await used(world, Call("late", {"text": "x"}))
    assert status == "error"
    assert "did not end within" not in output


async def test_a_tool_that_asks_repeatedly_gets_each_answer_in_order(world: World) -> None:
    world.agent("tools: [quiz, note]")
    calls = (Call("quiz", {"text": "one? two?"}), Call("note", {"text": "beside"}))
    world.desk.script(Say("working", calls), Say("I see"))
    first = await world.say("go")
    assert [item.questions[0].question for item in first.waiting(Questions)] == ["one?"]
    second = await world.resume(first, Answer("answers", answers=("1",)))
    assert [item.questions[0].question for item in second.waiting(Questions)] == ["two?"]
    third = await world.resume(second, Answer("answers", answers=("2",)))
    assert third.results() == [("quiz", "1 2", "ok")]
    assert third.text == "I see"
    assert sorted(world.traces()) == ["note beside", "quiz one? two?"]
    await world.checked(third.turn)


async def test_a_tool_may_ask_questions_of_several_kinds(world: World) -> None:
    world.agent("tools: [survey]")
    world.desk.script(Say("working", (Call("survey", {"text": "one?"}),)), Say("I see"))
    said = await world.resume(await world.say("go"), Answer("answers", answers=("1",)))
    assert [item.kind for item in said.interrupts] == ["confirmation"]
    said = await world.resume(said, Answer("fields", fields={"ok": True}))
    assert said.results() == [("survey", "1 True", "ok")]


async def test_what_a_tool_writes_for_people_is_escaped_and_its_questions_are_data(world: World) -> None:
    world.agent("tools: [survey]")
    text = "one?\r\x1b[2K\u202e\\d"
    world.desk.script(Say("working", (Call("survey", {"text": text}),)))
    (item,) = (await world.say("go")).waiting(Questions)
    assert (item.label, item.description) == (r"one?\r\x1b[2K\u202e\d",) * 2
    assert item.questions[0].question == text


@pytest.mark.parametrize(
    "call",
    [Call("lo\ud800ok", {"text": "x"}), Call("look", {"text": "x"}, "a\ud800b"), Call("l\0k", {}, "a\0")],
)
async def test_names_and_ids_that_no_database_can_store_do_no_harm(world: World, call: Call) -> None:
    world.agent(EVERY)
    world.desk.script(Say("working", (call,)), Say("I see"))
    turn = await world.send("go")
    said = await world.segment(turn)
    assert said.finished
    assert (await world.row(turn)).epoch == 1


async def test_the_middle_of_ten_megabytes_is_left_out_with_a_note(world: World) -> None:
    ((_, output, status),) = await used(world, Call("flood", {"text": "x"}))
    assert status == "ok"
    assert len(output) < 270_000
    head, note, end = output.split("\n")
    assert note == f"[cut: {10485760 - len(head + end)} of 10485760 characters are left out here]"
    assert end


@pytest_asyncio.fixture
async def hasty(database: Database, tmp_path: Path, desk: Desk) -> AsyncIterator[World]:
    async with world_over(database, tmp_path, desk, limits(tool=0.2)) as world:
        yield world


async def test_a_tool_that_hangs_is_stopped_and_the_turn_goes_on(hasty: World) -> None:
    ((_, output, status),) = await used(hasty, Call("wait", {"text": "x"}))
    assert status == "error"
    assert "0.2 seconds" in output
    assert hasty.traces() == ["wait x"]


async def test_a_failing_tool_does_not_affect_a_concurrent_one(world: World) -> None:
    results = await used(world, Call("fail", {"text": "x"}, "one"), Call("note", {"text": "y"}, "two"))
    assert sorted((name, status) for name, _, status in results) == [("fail", "error"), ("note", "ok")]
    assert sorted(world.traces()) == ["fail x", "note y"]


async def test_a_tool_that_does_not_exist_is_an_error_for_the_model(world: World) -> None:
    ((name, output, status),) = await used(world, Call("teleport", {"to": "home"}))
    assert (name, status) == ("teleport", "error")
    assert "note" in output


@pytest.mark.parametrize("arguments", ['{"text": "x', "not json", "[1, 2", '{"text": "a"}{"text": "b"}'])
async def test_arguments_that_are_not_json_are_an_error_for_the_model(world: World, arguments: str) -> None:
    ((_, _, status),) = await used(world, Call("note", arguments))
    assert status == "error"
    assert world.traces() == []


@pytest.mark.parametrize(
    "arguments", ['{"text": 5}', '{"other": "x"}', '{"text": ["x"]}', "{}", "null", "[]", '"x"']
)
async def test_arguments_that_do_not_fit_are_an_error_for_the_model(world: World, arguments: str) -> None:
    ((_, _, status),) = await used(world, Call("note", arguments))
    assert status == "error"
    assert world.traces() == []


async def test_all_calls_of_a_model_that_numbers_them_from_zero_are_made(world: World) -> None:
    world.agent(EVERY)
    world.desk.script(*(Say("", [Call("note", {"text": str(n)}, "call_0")]) for n in range(3)), Say("done"))
    said = await world.say("go")
    assert said.finished
    assert world.traces() == ["note 0", "note 1", "note 2"]
    assert len({event.id for event in said.of(ev.ToolStarted)}) == 3
    await world.checked(said.turn)


async def test_two_calls_of_one_reply_under_one_id_are_both_made(world: World) -> None:
    calls = [Call("note", {"text": "a"}, "same"), Call("note", {"text": "b"}, "same")]
    await used(world, *calls)
    assert sorted(world.traces()) == ["note a", "note b"]


async def test_ids_that_are_empty_or_too_long_are_replaced(world: World) -> None:
    calls = [Call("note", {"text": "a"}, ""), Call("note", {"text": "b"}, "x" * 500)]
    await used(world, *calls)
    assert sorted(world.traces()) == ["note a", "note b"]


async def test_the_output_of_a_tool_is_kept_whatever_characters_it_has(world: World) -> None:
    odd = 'nul \x00, 中文, "quotes", \u2028 and \ud83d\ude00'
    world.agent(EVERY)
    world.desk.script(Say("", [Call("look", {"text": odd})]), Say("I see"))
    said = await world.say("go")
    assert said.finished
    assert said.results()[0][1].startswith("saw nul")
    await world.checked(said.turn)


async def test_a_nul_is_removed_from_a_models_text(world: World) -> None:
    world.agent(EVERY)
    world.desk.script(Say(["a\x00", "\x00INTERRUPT:", "b"]))
    said = await world.say("go")
    assert said.text == "aINTERRUPT:b"
