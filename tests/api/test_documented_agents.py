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
    deployer, shouts, flow = blocks("docs/agents.md", "yaml")
    own, langchain, graph, *_ = blocks("docs/agents.md", "python")
    (agents / "deployer.yaml").write_text(deployer)
    (agents / "shouts.yaml").write_text(shouts)
    (agents / "own.py").write_text(own)
    whispers = shouts.replace("own:Shouts", "other:Whispers").replace("name: shouts", "name: whispers")
    (agents / "whispers.yaml").write_text(whispers)
    (agents / "other.py").write_text(langchain)
    (agents / "flow.yaml").write_text(flow)
    (agents / "flow.py").write_text(graph)
    (poet,) = re.findall(r"<<'END'\n(.*?)^END$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (agents / "poet.yaml").write_text(poet)
    with Served(folder) as server:
        yield server


def test_the_printed_files_have_no_fault_and_replace_no_built_in_agent(server: Served) -> None:
    folder = server.settings.agents_dir
    assert folder is not None
    catalog = Catalog(folder, standard().names)
    assert catalog.faults == ()
    assert {"deployer", "flow", "poet", "shouts", "whispers"} <= {agent.name for agent in catalog.agents()}


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


@pytest.mark.parametrize(("agent", "said"), [("shouts", "ONE? TWO? "), ("whispers", "one? two? ")])
def test_the_printed_models_of_either_kind_reply(alice: httpx.Client, agent: str, said: str) -> None:
    turn = send(alice, conversation(alice, agent=agent), "One two")
    assert text(events(alice, turn["id"])) == said


def test_the_printed_model_calls_a_tool(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice, agent="shouts"), "look")
    found = events(alice, turn["id"])
    (tool,) = [event.data for event in found if event.name == "tool_finished"]
    assert (tool["name"], tool["output"]) == ("list_files", "(empty)")
    assert text(found) == "(EMPTY)? "
