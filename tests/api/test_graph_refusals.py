"""An operator's own graph gets a refusal of its question, over each API."""

from collections.abc import Iterator

import httpx
import pytest

from tests import agent_files
from tests.api.reading import conversation, events, outcome, send, text, to_segment_end
from tests.api.server import Served
from tests.api.threads.thread import Thread, kinds, parsed
from tests.graph_files import IMPORTS, chain

GRAPH = IMPORTS + chain(
    """
    def work(state, config: RunnableConfig):
        said = "deleted" if interrupt("delete all?") else "kept"
        reasons = [item["message"] for item in config["configurable"]["refusals"]]
        return {"messages": [AIMessage(f"{said} {reasons}")]}
    """,
    "work",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("graphs")
    agent = agent_files.put(folder / "agents", "cleaner", "type: langgraph\ngraph: 'cleaning:graph'\n")
    agent.with_name("cleaning.py").write_text(GRAPH)
    with Served(folder) as server:
        yield server


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"decision": "reject", "message": "not today"}, "kept ['not today']"),
        ({"decision": "reject"}, "kept ['']"),
        ({"decision": "value", "value": False}, "kept []"),
        ({"decision": "value", "value": True}, "deleted []"),
    ],
)
def test_a_graph_that_is_refused_does_nothing(
    alice: httpx.Client, answer: dict[str, object], said: str
) -> None:
    turn = send(alice, conversation(alice, agent="cleaner"), "go")
    (asked,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    assert alice.post(f"/api/v2/interrupts/{asked['id']}/answer", json=answer).status_code == 200
    assert text(events(alice, turn["id"])) == said


@pytest.mark.parametrize(("action", "said"), [("cancel", "kept ['']"), ("continue", "deleted []")])
def test_a_thread_that_is_cancelled_does_nothing(alice: httpx.Client, action: str, said: str) -> None:
    thread = Thread.new(alice, "cleaner")
    thread.chat("go")
    assert kinds(parsed(thread.decide(action=action))) == ["end"]
    assert thread.history()[-1] == ("assistant", said)
