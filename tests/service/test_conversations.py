"""What an owner can do with conversations."""

from __future__ import annotations

from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core.errors import BadInput, NotFound, TooManyConversations, Unavailable
from caesura.service.pages import BranchPage, TreePage
from caesura.service.service import Service
from caesura.service.turns import Message
from caesura.store import conversations, remains
from caesura.store.shares import Share
from tests.engine.world import World
from tests.openai_server import Call, Hang, Say

ASK = Say("May I?", [Call("seal", {"text": "a"}, "seal-1")])


async def tell(service: Service, world: World, *messages: Message) -> list[str]:
    """Send these one after the other. Returns the ids of their turns."""
    made = []
    for message in messages:
        turn = await service.turns.send(world.user, world.conversation, message)
        await world.segment(turn)
        made.append(turn.id)
    return made


async def lines(service: Service, world: World) -> list[tuple[str, str]]:
    found = service.conversations.history(world.user, world.conversation)
    return [line async for page in found for line in page]


async def test_a_conversation_is_created_and_renamed_with_a_clean_title(
    service: Service, world: World
) -> None:
    made = await service.conversations.create("alice", title=" On \n the\0 sea ")
    assert (made.agent, made.title, made.turn_count) == ("tester", "On the sea", 0)
    assert await service.conversations.get("alice", made.id) == made
    assert (await service.conversations.rename("alice", made.id, "Home  again")).title == "Home again"
    for title in ("", " \n", "x" * 201):
        with pytest.raises(BadInput):
            await service.conversations.rename("alice", made.id, title)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"agent": "nobody"}, NotFound),
        ({"conversation_id": "../etc"}, BadInput),
        ({"conversation_id": ".."}, BadInput),
        ({"title": " "}, BadInput),
    ],
)
async def test_a_conversation_that_may_not_be_is_not_made(
    service: Service, values: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await service.conversations.create("alice", **values)
    assert (await service.conversations.page("alice", 10)).total == 1


async def test_too_many_conversations_are_refused_and_counted(world: World) -> None:
    world.agent("tools: []")
    await world.begin()
    refused: list[Exception] = []
    service = world.service(share=Share(conversations=2), refused=refused.append)
    second = await service.conversations.create("alice")
    with pytest.raises(TooManyConversations):
        await service.conversations.create("alice")
    assert len(refused) == 1
    await service.conversations.delete("alice", second.id)
    await service.conversations.create("alice")


async def test_nobody_else_can_do_anything_with_a_conversation(service: Service, world: World) -> None:
    world.desk.script(Say("hello"))
    (turn,) = await tell(service, world, Message("hi"))
    doors, name = service.conversations, world.conversation
    for attempt in (
        doors.get("bob", name),
        doors.rename("bob", name, "mine"),
        doors.activate("bob", name, turn),
        doors.delete("bob", name),
        doors.status("bob", name),
        doors.tree("bob", name, 10, 0, lambda page: b""),
        doors.branch("bob", name, 10, None, lambda page: b""),
        anext(doors.history("bob", name)),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await lines(service, world) == [("user", "hi"), ("assistant", "hello")]


async def test_the_active_branch_is_the_one_that_was_chosen(service: Service, world: World) -> None:
    world.desk.script(*(Say(text) for text in ("one", "two", "other")))
    first, second, other = await tell(service, world, Message("a"), Message("b"), Message("a, edited", None))
    assert await lines(service, world) == [("user", "a, edited"), ("assistant", "other")]
    chosen = await service.conversations.activate(world.user, world.conversation, first)
    assert chosen.active_turn == second
    assert [text for _, text in await lines(service, world)] == ["a", "one", "b", "two"]
    with pytest.raises(NotFound):
        await service.conversations.activate(world.user, world.conversation, "no-such-turn")

    def tree(page: TreePage) -> bytes:
        return " ".join([seen.turn.id for seen in page.turns] + [str(page.next)]).encode()

    def branch(page: BranchPage) -> bytes:
        return " ".join([seen.turn.id for seen in page.turns] + [str(page.before)]).encode()

    doors, name = service.conversations, world.conversation
    assert (await doors.tree(world.user, name, 2, 0, tree)).decode() == f"{first} {second} 2"
    assert (await doors.tree(world.user, name, 2, 2, tree)).decode() == f"{other} None"
    assert (await doors.branch(world.user, name, 1, None, branch)).decode() == f"{second} {first}"
    assert (await doors.branch(world.user, name, 9, other, branch)).decode() == f"{other} None"


async def test_the_status_follows_the_active_turn(service: Service, world: World) -> None:
    async def status() -> tuple[bool, bool, int, int]:
        now = await service.conversations.status(world.user, world.conversation)
        return now.running, now.interrupted, len(now.pending), now.message_count

    assert await status() == (False, False, 0, 0)
    world.desk.script(ASK)
    (asked,) = await tell(service, world, Message("go"))
    assert await status() == (False, True, 1, 2)
    assert await service.turns.stop(world.user, asked)
    await world.segment(await service.turns.get(world.user, asked))
    assert (await status())[:3] == (False, False, 0)
    world.desk.script(Hang(["half "]))
    turn = await service.turns.send(world.user, world.conversation, Message("more"))
    await world.until(turn, ev.TextDelta)
    assert (await status())[:3] == (True, False, 0)
    listed = await service.conversations.page(world.user, 10)
    assert [(item.running, item.message_count) for item in listed.items] == [(True, (await status())[3])]
    await service.turns.stop(world.user, turn.id)
    await world.segment(turn)


async def test_a_deleted_conversation_takes_its_run_its_log_and_its_files_with_it(
    service: Service, world: World
) -> None:
    world.desk.script(Hang(["half "]))
    turn = await service.turns.send(world.user, world.conversation, Message("go"))
    await world.until(turn, ev.TextDelta)
    files = world.workspaces / world.conversation
    files.mkdir(parents=True)
    (files / "a.txt").write_text("x")
    await service.conversations.delete(world.user, world.conversation)
    assert not world.engine.supervisor.runs(turn.num)
    assert not files.exists()
    assert await world.log.read(turn.num) == []
    with pytest.raises(NotFound):
        await service.turns.get(world.user, turn.id)
    with pytest.raises(NotFound):
        await service.conversations.delete(world.user, world.conversation)


async def test_what_a_dead_process_left_of_a_large_conversation_is_deleted(
    service: Service, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remains, "BYTES", 10)
    world.desk.script(Say("hello"), Say("A title"))
    await tell(service, world, Message("go"))
    await world.database.write(conversations.remove, world.conversation, world.user)
    assert await world.database.read(conversations.exists, world.conversation)
    await service.conversations.clear_all()
    assert not await world.database.read(conversations.exists, world.conversation)


async def test_closed_storage_is_reported(service: Service, world: World) -> None:
    await world.engine.drain(0)
    await world.database.close()
    with pytest.raises(Unavailable):
        await service.conversations.create("alice")
    with pytest.raises(Unavailable):
        await service.conversations.status(world.user, world.conversation)
