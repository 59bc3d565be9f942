"""Two servers on one database: both give the same answers."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.reading import conversation, events, finished, outcome, send, text, to_segment_end
from tests.api.server import Served

Pair = tuple[Served, Served]


@pytest.fixture
def nodes(tmp_path: Path, postgres_url: str) -> Iterator[Pair]:
    """Two nodes with a short lease."""
    with (
        Served(tmp_path / "a", database_url=postgres_url, lease=3.0) as first,
        Served(tmp_path / "b", database_url=postgres_url, lease=3.0) as second,
    ):
        yield first, second


def test_a_run_on_one_node_is_read_and_answered_on_the_other(nodes: Pair) -> None:
    with nodes[0].client() as here, nodes[1].client() as there:
        turn = send(here, conversation(here), "write hello.py: print(1)")
        asked = outcome(to_segment_end(there, turn["id"]))
        (waiting,) = there.get("/api/v2/interrupts").json()["interrupts"]
        assert asked.data["interrupts"][0]["id"] == waiting["id"]
        answered = there.post(f"/api/v2/interrupts/{waiting['id']}/answer", json={"decision": "approve"})
        assert answered.status_code == 200
        lost = here.post(f"/api/v2/interrupts/{waiting['id']}/answer", json={"decision": "reject"})
        assert lost.json()["error"]["decision"] == {"decision": "approve"}
        whole = events(here, turn["id"])
        assert whole == events(there, turn["id"])
        assert outcome(whole).name == "finished"


def test_a_run_on_one_node_is_stopped_on_the_other(nodes: Pair) -> None:
    with nodes[0].client() as here, nodes[1].client() as there:
        turn = send(here, conversation(here), "count to 100000 delay=0.01")
        assert there.post(f"/api/v2/turns/{turn['id']}/stop").json() == {"stopped": True}
        assert outcome(events(there, turn["id"])).name == "stopped"


def test_a_ticket_is_good_once_over_all_nodes(nodes: Pair) -> None:
    with nodes[0].client() as here, nodes[0].client(None) as first, nodes[1].client(None) as second:
        path = f"/api/v2/turns/{finished(here, 'echo x')['id']}/events"
        given = here.post("/api/v2/stream-ticket", json={"stream": path}).json()["ticket"]
        assert second.get(path, params={"ticket": given}).status_code == 200
        assert first.get(path, params={"ticket": given}).status_code == 401


def test_a_key_is_good_once_over_all_nodes(nodes: Pair) -> None:
    with nodes[0].client() as here, nodes[1].client() as there:
        url, key = f"/api/v2/conversations/{conversation(here)}/turns", {"Idempotency-Key": "k"}
        first = here.post(url, json={"content": "echo x"}, headers=key).json()
        assert there.post(url, json={"content": "echo x"}, headers=key).json()["id"] == first["id"]
        assert there.post(url, json={"content": "echo y"}, headers=key).status_code == 422


def test_many_concurrent_copies_of_a_request_make_one_turn(nodes: Pair) -> None:
    with nodes[0].client() as here, nodes[1].client() as there, ThreadPoolExecutor(8) as pool:

        def at_once(path: str, body: dict[str, Any]) -> list[Any]:
            def ask(client: httpx.Client) -> Any:
                answer = client.post(path, json=body, headers={"Idempotency-Key": path})
                return answer.status_code, answer.json().get("id")

            return list(pool.map(ask, [here, there] * 4))

        made = conversation(here)
        (status, turn), *others = at_once(
            f"/api/v2/conversations/{made}/turns", {"content": "write a.txt: x"}
        )
        assert status == 201
        assert others == [(201, turn)] * 7
        to_segment_end(here, turn)
        (asked,) = here.get("/api/v2/interrupts").json()["interrupts"]
        path = f"/api/v2/interrupts/{asked['id']}/answer"
        assert at_once(path, {"decision": "approve"}) == [(200, turn)] * 8
        assert outcome(events(here, turn)).name == "finished"
        stopped = send(here, made, "count to 100000 delay=0.01")["id"]
        here.post(f"/api/v2/turns/{stopped}/stop")
        assert at_once(f"/api/v2/turns/{stopped}/retry", {}) == [(200, stopped)] * 8
        here.post(f"/api/v2/turns/{stopped}/stop")


def test_a_node_that_ends_hands_its_run_over(nodes: Pair) -> None:
    with nodes[0].client() as here, nodes[1].client() as there:
        turn = send(here, conversation(here), "count to 120 delay=0.02")
        nodes[0].stop()
        assert text(events(there, turn["id"])) == " ".join(map(str, range(1, 121))) + " done."
