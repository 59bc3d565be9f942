"""Two server processes on one database: a stop on one of them ends the run on the other."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.reading import conversation, events, follow, outcome, send, until
from tests.api.server import SECRET
from tests.api.threads.process import Process
from tests.openai_server import Call, Desk, Hang, Held, Say, Server

AGENT = """
apiVersion: caesura/v1
kind: Agent
metadata: {{name: assistant}}
spec:
  model: {{primary: "openai:test", base_url: "{url}", api_key_env: PATH}}
  tools: [write_file]
"""
WRITE = Call("write_file", {"path": "a.txt", "content": "x"}, "write-1")

Clients = tuple[httpx.Client, httpx.Client]


@pytest.fixture
def desk() -> Iterator[Desk]:
    with Server() as server:
        yield server.desk()


@pytest.fixture
def nodes(tmp_path: Path, postgres_url: str, desk: Desk) -> Iterator[Clients]:
    """Their next heartbeat comes only after the end of any test."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "assistant.yaml").write_text(AGENT.format(url=desk.base_url))
    shared = {
        "database_url": postgres_url,
        "agents_dir": tmp_path / "agents",
        "secret": SECRET,
        "lease": 3600.0,
    }
    with (
        Process(tmp_path / "a", **shared) as first,
        Process(tmp_path / "b", **shared) as second,
        first.client() as here,
        second.client() as there,
    ):
        yield here, there


def test_a_stop_on_another_node_ends_the_run_and_no_question_comes_after_it(
    nodes: Clients, desk: Desk
) -> None:
    here, there = nodes
    desk.script(Hang(["Once ", "upon"]))
    turn = send(here, conversation(here), "tell")
    _until_words(here, turn["id"])
    assert there.post(f"/api/v2/turns/{turn['id']}/stop").json() == {"stopped": True}
    assert outcome(events(there, turn["id"])).name == "stopped"
    until(lambda: desk.broken_off == 1)  # the connection to the provider is closed
    for _ in range(3):
        reply = Held("May I?", Say("", [WRITE]))
        desk.script(reply)
        turn = send(here, conversation(here), "write it")
        _until_words(here, turn["id"])
        assert there.post(f"/api/v2/turns/{turn['id']}/stop").json() == {"stopped": True}
        reply.go_on.set()  # the owner wants to ask, most likely before it hears of the stop
        found = events(here, turn["id"])
        assert outcome(found).name == "stopped"
        assert "interrupted" not in {event.name for event in found}
        assert there.get("/api/v2/interrupts").json()["interrupts"] == []


def _until_words(client: httpx.Client, turn_id: str) -> None:
    assert any(event.name == "text_delta" for event in follow(client, turn_id))
