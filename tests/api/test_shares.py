"""One person's share, attacked on a running server: each limit holds, is reported, and is lifted again."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import NullPool, create_engine, text

from caesura.client import Client
from caesura.client.errors import ClientError
from tests.accounts import accounts
from tests.api.reading import conversation, finished, outcome, send, to_segment_end, until
from tests.api.server import Served

AT_ONCE = 50
ENDLESS = "count to 100000 delay=0.05"


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[Served]:
    bounds: dict[str, Any] = {
        "runs_per_person": 5,
        "questions_per_person": 3,
        "conversations_per_person": 55,
        "stored_bytes_per_person": 60_000,
        "turn_bytes": 40_000,
    }
    with Served(tmp_path, database_url=database_url, **bounds) as server:
        yield server


def test_of_fifty_concurrent_messages_only_the_allowed_number_run(server: Served) -> None:
    with server.client() as alice, server.client("bob") as bob:
        asked = finished(alice, "write hello.py: print(1)")
        until_asked = int(to_segment_end(alice, asked["id"])[-1].id)
        ended = finished(alice, "echo x")
        places = [conversation(alice) for _ in range(AT_ONCE)]
        paths = [f"/api/v2/conversations/{place}/turns" for place in places]
        found = _at_once(server, paths, {"content": ENDLESS})
        assert Counter(response.status_code for response in found) == {201: 5, 429: AT_ONCE - 5}
        refused = next(response for response in found if response.status_code == 429)
        assert refused.json()["error"]["code"] == "too_many_runs"
        assert int(refused.headers["Retry-After"]) > 0
        other = alice.post("/api/sessions").json()["thread_id"]
        in_a = alice.post(f"/api/chat/{other}", json={"message": "hi"})
        assert (in_a.status_code, list(in_a.json())) == (429, ["detail"])
        assert alice.post(f"/api/v2/turns/{ended['id']}/regenerate").status_code == 429

        # Others have their own share, and an answer is always accepted.
        assert outcome(to_segment_end(bob, finished(bob, "echo x")["id"])).name == "finished"
        (waiting,) = alice.get("/api/v2/interrupts").json()["interrupts"]
        answered = alice.post(f"/api/v2/interrupts/{waiting['id']}/answer", json={"decision": "approve"})
        assert answered.status_code == 200
        assert outcome(to_segment_end(alice, asked["id"], until_asked)).name == "finished"

        running = [response.json()["id"] for response in found if response.status_code == 201]
        alice.post(f"/api/v2/turns/{running[0]}/stop")
        sent = alice.post(f"/api/v2/turns/{running[0]}/retry")
        assert sent.status_code == 200
        assert alice.post(f"/api/v2/turns/{ended['id']}/regenerate").status_code == 429
        for turn in running:
            alice.post(f"/api/v2/turns/{turn}/stop")
        until(lambda: alice.post(f"/api/v2/turns/{ended['id']}/regenerate").status_code == 201)
        figures = alice.get("/metrics").text
        assert 'caesura_share_refused_total{limit="too_many_runs"} 4' in figures
        _settle(server, alice)


def test_of_a_hundred_concurrent_conversations_only_the_allowed_number_are_made(server: Served) -> None:
    with server.client() as alice:
        made = [conversation(alice) for _ in range(10)]
        found = _at_once(server, ["/api/v2/conversations"] * (2 * AT_ONCE), {})
        assert Counter(response.status_code for response in found) == {201: 45, 413: 55}
        refused = next(response for response in found if response.status_code == 413)
        assert refused.json()["error"]["code"] == "too_many_conversations"
        assert "delete some" in alice.post("/api/sessions").json()["detail"]
        assert alice.get("/api/v2/conversations").json()["total"] == 55
        assert alice.delete(f"/api/v2/conversations/{made[0]}").status_code == 204
        assert alice.post("/api/sessions").status_code == 201
        assert alice.post("/api/sessions").status_code == 413


def test_when_too_many_questions_wait_a_new_message_is_refused_until_one_is_answered(server: Served) -> None:
    with server.client() as alice:
        asked = [finished(alice, "write hello.py: print(1)") for _ in range(3)]
        place = conversation(alice)
        path = f"/api/v2/conversations/{place}/turns"
        refused = alice.post(path, json={"content": "echo x"})
        assert refused.status_code == 429
        assert refused.json()["error"]["code"] == "too_many_questions"
        assert "answer some" in refused.json()["error"]["message"]
        assert "Retry-After" not in refused.headers
        assert asyncio.run(_refused_at_once(server, place)) == "too_many_questions"
        # A message that supersedes a question does not add to the number of questions.
        instead = alice.post(
            f"/api/v2/conversations/{asked[0]['conversation_id']}/turns",
            json={"content": "echo x", "supersede": True},
        )
        assert instead.status_code == 201
        assert alice.post(path, json={"content": "echo x"}).status_code == 201
        _settle(server, alice)


def test_stored_bytes_are_limited_and_freed_by_deletion(server: Served) -> None:
    with server.client() as alice:
        places = [conversation(alice) for _ in range(2)]
        full = _fill(alice, places)
        assert full.json()["error"]["code"] == "storage_full"
        kept, counted = server.call(server.database.read(accounts))
        assert kept == counted
        assert 60_000 <= sum(kept.values()) < 100_000
        in_a = alice.post(f"/api/chat/{places[0]}", json={"message": "hi"})
        assert (in_a.status_code, list(in_a.json())) == (413, ["detail"])
        last = alice.get(f"/api/v2/conversations/{places[0]}/snapshot").json()["turns"][-1]
        assert alice.post(f"/api/v2/turns/{last['id']}/regenerate").status_code == 413
        assert alice.get(f"/api/history/{places[0]}").status_code == 200
        assert alice.delete(f"/api/v2/conversations/{places[0]}").status_code == 204
        send(alice, places[1], "echo again")
        _settle(server, alice)
        assert 'caesura_share_refused_total{limit="storage_full"} 3' in alice.get("/metrics").text


def test_answers_and_tool_calls_count_as_stored_bytes(server: Served) -> None:
    """The log has them too, but packed: text that repeats itself takes almost nothing there."""
    with server.client() as alice:
        place = conversation(alice)
        turn = send(alice, place, "write hello.py")
        (question,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
        args = {"path": "hello.py", "content": "x" * 15_000}
        answer = {"decision": "edit", "args": args}
        assert alice.post(f"/api/v2/interrupts/{question['id']}/answer", json=answer).status_code == 200
        until(lambda: alice.get(f"/api/v2/turns/{turn['id']}").json()["status"] == "done")
        _settle(server, alice)
        kept, counted = server.call(server.database.read(accounts))
        assert kept == counted
        assert kept[place] > 30_000


def test_a_model_that_never_stops_talking_is_stopped(server: Served) -> None:
    with server.client() as alice:
        turn = finished(alice, "count to 100000 delay=0")
        failed = outcome(to_segment_end(alice, turn["id"]))
        assert (failed.name, failed.data["code"]) == ("failed", "turn_bytes")
        assert "40000 bytes" in failed.data["message"]
        again = alice.post(f"/api/v2/turns/{turn['id']}/retry").json()
        assert again["segment"] == 1
        until(lambda: alice.get(f"/api/v2/turns/{turn['id']}").json()["status"] == "failed")
        seen = alice.get(f"/api/v2/conversations/{turn['conversation_id']}/snapshot").json()["turns"]
        assert 5_000 < len(seen[0]["messages"][0]["content"]) < 60_000
        _settle(server, alice)


async def _refused_at_once(server: Served, place: str) -> str:
    """The client does not retry an error that waiting does not resolve."""
    waits: list[Any] = []
    client = Client(server.url, server.token(), patience=30, waiting=lambda *told: waits.append(told))
    async with client:
        with pytest.raises(ClientError) as refused:
            await client.send(place, "echo x")
    assert waits == []
    return refused.value.code


def _fill(client: httpx.Client, places: list[str]) -> httpx.Response:
    """Send long messages to the conversations in turn, until one is refused."""
    for number in range(50):
        place = places[number % len(places)]
        sent = client.post(f"/api/v2/conversations/{place}/turns", json={"content": f"echo {'x' * 5_000}"})
        if sent.status_code != 201:
            assert sent.status_code == 413, sent.text
            return sent
        to_segment_end(client, sent.json()["id"])
    raise AssertionError("it was never refused")


def _at_once(server: Served, paths: list[str], body: dict[str, Any]) -> list[httpx.Response]:
    async def post() -> list[httpx.Response]:
        async with server.async_client() as client:
            return await asyncio.gather(*(client.post(path, json=body) for path in paths))

    return asyncio.run(post())


def _settle(server: Served, client: httpx.Client) -> None:
    """Wait until nothing runs and all logs are packed: then the recorded size equals the actual size."""
    until(lambda: server.context.service.running == 0)
    kept, counted = server.call(server.database.read(accounts))
    assert kept == counted


def test_waiting_requests_of_one_person_leave_connections_to_others(
    tmp_path: Path, postgres_url: str
) -> None:
    with Served(tmp_path, database_url=postgres_url) as server, server.client("bob") as bob:
        place = conversation(bob)
        server.token("alice")
        engine = create_engine(postgres_url.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
        with ThreadPoolExecutor(1) as pool, engine.connect() as held:
            held.execute(text("SELECT id FROM users WHERE id = 'alice' FOR UPDATE"))
            sending = pool.submit(_at_once, server, ["/api/v2/conversations"] * AT_ONCE, {})
            until(lambda: _places(server) == AT_ONCE)
            send(bob, place, "echo x")
            held.rollback()
            assert {response.status_code for response in sending.result(60)} == {201}


def _places(server: Served) -> int:
    """How many requests of alice wait."""
    _, count = server.context.service.turns._locks._taken.get("alice", (None, 0))
    return count
