"""The capacity of a process: turns over the limit are queued, and no message is refused."""

import asyncio
from pathlib import Path

from caesura.engine.supervisor import Supervisor
from tests.api.reading import conversation, outcome, send, to_segment_end
from tests.api.server import Served


def test_a_process_runs_turns_up_to_its_capacity_and_the_next_when_one_ends(
    tmp_path: Path, database_url: str
) -> None:
    with Served(tmp_path, database_url=database_url, runs=1) as server, server.client() as alice:
        first = send(alice, conversation(alice), "count to 100000 delay=0.05")
        second = send(alice, conversation(alice), "echo x")
        assert (first["status"], second["status"]) == ("running", "queued")
        supervisor = server.context.service.engine.supervisor
        for _ in range(3):
            server.call(_look_for_work(supervisor))
        assert supervisor.count == 1
        assert alice.get(f"/api/v2/turns/{second['id']}").json()["status"] == "queued"
        assert alice.post(f"/api/v2/turns/{first['id']}/stop").json() == {"stopped": True}
        assert outcome(to_segment_end(alice, second["id"])).name == "finished"


async def _look_for_work(supervisor: Supervisor) -> None:
    supervisor.nudge()
    while supervisor._nudged.is_set():  # noqa: ASYNC110 - until the pause between two looks is over
        await asyncio.sleep(0.005)
