"""Third-party code may mishandle cancellation: stops, deletions and shutdowns still work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection

from caesura.core import events as ev
from caesura.core.errors import Unavailable
from caesura.core.turns import Turn
from caesura.engine import supervisor
from caesura.store import life
from tests.engine.odd_models import ENDS, Swallows
from tests.engine.world import PATIENCE, World
from tests.openai_server import Call, Say

ODD = "model: {{class: tests.engine.odd_models:{}}}\ntools: []"
DEAF = Call("deaf", {"text": "x"}, "deaf-1")


async def stop(world: World, turn: Turn) -> None:
    """Stop the turn as a person does."""
    await world.database.write(life.request_stop, turn.num, "user")
    assert world.engine.supervisor.stop(turn.num, "user")
    async with asyncio.timeout(PATIENCE):
        while not (row := await world.row(turn)).ended or row.owner is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def deaf(world: World) -> Turn:
    """A turn inside a tool that ignores its cancellation."""
    world.agent("tools: [deaf]")
    world.desk.script(Say("working", (DEAF,)), Say("next"))
    turn = await world.send("go")
    await world.until(turn, ev.ToolStarted)
    while not world.traces():  # noqa: ASYNC110 - what the tool leaves is a file
        await asyncio.sleep(0.01)
    return turn


@contextmanager
def enough_at_last(world: World) -> Iterator[None]:
    """Let a deaf tool end, even if the test fails: nothing else can end it."""
    try:
        yield
    finally:
        (world.folder / "enough").touch()


async def test_a_model_that_swallows_its_cancellation_is_stopped_and_closed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _take_no_turns(monkeypatch)
    world.agent(ODD.format("Swallows"))
    Swallows.closed.clear()
    sent = []
    for _ in range(12):
        await world.begin()
        sent.append(await world.send("go"))
    for turn in sent:
        await world.until(turn, ev.TextDelta)
    await asyncio.gather(*(stop(world, turn) for turn in sent))
    for turn in sent:
        row = await world.checked(turn)
        assert row.status == "stopped"
    async with asyncio.timeout(PATIENCE):
        while len(Swallows.closed) < 12:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_model_that_ignores_its_first_cancellation_is_cancelled_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _take_no_turns(monkeypatch)
    world.agent(ODD.format("Hesitates"))
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta)
    await stop(world, turn)
    assert (await world.checked(turn)).status == "stopped"


async def test_no_tool_is_called_after_a_stop_that_ended_the_reply(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _take_no_turns(monkeypatch)
    world.agent(ODD.format("EndsAnyway").replace("tools: []", "tools: [note]"))
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta)
    await stop(world, turn)
    assert (await world.checked(turn)).status == "stopped"
    assert world.traces() == []


def _take_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs end by themselves, however long that takes on a busy machine. Cancellations are repeated as
    often as ever."""
    monkeypatch.setattr(supervisor, "_HEED", 4 * PATIENCE)
    monkeypatch.setattr(supervisor, "_TRIES", int(16 * PATIENCE))


async def test_a_stop_while_a_sub_agent_replies_is_not_a_model_failure(world: World) -> None:
    world.agent(ODD.format("Chatters"), name="helper")
    world.agent("tools: []\nsub_agents: [{ref: helper, description: Helps}]")
    for number in range(5):
        await world.begin()
        world.desk.script(Say("I ask.", [Call("helper", {"task": "talk"}, f"help-{number}")]))
        turn = await world.send("go")
        await world.until(turn, ev.ModelStarted, 2)
        await world.until(turn, ev.TextDelta, 20)
        await stop(world, turn)
        row = await world.checked(turn)
        assert row.status == "stopped"
        events = await world.events(turn)
        assert not [event for event in events if isinstance(event, ev.Failed | ev.ToolFinished)]


async def test_a_tool_that_ignores_its_cancellation_is_left_behind_with_an_unknown_outcome(
    world: World,
) -> None:
    turn = await deaf(world)
    with enough_at_last(world):
        await stop(world, turn)
        row = await world.checked(turn)
        assert row.status == "stopped"
        assert [(m.name, m.status) for m in row.messages or () if m.role == "tool"] == [("deaf", "unknown")]
    while "deaf ended" not in world.traces():  # noqa: ASYNC110 - what the tool leaves is a file
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    later = await world.checked(turn)
    assert (later.epoch, later.status, later.messages) == (row.epoch, row.status, row.messages)
    assert (await world.say("and now?")).finished


async def test_a_turn_is_taken_from_a_deaf_run_even_after_a_storage_outage(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await deaf(world)
    genuine, away = life.seize, [True, True]

    def seize(connection: Connection, num: int, epoch: int, lease_ms: int) -> Turn | None:
        if away:
            away.pop()
            raise Unavailable
        return genuine(connection, num, epoch, lease_ms)

    monkeypatch.setattr(life, "seize", seize)
    try:
        await stop(world, turn)
    finally:
        (world.folder / "enough").touch()
    assert (await world.checked(turn)).status == "stopped"


async def test_a_stop_is_answered_although_the_turn_cannot_be_taken_from_a_deaf_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await deaf(world)

    def seize(*_: object) -> None:
        raise Unavailable

    monkeypatch.setattr(supervisor, "_PATIENCE", 0.1)
    with enough_at_last(world):
        with monkeypatch.context() as patch:
            patch.setattr(life, "seize", seize)
            async with asyncio.timeout(PATIENCE):
                assert await world.engine.stop(turn, "user")
            assert world.engine.runs(turn.num)
        async with asyncio.timeout(PATIENCE):
            while not (await world.row(turn)).ended:  # noqa: ASYNC110 - the storage is back
                await asyncio.sleep(0.01)
    assert (await world.checked(turn)).status == "stopped"


@pytest.mark.parametrize("kind", sorted(ENDS))
async def test_a_model_that_raises_an_exit_exception_fails_only_its_own_turn(world: World, kind: str) -> None:
    world.agent(f"model: {{class: 'tests.engine.odd_models:Exits', options: {{kind: {kind}}}}}\ntools: []")
    said = await world.say("go")
    assert said.failure.error_id
    row = await world.checked(said.turn)
    assert (row.status, row.epoch) == ("failed", 1)
    assert [m.content for m in row.messages or ()] == ["well "]


async def test_a_tool_that_ignores_its_cancellation_does_not_delay_a_deletion(world: World) -> None:
    turn = await deaf(world)
    with enough_at_last(world):
        async with asyncio.timeout(PATIENCE):
            await world.engine.supervisor.discard(turn.num)


async def test_a_tool_that_ignores_its_cancellation_does_not_delay_the_shutdown(world: World) -> None:
    turn = await deaf(world)
    with enough_at_last(world):
        async with asyncio.timeout(PATIENCE):
            await world.engine.drain(0.1)
        row = await world.row(turn)
        assert (row.status, row.owner) == ("queued", None)  # another process continues the turn


async def test_an_unrequested_cancellation_in_a_tool_is_a_tool_failure(world: World) -> None:
    world.agent("tools: [stray]")
    world.desk.script(Say("working", (Call("stray", {"text": "x"}),)), Say("done"))
    said = await world.say("go")
    assert said.finished
    assert [status for _, _, status in said.results()] == ["error"]


async def test_an_unrequested_cancellation_in_a_model_is_a_model_failure(world: World) -> None:
    world.agent(ODD.format("Strays"))
    said = await world.say("go")
    assert said.failure.code == "model"
    assert [m.content for m in (await world.checked(said.turn)).messages or ()] == ["well "]
