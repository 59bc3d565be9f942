"""How many turns one process works on: the others wait in the queue, and nobody is refused for that."""

from pathlib import Path

from tests.api.reading import conversation, outcome, send, to_segment_end
from tests.api.server import Served


def test_a_process_takes_up_as_many_turns_as_it_may_and_the_next_when_one_ends(tmp_path: Path) -> None:
    with Served(tmp_path, runs=1) as server, server.client() as alice:
        first = send(alice, conversation(alice), "count to 100000 delay=0.05")
        second = send(alice, conversation(alice), "echo x")
        assert (first["status"], second["status"]) == ("running", "queued")
        assert alice.post(f"/api/v2/turns/{first['id']}/stop").json() == {"stopped": True}
        assert outcome(to_segment_end(alice, second["id"])).name == "finished"
