"""The mirror: Redis shows the questions that wait, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest
from redis import Redis as Client
from sqlalchemy import Connection, update

from caesura.core import interrupt_state
from caesura.core.answers import Answer
from caesura.core.interrupt_state import Session
from caesura.service import mirror as mirrors
from caesura.service import redis_entries
from caesura.service.mirror import Mirror
from caesura.service.redis_entries import INDEX, RedisEntries, key
from caesura.store import interrupts, schema
from tests.engine.world import NO, YES, Said, World
from tests.openai_server import Call, Say
from tests.servers import Redis
from tests.waiting import until

SPEC = "tools: [seal]\ninterrupt: {enabled: true, checkpoint_backend: redis, timeout_seconds: 300}"
MEMORY = SPEC.replace("redis", "memory")
ASKS = Say("Please confirm that.")
SEALS = Say("May I?", [Call("seal", {"text": "b"}, "seal-1")])
CONFIRMED = Answer("fields", fields={"confirm": True})
NEVER = 3600.0

only_one = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrors, "_PAUSE", 0.02)
    monkeypatch.setattr(redis_entries, "PATIENCE", 30.0)


@pytest.fixture
def only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are compared at the start only."""
    monkeypatch.setattr(mirrors, "_COMPARISON", NEVER)


@pytest.fixture
def comparing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrors, "_COMPARISON", 0.05)


@pytest.fixture
def client(redis_url: str) -> Iterator[Client]:
    with Client.from_url(redis_url, decode_responses=True) as client:
        yield client


@asynccontextmanager
async def mirrored(world: World, url: str, listens: bool = True) -> AsyncIterator[Mirror]:
    mirror = Mirror(world.database, RedisEntries(url), world.offered.mirrored)
    if listens:
        world.engine.changes.listen(mirror.changed)
    task = asyncio.create_task(mirror.keep())
    try:
        yield mirror
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await mirror.aclose()


def shown(client: Client) -> dict[str, Any]:
    """All entries, by key; each must be in the index, and nothing else may be."""
    index: Any = client.hgetall(INDEX)
    names: Any = client.keys(f"{redis_entries.PREFIX}*")
    found = {name: client.get(name) for name in names}
    if {text.partition(" ")[2] for text in index.values()} != set(found) or None in found.values():
        return {"incomplete": found}
    return {name: json.loads(str(text)) for name, text in found.items()}


async def confirmed(world: World, said: Said) -> None:
    world.desk.script(Say("done"))
    await world.resume(said, CONFIRMED)


def own_key(world: World, session: str | None = None) -> str:
    return key(world.user, "tester", session, world.conversation)


async def asked(world: World, says: Say = ASKS, spec: str = SPEC) -> Said:
    world.agent(spec)
    world.desk.script(says)
    return await world.say("do it")


async def test_a_question_is_shown_until_it_is_answered(
    world: World, redis_url: str, client: Client, only_told: None
) -> None:
    async with mirrored(world, redis_url):
        said = await asked(world)
        await until(lambda: own_key(world) in shown(client))
        (row,) = await world.database.read(interrupts.pending, said.turn.num)
        state = interrupt_state.of(Session("tester", world.conversation), [row.interrupt], row.created_at)
        assert shown(client) == {own_key(world): state}
        assert state["reason"] == "Please confirm that."
        left = client.pttl(own_key(world))
        assert isinstance(left, int)
        assert row.interrupt.expires_at is not None
        now = await world.database.read(interrupts.clock)
        assert -60_000 < left - (row.interrupt.expires_at - now) <= 1000
        await confirmed(world, said)
        await until(lambda: not client.keys(f"{redis_entries.PREFIX}*"))
        await until(lambda: shown(client) == {})


@only_one
async def test_a_session_is_part_of_the_key_and_of_the_state(
    world: World, redis_url: str, client: Client, only_told: None
) -> None:
    session = 'bob:agent:x"\n*%3A/../会话'
    await world.begin()
    await world.database.write(_set_session, world.conversation, session)
    async with mirrored(world, redis_url):
        await asked(world)
        await until(lambda: bool(shown(client)))
        (entry,) = shown(client).items()
        assert entry[0] == own_key(world, session)
        assert entry[1]["session_id"] == session


@only_one
@pytest.mark.parametrize(("approvals", "most"), [("", None), ("approvals: {timeout_seconds: 60}\n", 60_000)])
async def test_an_approval_expires_only_if_the_agent_says_so(
    world: World, redis_url: str, client: Client, only_told: None, approvals: str, most: int | None
) -> None:
    async with mirrored(world, redis_url):
        said = await asked(world, SEALS, approvals + SPEC)
        await until(lambda: bool(shown(client)))
        left = client.pttl(own_key(world))
        assert isinstance(left, int)
        assert left == -1 if most is None else 0 < left <= most
        world.desk.script(Say("done"))
        await world.resume(said, YES)
        await until(lambda: shown(client) == {})


@pytest.mark.parametrize("end", ["stop", "supersede", "delete", "expire"])
async def test_a_question_that_is_closed_without_an_answer_is_not_shown(
    world: World, redis_url: str, client: Client, only_told: None, end: str
) -> None:
    async with mirrored(world, redis_url):
        said = await asked(world)
        await until(lambda: bool(shown(client)))
        service = world.service()
        match end:
            case "stop":
                assert await service.turns.stop(world.user, said.turn.id)
            case "supersede":
                await world.close(said.turn, "superseded")
            case "delete":
                await service.conversations.delete(world.user, world.conversation)
            case _:
                await world.database.write(_expire, said.turn.num)
                world.engine.supervisor.nudge()
        await until(lambda: shown(client) == {})


@only_one
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
@pytest.mark.parametrize("listens", [True, False])
async def test_questions_that_wait_together_are_one_form_that_becomes_shorter(
    world: World, redis_url: str, client: Client, comparing: None, order: tuple[int, ...], listens: bool
) -> None:
    async with mirrored(world, redis_url, listens):
        calls = [Call("seal", {"text": text}, f"seal-{text}") for text in ("a", "b", "c")]
        said = await asked(world, Say("May I?", calls))
        world.desk.script(Say("done"))
        left = list(said.interrupts)
        for place in order:
            reason = "\n".join(item.description for item in left)
            await until(partial(_shows, client, reason))
            left.remove(said.interrupts[place])
            await world.answer(said.turn, {said.interrupts[place].id: NO})
        await until(lambda: shown(client) == {})


@only_one
async def test_the_question_of_the_active_branch_is_shown(
    world: World, redis_url: str, client: Client, only_told: None
) -> None:
    async with mirrored(world, redis_url):
        said = await asked(world)
        await until(lambda: bool(shown(client)))
        world.desk.script(Say("done"))
        other = await world.say("another root", parent=None)
        assert other.finished
        await until(lambda: shown(client) == {})
        await world.service().conversations.activate(world.user, world.conversation, said.turn.id)
        await until(lambda: bool(shown(client)))


@only_one
async def test_an_agent_that_keeps_its_questions_in_memory_is_not_shown_until_its_file_says_redis(
    world: World, redis_url: str, client: Client, comparing: None
) -> None:
    async with mirrored(world, redis_url) as mirror:
        await until(lambda: mirror._idle)
        await asked(world, spec=MEMORY)
        assert client.keys(f"{redis_entries.PREFIX}*") == []
        world.agent(SPEC)
        await until(lambda: bool(shown(client)))
        world.agent(MEMORY)
        await until(lambda: mirror._idle)
        assert shown(client) == {}


@only_one
async def test_entries_of_agents_that_need_redis_no_more_are_removed_at_the_next_start(
    world: World, redis_url: str, client: Client, only_told: None
) -> None:
    async with mirrored(world, redis_url):
        await asked(world, SEALS)
        await until(lambda: bool(shown(client)))
    world.agent(MEMORY)
    async with mirrored(world, redis_url) as mirror:
        client.delete(redis_entries._CHECKER)
        await until(lambda: mirror._idle or shown(client) == {})
        await until(lambda: shown(client) == {})


async def test_what_a_flush_or_a_dead_process_took_is_shown_again(
    world: World, redis_url: str, redis: Redis, client: Client, comparing: None
) -> None:
    said = await asked(world)  # nobody told the mirror
    async with mirrored(world, redis_url, listens=False):
        await until(lambda: own_key(world) in shown(client))
        redis.flush()
        await until(lambda: own_key(world) in shown(client))
        client.delete(own_key(world))
        await until(lambda: own_key(world) in shown(client))
        await confirmed(world, said)
        await until(lambda: shown(client) == {})


@only_one
async def test_more_questions_than_fit_on_a_page_are_compared(
    world: World, redis_url: str, client: Client, comparing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "_PAGE", 2)
    monkeypatch.setattr(mirrors, "_BATCH", 2)
    world.agent(SPEC)
    keys, turns = set(), []
    for number in range(7):
        await world.begin(user=f"user-{number % 2}")
        turns.append(await asked(world))
        keys.add(own_key(world))
    async with mirrored(world, redis_url, listens=False):
        await until(lambda: shown(client).keys() == keys)
        for said in turns[:5]:
            world.user = said.turn.user_id
            await world.service().conversations.delete(said.turn.user_id, said.turn.conversation_id)
        await until(lambda: len(shown(client)) == 2)


@only_one
async def test_more_changes_than_are_remembered_are_found_by_comparing(
    world: World, redis_url: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "_MOST", 1)
    monkeypatch.setattr(mirrors, "_COMPARISON", 0.5)
    async with mirrored(world, redis_url) as mirror:
        await until(lambda: mirror._compare_at > 0)
        for _ in range(3):
            await world.begin()
            await asked(world)
            assert len(mirror._changed) <= 1
        await until(lambda: len(shown(client)) == 3)


async def test_while_redis_is_gone_questions_are_asked_and_answered_and_then_caught_up_with(
    world: World,
    redis: Redis,
    redis_url: str,
    client: Client,
    only_told: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with mirrored(world, redis_url) as mirror:
        answered = await asked(world)
        await until(lambda: bool(shown(client)))
        redis.kill()
        first, world.conversation = own_key(world), ""
        waiting = await asked(world)
        world.desk.script(Say("done"))
        await world.answer(answered.turn, {answered.interrupts[0].id: CONFIRMED})
        await until(lambda: mirror._behind)
        redis.restart()
        assert waiting.turn.conversation_id == world.conversation
        await until(lambda: shown(client).keys() == {own_key(world)})
        assert first != own_key(world)
        await until(lambda: not mirror._behind)
    told = [record.getMessage() for record in caplog.records if record.name == mirrors.__name__]
    assert [text.partition(":")[0] for text in told] == [
        "questions are not shown in Redis",
        "questions are shown in Redis again",
    ]


@only_one
async def test_a_question_that_cannot_be_read_does_not_hide_the_others(
    world: World,
    redis: Redis,
    redis_url: str,
    client: Client,
    comparing: None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    said = await asked(world)
    await world.database.write(_spoil, said.turn.num)
    await world.begin()
    await asked(world)
    with caplog.at_level(logging.WARNING):
        async with mirrored(world, redis_url):
            await until(lambda: shown(client).keys() == {own_key(world)})
            redis.flush()
            await until(lambda: shown(client).keys() == {own_key(world)})
    assert caplog.text.count(f"questions of {said.turn.conversation_id} cannot be shown") == 1


@only_one
async def test_the_last_changes_of_a_process_are_copied_before_it_ends(
    world: World, redis_url: str, client: Client, only_told: None
) -> None:
    mirror = Mirror(world.database, RedisEntries(redis_url), lambda: ["tester"])
    world.engine.changes.listen(mirror.changed)
    await asked(world)
    await mirror.aclose()
    assert shown(client).keys() == {own_key(world)}


def _shows(client: Client, reason: str) -> bool:
    return [state["reason"] for state in shown(client).values() if "reason" in state] == [reason]


def _set_session(connection: Connection, name: str, session: str) -> None:
    table = schema.conversations
    connection.execute(update(table).where(table.c.id == name).values(session=session))


def _expire(connection: Connection, turn: int) -> None:
    """The time has come, by the database's clock."""
    past = schema.now_ms() - 1
    table = schema.interrupts
    connection.execute(update(table).where(table.c.turn == turn).values(expires_at=past))
    connection.execute(update(schema.turns).where(schema.turns.c.num == turn).values(waits_until=past))


def _spoil(connection: Connection, turn: int) -> None:
    table = schema.interrupts
    connection.execute(update(table).where(table.c.turn == turn).values(body=b'{"kind": "unknown"}'))
