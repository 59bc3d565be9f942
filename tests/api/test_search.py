"""Conversations are found by a part of their titles."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from caesura.client import Client
from tests.api.server import Served
from tests.waiting import milliseconds

TITLES = ("Plan 100% of it", "plan_b", "Planung für Übersee", "other / thing", "other \\ thing", "数据库迁移")


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[Served]:
    with Served(tmp_path, database_url=database_url) as server:
        yield server


def test_conversations_are_found_by_a_part_of_their_titles(server: Served) -> None:
    with server.client() as alice, server.client("bob") as bob:
        for number in milliseconds(len(TITLES)):
            alice.post("/api/v2/conversations", json={"title": TITLES[number]}).raise_for_status()
        alice.post("/api/v2/conversations", json={}).raise_for_status()
        bob.post("/api/v2/conversations", json={"title": "plan of another person"}).raise_for_status()
        newest = TITLES[::-1]
        for query, found in {
            "PLAN": [2, 1, 0],
            "%": [0],
            "_": [1],
            "n_b": [1],
            "/": [3],
            "\\": [4],
            "Übersee": [2],
            "迁移": [5],
            " plan ": [2, 1, 0],
            "plan\0": [],
            "nothing like it": [],
        }.items():
            page = _get(alice, query=query)
            assert [item["title"] for item in page["conversations"]] == [TITLES[place] for place in found]
            assert (page["total"], page["next"]) == (len(found), None)
        for none in ("", "  "):
            assert _get(alice, query=none)["total"] == len(TITLES) + 1
        first = _get(alice, query="plan", limit=2)
        rest = _get(alice, query="plan", limit=2, cursor=first["next"])
        shown = [item["title"] for page in (first, rest) for item in page["conversations"]]
        assert shown == [title for title in newest if "plan" in title.lower()]
        assert (first["total"], rest["next"]) == (3, None)
        assert alice.get("/api/v2/conversations", params={"query": "x" * 201}).status_code == 422
        assert asyncio.run(_client(server)) == shown


async def _client(server: Served) -> list[str | None]:
    async with Client(server.url, server.token()) as client:
        return [item.title async for item in client.conversations(query="plan")]


def _get(client: httpx.Client, **params: str | int) -> Any:
    response = client.get("/api/v2/conversations", params=params)
    assert response.status_code == 200, response.text
    return response.json()
