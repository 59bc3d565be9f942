"""What a tool writes and reports with its result: all of it or none, and once."""

from __future__ import annotations

from caesura.core import events as ev
from caesura.store import artifacts, tool_calls
from tests.engine.world import World
from tests.openai_server import Call, Say


async def test_rows_and_events_of_a_result_are_committed_with_it(world: World) -> None:
    world.agent("tools: [publish]")
    world.desk.script(Say("working", [Call("publish", {"text": "x"}, "call-1")]), Say("I see"))
    said = await world.say("go")
    assert said.finished
    assert said.results() == [("publish", "published x", "ok")]
    assert said.of(ev.ArtifactChanged) == [ev.ArtifactChanged("notes", 1, "create")]
    _, version = await world.database.read(artifacts.current, world.conversation, "notes")
    assert version.content == "x"
    await world.checked(said.turn)


async def test_rows_that_are_refused_leave_nothing_and_the_model_is_told(world: World) -> None:
    world.agent("tools: [publish]")
    world.desk.script(Say("working", [Call("publish", {"text": "twice"}, "call-1")]), Say("I see"))
    said = await world.say("go")
    assert said.finished
    assert said.results() == [("publish", "artifact exists already: notes", "error")]
    assert not said.of(ev.ArtifactChanged)
    assert await world.database.read(artifacts.of, world.conversation) == []
    journal = await world.database.read(tool_calls.of, said.turn.num)
    assert journal["call-1"].output == {"text": "artifact exists already: notes", "status": "error"}
    await world.checked(said.turn)


async def test_rows_that_no_database_takes_fail_the_turn(world: World) -> None:
    world.agent("tools: [publish]")
    world.desk.script(Say("working", [Call("publish", {"text": "broken"}, "call-1")]), Say("I see"))
    said = await world.say("go")
    assert said.failure.code == "internal"
    assert not said.of(ev.ArtifactChanged)
    assert not said.of(ev.ToolFinished)
    assert await world.database.read(artifacts.of, world.conversation) == []
    journal = await world.database.read(tool_calls.of, said.turn.num)
    assert journal["call-1"].output is None
    await world.checked(said.turn)


async def test_a_tool_is_called_again_a_bounded_number_of_times(world: World) -> None:
    world.agent("tools: [publish]")
    world.desk.script(Say("working", [Call("publish", {"text": "outdated"}, "call-1")]), Say("I see"))
    said = await world.say("go")
    assert said.finished
    message = "Not done: others changed it again and again meanwhile. Read it, and try again."
    assert said.results() == [("publish", message, "error")]
    assert 1 < len(world.traces()) < 20
    await world.checked(said.turn)
