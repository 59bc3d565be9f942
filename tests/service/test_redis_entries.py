"""The mirror's entries in Redis: who may write, and under which key."""

import json
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest
import pytest_asyncio
from redis import Redis as Client

from caesura.service import redis_entries
from caesura.service.redis_entries import CHANNEL, INDEX, PREFIX, Entry, Lost, RedisEntries, key
from caesura.store.mirrored import Waiting
from tests.servers import Redis

KEY = key("alice", "agent", "session", "conv-1")
STATE = Entry("int-1", KEY, b'{"reason": "?"}', None)
NEXT = Entry("int-2", KEY, b'{"reason": "??"}', None)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_entries, "PATIENCE", 30.0)


@pytest_asyncio.fixture
async def here(redis_url: str) -> AsyncIterator[RedisEntries]:
    async with aclosing(RedisEntries(redis_url)) as entries:
        yield entries


@pytest_asyncio.fixture
async def there(redis_url: str) -> AsyncIterator[RedisEntries]:
    async with aclosing(RedisEntries(redis_url)) as entries:
        yield entries


@pytest.fixture
def client(redis_url: str) -> Iterator[Client]:
    with Client.from_url(redis_url, decode_responses=True) as client:
        yield client


async def put(entries: RedisEntries, entry: Entry | None) -> None:
    token = await entries.begin(["conv-1"])
    await entries.write(token, ["conv-1"], {} if entry is None else {"conv-1": entry})


async def test_an_entry_is_set_replaced_and_removed_with_all_that_belongs_to_it(
    here: RedisEntries, client: Client
) -> None:
    await put(here, STATE)
    assert (client.get(KEY), client.hgetall(INDEX)) == ('{"reason": "?"}', {"conv-1": f"int-1 {KEY}"})
    await put(here, NEXT)
    assert client.get(KEY) == '{"reason": "??"}'
    await put(here, None)
    assert client.keys() == []


async def test_a_late_set_has_no_effect_after_a_removal(
    here: RedisEntries, there: RedisEntries, client: Client
) -> None:
    late = await here.begin(["conv-1"])
    await put(there, None)
    await here.write(late, ["conv-1"], {"conv-1": STATE})
    assert client.keys() == []


async def test_the_writer_that_began_last_wins_in_either_order(
    here: RedisEntries, there: RedisEntries, client: Client
) -> None:
    early, late = await here.begin(["conv-1"]), await there.begin(["conv-1"])
    await here.write(early, ["conv-1"], {"conv-1": STATE})
    assert client.exists(KEY) == 0
    await there.write(late, ["conv-1"], {"conv-1": NEXT})
    assert client.get(KEY) == '{"reason": "??"}'


async def test_a_write_that_arrives_a_second_time_has_no_effect(here: RedisEntries, client: Client) -> None:
    """A connection that was given up may still deliver it."""
    token = await here.begin(["conv-1"])
    await here.write(token, ["conv-1"], {"conv-1": STATE})
    await put(here, None)
    await here.write(token, ["conv-1"], {"conv-1": STATE})
    assert client.keys() == []


async def test_a_write_from_before_a_flush_has_no_effect(
    here: RedisEntries, redis: Redis, client: Client
) -> None:
    token = await here.begin(["conv-1"])
    redis.flush()
    await here.write(token, ["conv-1"], {"conv-1": STATE})
    assert client.keys() == []


class Copy:
    """A copy that is made step by step, as a slow process makes it."""

    def __init__(self, entries: RedisEntries, rows: list[Entry | None]) -> None:
        self._entries, self._rows = entries, rows
        self._steps = iter((self._begin, self._read, self._write))

    async def step(self) -> bool:
        """Do the next step; false when there is none."""
        work = next(self._steps, None)
        if work is not None:
            await work()
        return work is not None

    async def _begin(self) -> None:
        self._token = await self._entries.begin(["conv-1"])

    async def _read(self) -> None:
        self._found = self._rows[-1]

    async def _write(self) -> None:
        await self._entries.write(self._token, ["conv-1"], {"conv-1": self._found} if self._found else {})


async def test_in_any_order_of_steps_the_newest_rows_are_shown_in_the_end(
    here: RedisEntries, there: RedisEntries, client: Client
) -> None:
    """Each change of the rows is followed by a copy, on either node."""
    chance = random.Random(29)
    for _ in range(100):
        rows: list[Entry | None] = [None]
        copies: list[Copy] = []
        for number in range(chance.randint(1, 6)):
            rows.append(chance.choice((None, Entry(f"int-{number}", KEY, str(number).encode(), None))))
            copies.append(Copy(chance.choice((here, there)), rows))
            for _ in range(chance.randint(0, 4)):
                await chance.choice(copies).step()
        while copies:
            if not await (slow := chance.choice(copies)).step():
                copies.remove(slow)
        newest = rows[-1]
        assert client.get(KEY) == (newest.value.decode() if newest else None)
        assert client.hlen(INDEX) == (1 if newest else 0)
        await put(here, None)


async def test_an_entry_expires_with_its_question(here: RedisEntries, client: Client) -> None:
    await put(here, Entry("int-1", KEY, b"{}", time.monotonic() + 300))
    left = client.pttl(KEY)
    assert isinstance(left, int)
    assert 0 < left <= 300_000
    await put(here, STATE)
    assert client.pttl(KEY) == -1
    await put(here, Entry("int-1", KEY, b"{}", time.monotonic() - 1))
    assert client.keys() == []


async def test_entries_that_are_missing_or_show_another_question_are_found(
    here: RedisEntries, client: Client
) -> None:
    await put(here, STATE)
    asked = [Waiting("conv-1", "int-1"), Waiting("conv-2", "int-9")]
    assert await here.missing(asked) == ["conv-2"]
    assert await here.missing([Waiting("conv-1", "int-2")]) == ["conv-1"]
    assert await here.known(0, 10) == (0, ["conv-1"])
    client.delete(KEY)
    assert await here.missing(asked) == ["conv-1", "conv-2"]


async def test_changes_are_published(here: RedisEntries, client: Client) -> None:
    with client.pubsub(ignore_subscribe_messages=True) as heard:  # type: ignore[no-untyped-call]
        heard.subscribe(CHANNEL)
        heard.get_message(timeout=30)
        for entry in (STATE, STATE, NEXT, None, None):
            await put(here, entry)
        found = [heard.get_message(timeout=30) for _ in range(3)]
        assert [json.loads(item["data"]) for item in found if item] == [
            {"event": "asked", "key": KEY},
            {"event": "asked", "key": KEY},
            {"event": "closed", "key": KEY},
        ]
        assert heard.get_message() is None


async def test_one_process_at_a_time_compares(here: RedisEntries, there: RedisEntries) -> None:
    assert await here.chosen(3600)
    assert not await there.chosen(3600)
    assert await here.chosen(0.001)
    while not await there.chosen(3600):
        pass
    assert not await here.chosen(3600)


async def test_a_redis_that_is_gone_is_told_and_is_used_again_when_it_is_back(
    here: RedisEntries, redis: Redis, client: Client
) -> None:
    await put(here, STATE)
    redis.kill()
    with pytest.raises(Lost):
        await here.check()
    await here.reset()
    redis.restart()
    await here.check()
    await put(here, NEXT)
    assert client.get(KEY) == '{"reason": "??"}'


# --- keys

SESSIONS = [
    *(
        "session-123",
        "",
        "a:b",
        "a%3Ab",
        "a%253Ab",
        "*",
        "?",
        "[a]",
        "a b",
        "a\nb",
        "a\r\nDEL x",
        "\x7f",
        "'",
        '"',
    ),
    *(
        "conversation",
        "conversation:conv-1",
        "conversation%3Aconv-1",
        "../x",
        "x:bob:agent:y",
        "会话",
        "{x}",
        "é",
    ),
    *("A", "a", "\ud800", "\\", "~", "x" * 200),
]


def test_no_session_has_the_key_of_another_conversation() -> None:
    keys = [key("alice", "agent", session, "conv-1") for session in SESSIONS]
    keys += [key("alice", "agent", None, name) for name in ("conv-1", "conv-2")]
    keys += [key("bob", "agent", "y", "conv-3"), key("alice", "agent-2", "a", "conv-4")]
    assert len(set(keys)) == len(keys)
    assert key("alice", "agent", "session-123", "conv-1") == "caesura:interrupt:alice:agent:session-123"
    assert key("alice", "agent", None, "conv-1") == "caesura:interrupt:alice:agent:conversation:conv-1"


@pytest.mark.parametrize("session", SESSIONS)
def test_a_key_can_be_typed_and_belongs_to_one_person(session: str) -> None:
    name = key("alice", "agent", session, "conv-1")
    assert name.startswith(f"{PREFIX}alice:agent:")
    assert name.count(":") == 4
    assert name.isascii()
    assert name.isprintable()
    assert not set(name) & set(" *?[]\\'\"{}")
