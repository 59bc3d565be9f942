"""What a person can do with turns: begin, edit, branch and continue, within limits."""

from __future__ import annotations

from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import (
    AgentChanged,
    BadInput,
    Conflict,
    InterruptPending,
    NotFound,
    RunInProgress,
    StorageFull,
    TooManyQuestions,
    TooManyRuns,
)
from caesura.core.turns import Turn
from caesura.service.service import Service
from caesura.service.turns import MESSAGE_LIMIT, Message
from caesura.store.shares import Share
from tests.engine.world import Said, World
from tests.openai_server import Call, Hang, Say

ASK = Say("May I?", [Call("seal", {"text": "a"}, "seal-1")])


async def send(service: Service, world: World, message: Message) -> Turn:
    return await service.turns.send(world.user, world.conversation, message)


async def running(service: Service, world: World, text: str) -> Turn:
    """A turn that has begun to answer, and runs until it is stopped."""
    world.desk.script(Hang(["half "]))
    turn = await send(service, world, Message(text))
    await world.until(turn, ev.TextDelta)
    return turn


async def told(service: Service, world: World, message: Message) -> Said:
    return await world.segment(await send(service, world, message))


@pytest.mark.parametrize("content", ["", " \n\t", "x" * (MESSAGE_LIMIT + 1), "ü" * (MESSAGE_LIMIT // 2 + 1)])
async def test_an_empty_or_too_long_message_is_refused(service: Service, world: World, content: str) -> None:
    with pytest.raises(BadInput):
        await send(service, world, Message(content))
    assert (await service.conversations.get(world.user, world.conversation)).turn_count == 0


async def test_the_longest_message_is_kept(service: Service, world: World) -> None:
    world.desk.script(Say("long"))
    said = await told(service, world, Message("ü" * (MESSAGE_LIMIT // 2)))
    assert len((await service.turns.get(world.user, said.turn.id)).content) == MESSAGE_LIMIT // 2


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ("alice", Message("hi", agent="nobody")),
        ("alice", Message("hi", "no-such-turn")),
        ("bob", Message("hi")),
    ],
)
async def test_a_message_to_something_that_is_not_there_makes_no_turn(
    service: Service, world: World, user: str, message: Message
) -> None:
    with pytest.raises(NotFound):
        await service.turns.send(user, world.conversation, message)
    assert (await service.conversations.get("alice", world.conversation)).turn_count == 0


async def test_a_conversation_continues_branches_and_keeps_every_reply(
    service: Service, world: World
) -> None:
    world.desk.script(*(Say(text) for text in ("one", "two", "edited", "again", "deeper")))
    first = (await told(service, world, Message("a"))).turn
    second = (await told(service, world, Message("b"))).turn
    assert (first.parent_id, second.parent_id) == (None, first.id)
    edited = (await told(service, world, Message("b, edited", first.id))).turn
    assert world.desk.sent() == [("user", "a"), ("assistant", "one"), ("user", "b, edited")]
    again = await service.turns.regenerate(world.user, second.id)
    assert (await world.segment(again)).text == "again"
    assert (again.content, again.parent_id) == ("b", first.id)
    assert world.desk.sent() == [("user", "a"), ("assistant", "one"), ("user", "b")]
    assert (await told(service, world, Message("c"))).turn.parent_id == again.id
    for turn, text in ((second, "two"), (edited, "edited")):
        row = await service.turns.get(world.user, turn.id)
        assert [message.content for message in row.messages or ()] == [text]


async def test_a_failed_turn_is_retried_only_while_nothing_follows_it(service: Service, world: World) -> None:
    turn = await running(service, world, "go")
    assert await service.turns.stop(world.user, turn.id)
    await world.segment(turn)
    world.desk.script(Say("whole"))
    again = await service.turns.retry(world.user, turn.id)
    assert (again.id, (await world.segment(again)).text) == (turn.id, "whole")
    with pytest.raises(Conflict, match="failed or stopped"):
        await service.turns.retry(world.user, turn.id)
    stopped = await running(service, world, "more")
    assert await service.turns.stop_active(world.user, world.conversation)
    await world.segment(stopped)
    world.desk.script(Say("next"))
    await told(service, world, Message("and more"))
    with pytest.raises(Conflict, match="regenerate"):
        await service.turns.retry(world.user, stopped.id)


async def test_a_stop_tells_whether_there_was_something_to_stop(service: Service, world: World) -> None:
    assert not await service.turns.stop_active(world.user, world.conversation)
    turn = await running(service, world, "go")
    with pytest.raises(NotFound):
        await service.turns.stop("bob", turn.id)
    assert await service.turns.stop(world.user, turn.id)
    await world.segment(turn)
    assert not await service.turns.stop(world.user, turn.id)


async def test_a_question_blocks_messages_that_do_not_supersede_it(service: Service, world: World) -> None:
    world.desk.script(ASK, Say("well"))
    asked = await told(service, world, Message("go"))
    with pytest.raises(InterruptPending) as refused:
        await send(service, world, Message("hello?"))
    assert [item.id for item in refused.value.interrupts] == [item.id for item in asked.interrupts]
    assert (await told(service, world, Message("never mind", supersede=True))).text == "well"
    assert (await world.row(asked.turn)).status == "stopped"


@pytest.mark.parametrize("message", [Message("now", supersede=True), Message("now", stop_unread=True)])
async def test_a_message_that_is_refused_because_the_agent_is_gone_stops_nothing(
    service: Service, world: World, message: Message
) -> None:
    if message.supersede:
        world.desk.script(ASK, Say("sealed"))
        turn = (await told(service, world, Message("go"))).turn
    else:
        turn = await running(service, world, "go")
    (world.agents / "tester.yaml").unlink()
    world.catalog.refresh()
    with pytest.raises(AgentChanged):
        await send(service, world, message)
    row = await world.row(turn)
    assert (row.status, row.stop_requested) == ("waiting" if message.supersede else "running", None)
    assert await service.turns.stop(world.user, turn.id)


async def test_a_run_is_taken_over_only_if_nobody_reads_it(service: Service, world: World) -> None:
    turn = await running(service, world, "go")
    world.desk.script(Say("mine"))
    with pytest.raises(RunInProgress):
        await send(service, world, Message("now"))
    with service.presence.reading(turn), pytest.raises(RunInProgress):
        await send(service, world, Message("now", stop_unread=True))
    assert (await told(service, world, Message("now", stop_unread=True))).text == "mine"
    assert (await world.row(turn)).status == "stopped"


@pytest.mark.parametrize(
    ("share", "script", "error"),
    [
        (Share(runs=1), Hang(["half "]), TooManyRuns),
        (Share(questions=1), ASK, TooManyQuestions),
        (Share(stored_bytes=10), Say("more than ten bytes"), StorageFull),
    ],
)
async def test_what_exceeds_a_share_is_refused_and_counted(
    world: World, share: Share, script: Say | Hang, error: type[Exception]
) -> None:
    world.agent("tools: [seal]")
    await world.begin()
    refused: list[Exception] = []
    service = world.service(share=share, refused=refused.append)
    world.desk.script(script)
    first = await send(service, world, Message("go"))
    if error is not TooManyRuns:
        await world.segment(first)
    with pytest.raises(error):
        await send(service, world, Message("another branch", None))
    assert [type(each) for each in refused] == [error]
    assert (await service.conversations.get(world.user, world.conversation)).turn_count == 1
    if await service.turns.stop(world.user, first.id):
        await world.segment(first)


async def test_a_message_does_not_stop_work_whose_approval_came_first(
    service: Service, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.desk.script(ASK, Hang(["sealed "]))
    asked = await told(service, world, Message("go"))
    (question,) = await service.inbox.pending(asked.turn.num)
    get = service.turns.get

    async def answered_meanwhile(user_id: str, turn_id: str) -> Turn:
        monkeypatch.undo()
        found = await get(user_id, turn_id)
        await service.turns.answer(world.user, {question.interrupt.id: Answer("approve")})
        return found

    monkeypatch.setattr(service.turns, "get", answered_meanwhile)
    with pytest.raises(RunInProgress):
        await send(service, world, Message("instead", supersede=True))
    await world.until(asked.turn, ev.TextDelta)
    assert ((await world.row(asked.turn)).stop_requested, world.traces()) == (None, ["seal a"])
    await service.turns.stop(world.user, asked.turn.id)


async def test_a_message_does_not_stop_the_turn_of_a_message_that_was_faster(
    service: Service, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.desk.script(ASK, Hang(["half "]))
    await told(service, world, Message("go"))
    faster: list[Turn] = []
    make_way = service.turns._make_way

    async def overtaken(*refused: Any) -> None:
        monkeypatch.undo()
        faster.append(await send(service, world, Message("first", supersede=True)))
        await world.until(faster[0], ev.TextDelta)
        await make_way(*refused)

    monkeypatch.setattr(service.turns, "_make_way", overtaken)
    with pytest.raises(RunInProgress):
        await send(service, world, Message("second", supersede=True))
    row = await world.row(faster[0])
    assert (row.status, row.stop_requested) == ("running", None)
    await service.turns.stop(world.user, faster[0].id)
