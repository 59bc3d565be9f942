"""Conversations that a client names: found or made together with a message."""

from __future__ import annotations

import asyncio

import pytest

from caesura.core.errors import BadInput, InterruptPending, NotFound, RunInProgress, TooManyConversations
from caesura.core.turns import Turn
from caesura.service.service import Service
from caesura.service.turns import Message
from caesura.store.shares import Share
from tests.engine.world import World
from tests.openai_server import Call, Hang, Say

ASK = Say("May I?", [Call("seal", {"text": "a"}, "seal-1")])


async def send(
    service: Service, session: str = "s", *, supersede: bool = False, stop_unread: bool = False
) -> Turn:
    message = Message("hi", supersede=supersede, stop_unread=stop_unread)
    return await service.turns.send_to_session("alice", "tester", session, message)


async def total(service: Service) -> int:
    return (await service.conversations.page("alice", 1)).total


async def test_a_session_is_made_with_its_first_message_and_found_by_the_next(
    service: Service, world: World
) -> None:
    world.desk.script(*(Say(text) for text in ("one", "two", "three")))
    assert await service.conversations.of_session("alice", "tester", "s") is None
    first = await send(service)
    await world.segment(first)
    second = await send(service)
    await world.segment(second)
    assert (first.conversation_id, first.id) == (second.conversation_id, second.parent_id)
    made = await service.conversations.of_session("alice", "tester", "s")
    assert made is not None
    assert (made.id, made.session, made.turn_count) == (first.conversation_id, "s", 2)
    other = await send(service, "S")
    await world.segment(other)
    assert other.conversation_id != first.conversation_id
    await service.conversations.delete("alice", made.id)
    assert await service.conversations.of_session("alice", "tester", "s") is None
    assert await service.conversations.of_session("bob", "tester", "S") is None
    assert await service.conversations.of_session("alice", "\0", "S") is None


async def test_first_messages_at_once_make_one_conversation(service: Service, world: World) -> None:
    before = await total(service)
    for number in range(5):
        world.desk.script(Hang(["half "]))
        sent = [send(service, f"session {number}") for _ in range(5)]
        results = await asyncio.gather(*sent, return_exceptions=True)
        (turn,) = [item for item in results if isinstance(item, Turn)]
        assert [type(item) for item in results].count(RunInProgress) == 4
        await service.turns.stop("alice", turn.id)
        await world.segment(turn)
    assert await total(service) == before + 5


@pytest.mark.parametrize(
    ("agent", "message", "error"), [("nobody", "hi", NotFound), ("tester", " ", BadInput)]
)
async def test_a_message_that_is_refused_makes_no_session(
    service: Service, agent: str, message: str, error: type[Exception]
) -> None:
    before = await total(service)
    with pytest.raises(error):
        await service.turns.send_to_session("alice", agent, "s", Message(message))
    assert await total(service) == before


async def test_a_session_counts_as_a_conversation_of_the_person(world: World) -> None:
    world.agent()
    await world.begin()
    refused: list[Exception] = []
    service = world.service(share=Share(conversations=1), refused=refused.append)
    with pytest.raises(TooManyConversations):
        await send(service)
    assert [type(item) for item in refused] == [TooManyConversations]
    assert await total(service) == 1


async def test_a_question_blocks_messages_that_do_not_supersede_it(service: Service, world: World) -> None:
    world.desk.script(ASK, Say("on"))
    first = await send(service)
    await world.segment(first)
    with pytest.raises(InterruptPending) as caught:
        await send(service)
    assert len(caught.value.interrupts) == 1
    second = await send(service, supersede=True)
    await world.segment(second)
    assert second.parent_id == first.id
    assert (await service.turns.get("alice", first.id)).status == "stopped"


async def test_a_run_that_nobody_reads_makes_way(service: Service, world: World) -> None:
    world.desk.script(Hang(["half "]), Say("on"))
    first = await send(service)
    with pytest.raises(RunInProgress):
        await send(service)
    second = await send(service, stop_unread=True)
    await world.segment(second)
    assert second.parent_id == first.id
