"""Grants can be listed and revoked, over a running server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.reading import conversation, events, outcome, send, to_segment_end, until
from tests.api.server import Served
from tests.api.test_native import answer, pending


def granted(client: httpx.Client) -> dict[str, Any]:
    """A turn in which `write_file` was always allowed."""
    turn, (asked,) = pending(client, "write hello.py: print(1)")
    assert answer(client, asked["id"], "approve", always_allow=True).status_code == 200
    events(client, turn["id"])
    return turn


def url(turn: dict[str, Any], tool: str = "") -> str:
    return f"/api/v2/conversations/{turn['conversation_id']}/grants" + (f"/{tool}" if tool else "")


def test_a_grant_is_listed_revoked_and_asked_for_again(alice: httpx.Client) -> None:
    turn = granted(alice)
    (grant,) = alice.get(url(turn)).json()["grants"]
    assert (grant["tool"], grant["turn_id"]) == ("write_file", turn["id"])
    assert grant["granted_at"] >= turn["created_at"]
    again = send(alice, turn["conversation_id"], "write other.py: print(2)")
    assert outcome(events(alice, again["id"])).name == "finished"
    assert alice.get(url(turn)).json()["grants"] == [grant]
    assert alice.delete(url(turn, "write_file")).status_code == 204
    assert alice.get(url(turn)).json() == {"grants": []}
    asked = send(alice, turn["conversation_id"], "write third.py: print(3)")
    assert outcome(to_segment_end(alice, asked["id"])).name == "interrupted"


@pytest.mark.parametrize("tool", ["write_file", "nonsense", "a%2Fb", "%00", "%F0%9F%98%80", "x" * 200])
def test_a_missing_grant_cannot_be_revoked(alice: httpx.Client, tool: str) -> None:
    refused = alice.delete(f"/api/v2/conversations/{conversation(alice)}/grants/{tool}")
    assert refused.status_code == 404
    assert refused.json()["error"]["code"] == "not_found"


def test_a_grant_from_before_a_stop_can_be_listed_and_revoked(alice: httpx.Client) -> None:
    turn, asked = pending(alice, "two approvals")
    assert answer(alice, asked[0]["id"], "approve", always_allow=True).status_code == 200
    alice.post(f"/api/v2/turns/{turn['id']}/stop")
    assert [grant["tool"] for grant in alice.get(url(turn)).json()["grants"]] == ["write_file"]
    assert alice.delete(url(turn, "write_file")).status_code == 204
    alice.post(f"/api/v2/turns/{turn['id']}/retry")
    snapshot = f"/api/v2/conversations/{turn['conversation_id']}/snapshot"
    until(lambda: len(alice.get(snapshot).json()["turns"][-1]["interrupts"]) == 2)


@pytest.fixture
def nodes(tmp_path: Path, postgres_url: str) -> Iterator[tuple[Served, Served]]:
    with (
        Served(tmp_path / "a", database_url=postgres_url) as first,
        Served(tmp_path / "b", database_url=postgres_url) as second,
    ):
        yield first, second


def test_a_turn_on_one_node_asks_after_the_grant_is_revoked_on_another(
    nodes: tuple[Served, Served],
) -> None:
    with nodes[0].client() as here, nodes[1].client() as there:
        turn = granted(here)
        running = send(here, turn["conversation_id"], "list files then write other.py delay=0.3")
        assert there.delete(url(turn, "write_file")).status_code == 204
        assert there.get(f"/api/v2/turns/{running['id']}").json()["status"] == "running"
        assert outcome(to_segment_end(here, running["id"])).name == "interrupted"
        assert here.get(url(turn)).json() == {"grants": []}
