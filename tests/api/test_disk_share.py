"""The disk, attacked by one person with many conversations on a running server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from caesura.agents.tools.size import measure
from tests import agent_files
from tests.api.reading import conversation, send, to_segment_end
from tests.api.server import Served
from tests.programs import needs

BWRAP = needs("bwrap")
MIB = 1024 * 1024
MOST = 8 * MIB
SPEC = """
model: {primary: demo, options: {delay: 0, think: false}}
permissions: {write_file: auto, execute: auto}
"""
TOLD = "all conversations of this person may hold"
FILL = "run i=0; while :; do i=$((i+1)); head -c 200000 /dev/zero > $i; sleep 0.01; done"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path) as server:
        yield server


def serve(folder: Path, most: int = MOST) -> Served:
    agent_files.put(folder / "agents", "worker", SPEC)
    return Served(folder, workspace_bytes_per_person=most, sandboxes=4, default_agent="worker")


def do(client: httpx.Client, place: str, content: str) -> str:
    """Run a turn with one tool call; returns the output of the tool."""
    found = to_segment_end(client, send(client, place, content)["id"])
    (said,) = [event.data["output"] for event in found if event.name == "tool_finished"]
    return str(said)


def write(client: httpx.Client, place: str, size: int = 200_000) -> str:
    return do(client, place, f"write a.txt: {'x' * size}")


def held(server: Served) -> int:
    folders = (server.settings.data_dir / "workspaces").glob("[a-z0-9]*")
    return sum(measure(folder).bytes for folder in folders)


def test_all_conversations_of_a_person_share_one_disk_limit(tmp_path: Path) -> None:
    with serve(tmp_path, MIB) as server, server.client() as alice, server.client("bob") as bob:
        places = [conversation(alice) for _ in range(8)]
        said = [write(alice, place) for place in places]
        assert sum(text.startswith("wrote") for text in said) == 5
        assert all(f"{TOLD} {MIB} bytes" in text and "delete conversations" in text for text in said[5:])
        assert held(server) <= MIB
        assert write(bob, conversation(bob)).startswith("wrote")
        assert 'caesura_share_refused_total{limit="workspaces_full"} 3' in alice.get("/metrics").text

        # Deleting frees space at once.
        assert alice.delete(f"/api/v2/conversations/{places[0]}").status_code == 204
        assert write(alice, places[6]).startswith("wrote")
        assert TOLD in write(alice, places[7])
    with serve(tmp_path, MIB) as server, server.client() as alice:
        assert TOLD in write(alice, places[7])
        assert alice.delete(f"/api/v2/conversations/{places[1]}").status_code == 204
        assert write(alice, places[7]).startswith("wrote")


def test_empty_files_are_counted_too(server: Served) -> None:
    with server.client() as alice:
        places = [conversation(alice) for _ in range(2)]
        folder = server.settings.data_dir / "workspaces" / places[0]
        folder.mkdir(parents=True)
        for number in range(MOST // 4096):
            (folder / str(number)).touch()
        assert TOLD in write(alice, places[1], 10)


@BWRAP
def test_a_command_may_use_the_free_space_and_may_free_space_when_full(server: Served) -> None:
    with server.client() as alice:
        first, second = conversation(alice), conversation(alice)
        assert "[exit code 0]" in do(alice, first, "run head -c 6M /dev/zero > a")
        ended = do(alice, second, FILL)
        assert "[ended: " in ended
        assert TOLD in ended
        kept = held(server)
        assert kept > MOST
        # No file can grow in any of the conversations; reading and removing still work.
        refused = do(alice, first, "run wc -c a; echo x > b; true")
        assert "6291456 a" in refused
        assert "[no file could grow: " in refused
        assert TOLD in refused
        assert TOLD in write(alice, conversation(alice), 10)
        assert held(server) <= kept
        assert "[exit code 0]" in do(alice, second, "run rm *")
        assert "[exit code 0]" in do(alice, first, "run echo x > b; cat b")
        assert write(alice, conversation(alice), 10).startswith("wrote")


@BWRAP
def test_concurrent_commands_share_the_free_space(server: Served) -> None:
    """Each command alone stays below the limit. Any two of them exceed it."""
    fill = "run for i in 1 2 3 4 5 6 7; do sleep 0.4; head -c 900K /dev/zero > $i; done; sleep 3"
    said: list[str] = []

    def work(client: httpx.Client, place: str) -> None:
        said.append(do(client, place, fill))

    with ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for _ in range(4)]
        threads = [threading.Thread(target=work, args=(client, conversation(client))) for client in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert sum(TOLD in text for text in said) >= 3, said
