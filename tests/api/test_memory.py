"""How much memory one person can make a server process take."""

import re
import shutil
from pathlib import Path

import httpx

from tests import agent_files
from tests.api import readers
from tests.api.artifactflow.message import Message, last
from tests.api.reading import conversation
from tests.api.threads.process import Process

MIB = 1024 * 1024
MESSAGES = 6
#: One wide character at the beginning makes all characters of the text take four bytes.
CONTENT = "😀" + "x" * 999_000
SPEC = """
model: {class: "readers:Reader"}
tools: [read_artifact]
"""


def peak(server: Process) -> int:
    """The most memory that the process ever had, in bytes."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) * 1024


def begin(client: httpx.Client) -> Message:
    """A message of a new conversation with the artifact. Its agent begins to read."""
    where = conversation(client, agent="reader")
    new = {"id": "big", "title": "Big", "content_type": "text", "content": CONTENT}
    made = client.post(f"/api/v2/conversations/{where}/artifacts", json=new)
    assert made.status_code == 201, made.text
    return Message.send(client, "go", conversation_id=where)


def test_agents_that_read_too_much_are_told_so_and_take_little_memory(tmp_path: Path) -> None:
    agents = tmp_path / "agents"
    agent_files.put(agents, "reader", SPEC)
    shutil.copy(readers.__file__, agents)
    with Process(tmp_path / "data", agents_dir=agents) as server, server.client() as client:
        before = peak(server)
        for message in [begin(client) for _ in range(MESSAGES)]:
            response = last(message.read(), "complete")["response"]
            results, cut, characters = map(int, re.findall(r"\d+", response))
            assert results == readers.Reader().times
            assert cut > results / 2
            assert characters > 40_000
        # Without a bound it is over 400 MiB.
        assert peak(server) - before < 250 * MIB
