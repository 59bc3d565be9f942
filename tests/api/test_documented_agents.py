"""The agent files that the documents print work as they are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from caesura.agents.loader import Catalog
from caesura.agents.tools.registry import standard
from tests.api.reading import conversation, events, outcome, send, text, to_segment_end
from tests.api.server import Served

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("documented")
    agents = folder / "agents"
    agents.mkdir()
    deployer, flow = blocks("docs/agents.md", "yaml")
    (agents / "deployer.yaml").write_text(deployer)
    (agents / "flow.yaml").write_text(flow)
    (agents / "flow.py").write_text(blocks("docs/agents.md", "python")[0])
    (poet,) = re.findall(r"<<'END'\n(.*?)^END$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (agents / "poet.yaml").write_text(poet)
    with Served(folder) as server:
        yield server


def test_the_printed_files_have_no_fault_and_replace_no_built_in_agent(server: Served) -> None:
    folder = server.settings.agents_dir
    assert folder is not None
    catalog = Catalog(folder, standard().names)
    assert catalog.faults == ()
    assert {"deployer", "flow", "poet"} <= {agent.name for agent in catalog.agents()}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"decision": "value", "value": True}, "Your message has 3 words. What a fine message!"),
        ({"decision": "reject"}, "Your message has 3 words. "),
    ],
)
def test_the_printed_graph_answers_and_asks(
    alice: httpx.Client, answer: dict[str, object], said: str
) -> None:
    turn = send(alice, conversation(alice, agent="flow"), "one two three")
    (asked,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    assert asked["value"] == "Shall I praise it?"
    assert alice.post(f"/api/v2/interrupts/{asked['id']}/answer", json=answer).status_code == 200
    assert text(events(alice, turn["id"])) == said
