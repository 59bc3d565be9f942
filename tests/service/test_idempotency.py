"""The same request under the same key is done once."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import Connection, func, select, update

from caesura.core import events as ev
from caesura.core.conversations import Conversation
from caesura.core.errors import BadInput, KeyReused, RunInProgress, TooManyConversations, TooManyRuns
from caesura.core.turns import Turn
from caesura.service.idempotency import Key
from caesura.service.service import Service
from caesura.service.turns import Message
from caesura.store import keys, schema
from caesura.store.shares import Share
from tests.engine.world import World
from tests.openai_server import Hang, Say


def key(value: str = "k-1", *request: str) -> Key:
    return Key(value, request or ("send", "hi"))


async def send(service: Service, world: World, given: Key, text: str = "hi") -> Turn:
    return await service.turns.send(world.user, world.conversation, Message(text), given)


async def kept(world: World) -> tuple[int, int]:
    """How many turns and how many keys there are."""

    def count(connection: Connection) -> tuple[int, int]:
        found = [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (schema.turns, schema.keys)
        ]
        return found[0], found[1]

    return await world.database.read(count)


@pytest.mark.parametrize("value", ["", "x" * 201, "a\nb", "schlüssel"])
def test_a_key_is_short_printable_ascii(value: str) -> None:
    with pytest.raises(BadInput, match="Idempotency-Key"):
        key(value)


async def test_the_same_request_is_done_once_even_after_its_turn_has_ended(
    service: Service, world: World
) -> None:
    world.desk.script(Say("hello"))
    first = await send(service, world, key())
    await world.segment(first)
    again = await send(service, world, key())
    assert (again.id, again.status) == (first.id, "done")
    assert await kept(world) == (1, 1)
    assert len(world.desk.requests) == 1


async def test_requests_without_a_key_are_each_done(service: Service, world: World) -> None:
    world.desk.script(Say("one"), Say("two"))
    for _ in range(2):
        turn = await service.turns.send(world.user, world.conversation, Message("hi"))
        await world.segment(turn)
    assert await kept(world) == (2, 0)


async def test_the_key_of_another_request_is_refused_and_nothing_is_done(
    service: Service, world: World
) -> None:
    world.desk.script(Say("hello"))
    await world.segment(await send(service, world, key()))
    with pytest.raises(KeyReused):
        await send(service, world, key("k-1", "send", "another"), "another")
    assert await kept(world) == (1, 1)


async def test_two_people_may_use_the_same_key(service: Service, world: World) -> None:
    world.desk.script(Say("one"), Say("two"))
    for user in ("alice", "bob"):
        await world.begin(user=user)
        await world.segment(await send(service, world, key()))
    assert await kept(world) == (2, 2)


async def test_a_request_that_failed_keeps_no_key_and_may_be_repeated(service: Service, world: World) -> None:
    world.desk.script(Hang(["half "]), Say("whole"))
    running = await service.turns.send(world.user, world.conversation, Message("go"))
    await world.until(running, ev.TextDelta)
    with pytest.raises(RunInProgress):
        await send(service, world, key())
    assert await kept(world) == (1, 0)
    assert await service.turns.stop(world.user, running.id)
    await world.segment(running)
    assert (await world.segment(await send(service, world, key()))).text == "whole"
    assert await kept(world) == (2, 1)


async def test_a_repetition_is_not_counted_against_the_limits(world: World) -> None:
    world.agent("tools: []")
    await world.begin()
    world.desk.script(Hang(["half "]))
    refused: list[Exception] = []
    service = world.service(share=Share(runs=1), refused=refused.append)
    first = await send(service, world, key())
    assert (await send(service, world, key())).id == first.id
    with pytest.raises(TooManyRuns):
        await service.turns.send(world.user, world.conversation, Message("hi", None), key("k-2"))
    assert [type(error) for error in refused] == [TooManyRuns]
    await service.turns.stop(world.user, first.id)
    await world.segment(first)


async def test_of_many_equal_requests_at_once_one_is_done(service: Service, world: World) -> None:
    world.desk.script(Say("hello"))
    sent = await asyncio.gather(*(send(service, world, key()) for _ in range(8)))
    assert len({turn.id for turn in sent}) == 1
    await world.segment(sent[0])
    assert await kept(world) == (1, 1)


async def test_of_many_equal_requests_one_makes_a_conversation(world: World) -> None:
    world.agent("tools: []")
    await world.begin()
    service = world.service(share=Share(conversations=2))

    async def make(given: Key, title: str = "Trees") -> Conversation:
        return await service.conversations.create(world.user, title=title, key=given)

    made = await asyncio.gather(*(make(key()) for _ in range(8)))
    (found,) = {item.id for item in made}
    renamed = await service.conversations.rename(world.user, found, "Woods")
    assert await make(key()) == renamed
    with pytest.raises(KeyReused):
        await make(key("k-1", "another"), "Rivers")
    with pytest.raises(TooManyConversations):
        await make(key("k-2"))
    await service.conversations.delete(world.user, found)
    assert (await make(key())).id != found


async def test_an_old_key_is_forgotten(service: Service, world: World) -> None:
    world.desk.script(Say("one"), Say("two"))
    first = await send(service, world, key())
    await world.segment(first)
    await world.database.write(_age, keys.KEPT_MS - 60_000)
    assert (await send(service, world, key())).id == first.id
    await world.database.write(_age, 60_000)
    second = await send(service, world, key("k-1", "send", "another"))
    await world.segment(second)
    assert second.id != first.id
    assert await kept(world) == (2, 1)
    await world.database.write(_age, keys.KEPT_MS)
    assert await world.database.write(keys.forget_old) == 1


def _age(connection: Connection, milliseconds: int) -> None:
    connection.execute(update(schema.keys).values(created_at=schema.keys.c.created_at - milliseconds))
