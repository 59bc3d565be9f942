"""How much of a tool's output the model gets on a running server, and that the exit code is always in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests import agent_files
from tests.api.reading import conversation, send, to_segment_end
from tests.api.server import Served
from tests.programs import needs

BWRAP = needs("bwrap")
KIB = 1024
SPEC = "model: {primary: demo, options: {delay: 0, think: false}}\npermissions: {execute: auto}\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("server")
    agent_files.put(folder / "agents", "worker", SPEC)
    with Served(folder, default_agent="worker") as server:
        yield server


def results(client: httpx.Client, content: str) -> list[tuple[str, str]]:
    """The output and the status of each tool call of a turn."""
    found = to_segment_end(client, send(client, conversation(client), content)["id"])
    finished = [event.data for event in found if event.name == "tool_finished"]
    return [(data["output"], data["status"]) for data in finished]


@BWRAP
def test_a_long_output_is_complete_and_ends_with_the_exit_code(alice: httpx.Client) -> None:
    ((output, status),) = results(alice, "run seq 1 20000; exit 3")
    assert output == "\n".join(map(str, range(1, 20_001))) + "\n[exit code 3]"
    assert status == "ok"


@BWRAP
def test_an_output_beyond_the_limit_ends_with_the_exit_code_too(alice: httpx.Client) -> None:
    ((output, status),) = results(alice, "run yes | head -c 1000000; exit 3")
    shown, *notes = output.rsplit("\n", 2)
    assert shown == "y\n" * (128 * KIB - 1) + "y"
    assert notes == ["[cut: only the first 262144 bytes of output are shown]", "[exit code 3]"]
    assert status == "ok"


@BWRAP
def test_a_file_of_200000_bytes_is_read_whole(alice: httpx.Client) -> None:
    _, (output, status) = results(alice, "run yes | head -c 200000 > long.txt then read long.txt")
    assert (output, status) == ("y\n" * 100_000, "ok")
