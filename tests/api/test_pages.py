"""Long conversations are read in pages: nothing is missing, and other requests are not delayed."""

import asyncio
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection

from caesura.client import Client
from caesura.core import codec
from caesura.core import events as ev
from caesura.core.fold import fold
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.dialects.native import replies
from caesura.service.pages import BranchPage
from caesura.store import conversations, events, life
from tests.api.server import Served
from tests.conformance.rows import settled
from tests.pauses import Pauses

TURNS = 250
LONG = 2 * 1024 * 1024


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[Served]:
    with Served(tmp_path, database_url=database_url) as server:
        yield server


def test_every_turn_is_on_one_page_of_the_branch_and_on_one_of_the_tree(server: Served) -> None:
    with server.client() as alice:
        asked = [f"question {number}" for number in range(TURNS)]
        server.call(server.database.write(_tell, "long", asked, "x"))
        first = _get(alice, "long/snapshot")
        assert [turn["content"] for turn in first["turns"]] == asked[-100:]
        assert first["turn"] == first["turns"][-1]["id"] == first["conversation"]["active_turn"]
        pages = _pages(alice, "long/snapshot", "before")
        assert [turn["content"] for page in reversed(pages) for turn in page["turns"]] == asked
        assert [len(page["turns"]) for page in pages] == [100, 100, 50]
        few = _get(alice, "long/snapshot", limit=2)
        assert [turn["content"] for turn in few["turns"]] == asked[-2:]

        found = _pages(alice, "long", "next")
        assert [turn["content"] for page in found for turn in page["turns"]] == asked
        assert [turn["ordinal"] for turn in _get(alice, "long", limit=1, cursor=7)["turns"]] == [8]
        assert alice.get("/api/v2/conversations/long/snapshot", params={"cursor": "t"}).status_code == 404
        assert alice.get("/api/v2/conversations/long", params={"cursor": "t"}).status_code == 422

        whole = asyncio.run(_whole(server))
        assert whole == (asked, asked, asked[7])
        middle = found[0]["turns"][10]["id"]
        assert (
            alice.post("/api/v2/conversations/long/branch", json={"turn_id": middle}).json()["active_turn"]
            == (first["turn"])
        )


def test_a_page_is_bounded_in_bytes_and_a_history_is_written_in_pieces(server: Served) -> None:
    with server.client() as alice:
        server.call(server.database.write(_tell, "large", ["q"] * 5, "y" * LONG))
        pages = _pages(alice, "large/snapshot", "before")
        assert [len(page["turns"]) for page in pages] == [1, 1, 1, 1, 1]
        assert [len(page["turns"]) for page in _pages(alice, "large", "next")] == [1, 1, 1, 1, 1]
        with alice.stream("GET", "/api/history/large") as response:
            assert "content-length" not in response.headers
            response.read()
        said = [(item["role"], len(item["content"])) for item in response.json()["messages"]]
        assert said == [("user", 1), ("assistant", LONG)] * 5


def test_only_a_few_pages_of_one_person_are_in_memory_at_once(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    genuine = replies.Snapshot.of_page

    def counted(page: BranchPage) -> replies.Snapshot:
        held.append(sum(isinstance(item, BranchPage) for item in gc.get_objects()))
        return genuine(page)

    monkeypatch.setattr(replies.Snapshot, "of_page", staticmethod(counted))
    with server.client() as alice, ThreadPoolExecutor(20) as people:
        server.call(server.database.write(_tell, "large", ["q"], "y" * 1024))
        assert all(people.map(lambda _: _get(alice, "large/snapshot"), range(20)))
    assert len(held) == 20
    assert max(held) <= 3  # pages that were just written may not be freed yet


def test_folding_a_long_log_does_not_delay_others(server: Served) -> None:
    log: list[ev.Event] = [ev.RunStarted("assistant", 1), ev.ModelStarted(1, "assistant")]
    log += [ev.TextDelta(1, f"{number} ") for number in range(120_000)]
    headers = server.headers()
    turn = server.call(server.database.write(begin, "live", log))
    began = time.thread_time()
    stored = server.call(server.database.read(events.stored, turn.num))
    words = fold(item.event for item in events.decoded(stored)).text
    alone = time.thread_time() - began

    async def read(path: str) -> float:
        client = httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60)
        async with client, Pauses() as pauses:
            assert words in (await client.get(path)).text
        return pauses.longest

    for path in ("/api/v2/conversations/live/snapshot", "/api/v2/conversations/live", "/api/history/live"):
        assert server.call(read(path)) < alone / 2, path


async def _whole(server: Served) -> tuple[list[str], list[str], str]:
    """The same through the client, which reads all pages by itself."""
    async with Client(server.url, server.token()) as client:
        snapshot, tree = await client.snapshot("long"), await client.tree("long")
        seen = await client.seen(tree.turns[7].turn.id)
    branch = [item.turn.content for item in snapshot.turns]
    return branch, [item.turn.content for item in tree.turns], seen.turn.content


def _get(client: httpx.Client, path: str, **params: Any) -> Any:
    response = client.get(f"/api/v2/conversations/{path}", params=params)
    assert response.status_code == 200, response.text
    return response.json()


def _pages(client: httpx.Client, path: str, name: str) -> list[Any]:
    pages = [_get(client, path)]
    while (cursor := pages[-1][name]) is not None:
        pages.append(_get(client, path, cursor=cursor))
    return pages


def _tell(connection: Connection, name: str, asked: list[str], answer: str) -> None:
    conversations.create(connection, name, "alice", "assistant")
    for text in asked:
        turn = life.create(connection, life.New(name, text, owner="test", lease_ms=60_000))
        life.settle(connection, [settled(turn, "done", Message("assistant", answer))])


def begin(connection: Connection, name: str, log: list[ev.Event], width: int = 512) -> Turn:
    conversations.create(connection, name, "alice", "assistant")
    turn = life.create(connection, life.New(name, "count", owner="test", lease_ms=600_000))
    parts = [(start + 1, log[start : start + width]) for start in range(0, len(log), width)]
    rows = [
        events.Rows(turn.num, 1, first, first + len(part) - 1, 5, codec.encode(part)) for first, part in parts
    ]
    events.insert_fenced(connection, rows)
    return turn
