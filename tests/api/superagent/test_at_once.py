"""Several requests in the same moment: one conversation for a session, one winner for a question."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis as Client

from caesura.service.redis_entries import INDEX, PREFIX
from tests import agent_files
from tests.api.reading import until
from tests.api.server import Served
from tests.api.superagent.session import RESUME, STREAM
from tests.effort import examples

TRIES = examples(12, 200)
TRIES_SAMPLED = examples(6, 200)
#: The most requests at once in one try, and how many tries are made side by side.
MOST, LANES = 5, 8

SPEC = """
model: {primary: demo, options: {delay: 0, think: false}}
interrupt: {enabled: true, checkpoint_backend: redis, timeout_seconds: 600}
"""

Each = Callable[[list[httpx.AsyncClient], int], Awaitable[None]]


@asynccontextmanager
async def clients(servers: list[Served], count: int) -> AsyncIterator[list[httpx.AsyncClient]]:
    """As many connections, spread over the servers."""
    async with AsyncExitStack() as stack:
        made = [servers[number % len(servers)].async_client() for number in range(count)]
        yield [await stack.enter_async_context(client) for client in made]


async def tried(servers: list[Served], each: Each, tries: int = TRIES) -> None:
    """All tries, a few of them side by side. The requests of a try are sent at once."""
    left = iter(range(tries))

    async def go_through(many: list[httpx.AsyncClient]) -> None:
        for number in left:
            await each(many, number)

    async with AsyncExitStack() as stack:
        lanes = [await stack.enter_async_context(clients(servers, MOST)) for _ in range(LANES)]
        await asyncio.gather(*[go_through(many) for many in lanes])


async def first_messages(many: list[httpx.AsyncClient], number: int) -> None:
    """Two or five first messages come at once to one session."""
    count = MOST if number % 2 else 2
    body = {"agent_id": "assistant", "session_id": f"session {number}", "message": "say nothing"}
    answers = await asyncio.gather(*[client.post(STREAM, json=body) for client in many[:count]])
    assert {answer.status_code for answer in answers} <= {200, 409}
    ok = [answer for answer in answers if answer.status_code == 200]
    assert ok
    assert all(answer.content == b"data: [DONE]\n\n" for answer in ok)
    busy = [answer.json() for answer in answers if answer.status_code == 409]
    assert busy == [{"error": "run in progress"}] * len(busy)


async def clicks(many: list[httpx.AsyncClient], number: int) -> None:
    """Two clicks answer one question."""
    session = {"agent_id": "approval-agent", "session_id": f"clicks {number}"}
    asked = await many[0].post(STREAM, json={**session, "message": "delete it"})
    assert b"\0INTERRUPT:" in asked.content
    body = {**session, "input": {"confirm": True}}
    answers = await asyncio.gather(*[client.post(RESUME, json=body) for client in many[:2]])
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    (lost,) = [answer.json() for answer in answers if answer.status_code == 409]
    assert lost["error"] == f"no pending interrupt for session: {session['session_id']}"
    (won,) = [answer.content for answer in answers if answer.status_code == 200]
    assert won.endswith(b"data: [DONE]\n\n")


def mirrored(folder: Path, redis_url: str, **settings: Any) -> Served:
    """A server whose agent keeps its questions in Redis too."""
    server = Served(folder, delay=0, redis_url=redis_url, **settings)
    agent_files.put(folder / "agents", "approval-agent", SPEC)
    return server


def only_what_waits_is_in_redis(server: Served, redis_url: str) -> None:
    """Nothing is left of the questions of the tries. A question that waits is there until it is answered."""
    session = {"agent_id": "approval-agent", "session_id": "the last"}
    with Client.from_url(redis_url) as redis, server.client() as client:
        until(lambda: redis.keys(f"{PREFIX}*") == [] and redis.hlen(INDEX) == 0)
        client.post(STREAM, json={**session, "message": "delete it"})
        until(lambda: redis.hlen(INDEX) == 1)
        client.post(RESUME, json={**session, "input": {"confirm": True}})
        until(lambda: redis.keys(f"{PREFIX}*") == [] and redis.hlen(INDEX) == 0)


def made(server: Served) -> int:
    with server.client() as client:
        total: int = client.get("/api/v1/chat", params={"limit": 1}).json()["total"]
        return total


def test_first_messages_at_once_make_one_conversation(tmp_path: Path) -> None:
    with Served(tmp_path, delay=0) as server:
        asyncio.run(tried([server], first_messages))
        assert made(server) == TRIES


def test_one_of_two_clicks_wins(tmp_path: Path) -> None:
    with Served(tmp_path, delay=0) as server:
        asyncio.run(tried([server], clicks))
        assert made(server) == TRIES


def test_one_of_two_clicks_wins_with_redis(tmp_path: Path, redis_url: str) -> None:
    with mirrored(tmp_path, redis_url) as server:
        asyncio.run(tried([server], clicks, TRIES_SAMPLED))
        assert made(server) == TRIES_SAMPLED
        only_what_waits_is_in_redis(server, redis_url)


@pytest.mark.parametrize("each", [first_messages, clicks])
def test_the_same_holds_on_two_servers(tmp_path: Path, postgres_url: str, each: Each) -> None:
    with (
        Served(tmp_path / "a", delay=0, database_url=postgres_url) as first,
        Served(tmp_path / "b", delay=0, database_url=postgres_url) as second,
    ):
        asyncio.run(tried([first, second], each, TRIES_SAMPLED))
        assert made(first) == TRIES_SAMPLED


def test_one_of_two_clicks_wins_on_two_servers_with_redis(
    tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    with (
        mirrored(tmp_path / "a", redis_url, database_url=postgres_url) as first,
        mirrored(tmp_path / "b", redis_url, database_url=postgres_url) as second,
    ):
        asyncio.run(tried([first, second], clicks, TRIES_SAMPLED))
        assert made(first) == TRIES_SAMPLED
        only_what_waits_is_in_redis(first, redis_url)
