"""A stop that was acknowledged has happened, also while a run still holds its turn for a title."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.api.reading import conversation, follow, send
from tests.api.server import Served
from tests.api.threads.conftest import put_agents

Clients = tuple[httpx.Client, httpx.Client]


@pytest.fixture
def one_node(tmp_path: Path) -> Iterator[Clients]:
    put_agents(tmp_path)
    with Served(tmp_path) as server, server.client() as first, server.client() as second:
        yield first, second


@pytest.fixture
def two_nodes(tmp_path: Path, postgres_url: str) -> Iterator[Clients]:
    """The nodes have long leases: neither hears of a stop from its next heartbeat in time."""
    with ExitStack() as stack:
        clients = []
        for name in ("a", "b"):
            put_agents(tmp_path / name)
            node = stack.enter_context(Served(tmp_path / name, database_url=postgres_url, lease=60.0))
            clients.append(stack.enter_context(node.client()))
        yield clients[0], clients[1]


@pytest.mark.parametrize("nodes", ["one_node", "two_nodes"])
def test_after_a_stop_the_question_is_closed_and_the_conversation_is_free(
    request: pytest.FixtureRequest, nodes: str
) -> None:
    here, there = request.getfixturevalue(nodes)
    for then in ("answer", "message", "retry"):
        thread = conversation(here, agent="hangs")
        turn = send(here, thread, "write a.txt")
        asked = next(event for event in follow(here, turn["id"]) if event.name == "interrupted")
        question = asked.data["interrupts"][0]["id"]
        assert there.post(f"/api/v2/turns/{turn['id']}/stop").json() == {"stopped": True}
        if then == "message":
            send(there, thread, "echo next")
        elif then == "retry":
            assert there.post(f"/api/v2/turns/{turn['id']}/retry").status_code == 200
        else:
            late = here.post(f"/api/v2/interrupts/{question}/answer", json={"decision": "approve"})
            assert (late.status_code, late.json()["error"]["code"]) == (409, "nothing_pending")
        assert here.get(f"/api/v2/interrupts/{question}").json()["status"] == "cancelled"
