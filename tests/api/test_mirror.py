"""Questions in Redis, with servers: several nodes, a Redis that goes away, and one that is not there."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis as Client

from caesura.service import mirror, redis_entries
from caesura.service.redis_entries import INDEX, PREFIX
from tests import agent_files
from tests.api.reading import conversation, events, outcome, send, to_segment_end, until
from tests.api.server import SECRET, Served
from tests.client.process import Process
from tests.servers import Redis
from tests.servers.server import free_port

Pair = tuple[Served, Served]

AGENT = "approval-agent"
SPEC = """
model: {primary: demo, options: {delay: 0.0005, think: false}}
interrupt: {enabled: true, checkpoint_backend: redis, timeout_seconds: 600}
"""
YES = {"decision": "fields", "fields": {"confirm": True}}


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "_COMPARISON", 0.5)
    monkeypatch.setattr(mirror, "_PAUSE", 0.1)


def served(folder: Path, **settings: Any) -> Served:
    server = Served(folder, **settings)
    agent_files.put(folder / "agents", AGENT, SPEC)
    return server


@pytest.fixture
def nodes(tmp_path: Path, postgres_url: str, redis_url: str) -> Iterator[Pair]:
    where = {"database_url": postgres_url, "redis_url": redis_url, "lease": 3.0}
    with served(tmp_path / "a", **where) as first, served(tmp_path / "b", **where) as second:
        yield first, second


@pytest.fixture
def client(redis_url: str) -> Iterator[Client]:
    with Client.from_url(redis_url, decode_responses=True) as client:
        yield client


def shown(client: Client) -> dict[str, Any]:
    names: Any = client.keys(f"{PREFIX}*")
    return {name: json.loads(str(client.get(name) or "null")) for name in names}


def key(conversation_id: str, person: str = "alice") -> str:
    return redis_entries.key(person, AGENT, None, conversation_id)


def asked(client: httpx.Client) -> tuple[str, str, str]:
    """A question: the ids of its conversation, its turn and itself."""
    made = conversation(client, agent=AGENT)
    turn = send(client, made, "delete the old rows")
    (item,) = outcome(to_segment_end(client, turn["id"])).data["interrupts"]
    return made, turn["id"], item["id"]


def answer(client: httpx.Client, interrupt: str) -> httpx.Response:
    return client.post(f"/api/v2/interrupts/{interrupt}/answer", json=YES)


def test_two_clicks_on_two_nodes_have_one_winner_whether_redis_is_there_or_not(
    nodes: Pair, redis: Redis, client: Client
) -> None:
    with nodes[0].client() as here, nodes[1].client() as there, ThreadPoolExecutor(2) as pool:

        def race(interrupt: str) -> None:
            together = threading.Barrier(2)

            def click(person: httpx.Client) -> int:
                together.wait(30)
                return answer(person, interrupt).status_code

            assert sorted(pool.map(click, (here, there))) == [200, 409]

        questions = [asked(person) for person in (here, there) * 3]
        until(lambda: shown(client).keys() == {key(made) for made, _, _ in questions})
        state = shown(client)[key(questions[0][0])]
        assert (state["session_id"], state["agent_name"]) == (questions[0][0], AGENT)
        for _, _, interrupt in questions[:3]:
            race(interrupt)
        redis.kill()
        late = asked(here)
        for _, _, interrupt in questions[3:5]:
            race(interrupt)
        redis.restart()
        until(lambda: shown(client).keys() == {key(questions[5][0]), key(late[0])})
        race(questions[5][2])
        race(late[2])
        until(lambda: shown(client) == {} and client.hlen(INDEX) == 0)
        for _, turn, _ in (*questions, late):
            assert outcome(events(here, turn)).name == "finished"


@contextmanager
def stopped(client: Client) -> Iterator[None]:
    """Redis keeps its connections and says nothing."""
    info: Any = client.info("server")
    os.kill(info["process_id"], signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(info["process_id"], signal.SIGCONT)


def test_nothing_waits_for_a_redis_that_is_silent(
    nodes: Pair, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with nodes[0].client() as here, nodes[1].client() as there:
        first, second = asked(here), asked(there)
        until(lambda: shown(client).keys() == {key(first[0]), key(second[0])})
        monkeypatch.setattr(redis_entries, "PATIENCE", 0.3)
        with stopped(client):
            third = asked(here)
            assert answer(there, first[2]).status_code == 200
            assert answer(here, first[2]).status_code == 409
            assert outcome(events(here, first[1])).name == "finished"
            fourth = asked(there)
            assert here.delete(f"/api/v2/conversations/{second[0]}").status_code == 204
            assert answer(here, fourth[2]).status_code == 200
            assert here.get("/api/v2/me").status_code == 200
        monkeypatch.setattr(redis_entries, "PATIENCE", 30.0)
        until(lambda: shown(client).keys() == {key(third[0])})
        until(lambda: client.hlen(INDEX) == 1)


def test_a_restarted_server_shows_what_waits(tmp_path: Path, redis_url: str, client: Client) -> None:
    with served(tmp_path, redis_url=redis_url) as server, server.client() as alice:
        made, _, interrupt = asked(alice)
        until(lambda: key(made) in shown(client))
        before = shown(client)
    client.flushall()
    with served(tmp_path, redis_url=redis_url) as server, server.client() as alice:
        until(lambda: shown(client) == before)
        client.flushall()
        until(lambda: shown(client) == before)
        assert answer(alice, interrupt).status_code == 200
        until(lambda: shown(client) == {})


def test_another_process_shows_the_question_of_one_that_was_killed(
    tmp_path: Path, postgres_url: str, redis_url: str, client: Client
) -> None:
    agent_files.put(tmp_path / "agents", AGENT, SPEC)
    where: dict[str, Any] = {
        "database_url": postgres_url,
        "redis_url": redis_url,
        "agents_dir": str(tmp_path / "agents"),
        "secret": SECRET,
    }
    first, second = Process(tmp_path / "a", **where), Process(tmp_path / "b", **where)
    with first, second, httpx.Client(base_url=second.url, timeout=30) as there:
        with httpx.Client(base_url=first.url, timeout=30) as here:
            made, turn, interrupt = asked(here)
        until(lambda: key(made, "local") in shown(client))
        first.kill()
        client.flushall()
        until(lambda: key(made, "local") in shown(client))
        assert answer(there, interrupt).status_code == 200
        until(lambda: shown(client) == {})
        assert outcome(events(there, turn)).name == "finished"


# --- a Redis that is not there


def asks_and_goes_on(server: Served) -> None:
    with server.client() as alice:
        made, turn, interrupt = asked(alice)
        assert alice.get(f"/api/v2/conversations/{made}").json()["status"] == "interrupted"
        assert answer(alice, interrupt).status_code == 200
        assert outcome(events(alice, turn)).name == "finished"


def test_an_agent_that_uses_redis_works_where_there_is_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(tmp_path) as server:
        assert "agent approval-agent: its questions are not shown in Redis" in caplog.text
        asks_and_goes_on(server)


def test_an_agent_that_uses_redis_works_where_it_cannot_be_reached(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(tmp_path, redis_url=f"redis://127.0.0.1:{free_port()}/0") as server:
        until(lambda: "questions are not shown in Redis: ConnectionError" in caplog.text)
        asks_and_goes_on(server)


def test_an_agent_that_uses_redis_works_while_it_is_silent(
    tmp_path: Path,
    redis_url: str,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(redis_entries, "PATIENCE", 0.3)
    with stopped(client), served(tmp_path, redis_url=redis_url) as server:
        until(lambda: "questions are not shown in Redis: " in caplog.text)
        asks_and_goes_on(server)


def test_an_agent_that_begins_to_use_redis_works_where_there_is_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Served(tmp_path) as server:
        agent_files.put(tmp_path / "agents", AGENT, SPEC)
        until(lambda: "agent approval-agent: its questions are not shown in Redis" in caplog.text)
        asks_and_goes_on(server)
