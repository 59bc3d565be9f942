"""An answer at a server without the agent: refused with 409 in every API, and the question stays open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.api.server import Served

WRITE = "write hello.py: print(1)"
Answer = Callable[[], httpx.Response]


def over_a(client: httpx.Client) -> Answer:
    thread = client.post("/api/sessions", json={"agent": "assistant"}).json()["thread_id"]
    client.post(f"/api/chat/{thread}", json={"message": WRITE})
    return lambda: client.post(f"/api/resume/{thread}", json={"action": "continue"})


def over_b(client: httpx.Client) -> Answer:
    made = client.post("/api/v1/chat", json={"content": WRITE, "agent": "assistant"}).json()
    client.get(made["stream_url"])
    names = {name: made[name] for name in ("thread_id", "message_id")}
    path = f"/api/v1/chat/{made['conversation_id']}/resume"
    return lambda: client.post(path, json={**names, "approved": True})


def over_c(client: httpx.Client) -> Answer:
    names = {"agent_id": "assistant", "session_id": "one"}
    client.post("/api/v1/chat/stream", json={**names, "message": WRITE})
    return lambda: client.post("/api/v1/chat/resume", json={**names, "input": {"confirm": True}})


def over_native(client: httpx.Client) -> Answer:
    over_a(client)
    [waiting] = client.get("/api/v2/interrupts").json()["interrupts"]
    path = f"/api/v2/interrupts/{waiting['id']}/answer"
    return lambda: client.post(path, json={"decision": "approve"})


def test_an_answer_without_the_agent_is_refused_and_counts_when_it_is_back(tmp_path: Path) -> None:
    with Served(tmp_path, built_in_agents=False) as server, ExitStack() as stack:
        clients = {
            over: stack.enter_context(server.client(over.__name__.replace("_", "-")))
            for over in (over_a, over_b, over_c, over_native)
        }
        answers = {over: over(client) for over, client in clients.items()}
        file, catalog = tmp_path / "agents" / "assistant.yaml", server.context.service.agents._catalog
        text = file.read_text()
        file.unlink()
        catalog.refresh()
        for over, answer in (*answers.items(), *answers.items()):
            refused = answer()
            assert refused.status_code == 409, over
            assert "there is no agent assistant here now" in refused.text
            assert len(clients[over].get("/api/v2/interrupts").json()["interrupts"]) == 1
        file.write_text(text)
        catalog.refresh()
        assert [answer().status_code for answer in answers.values()] == [200] * 4
