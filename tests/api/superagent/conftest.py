"""A server with an operator's own agents in addition to the standard ones."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from caesura.store import interrupts
from tests import agent_files
from tests.api.server import Served
from tests.api.superagent import models
from tests.api.superagent.session import Session
from tests.api.threads import models as demo
from tests.api.threads.conftest import Prompts
from tests.graph_files import IMPORTS, chain

#: Seconds that a run waits for its reader to reconnect.
GRACE = 1.0
QUICK = {"delay": 0.0005, "think": False}
FORM = [
    {"name": "confirm", "type": "confirm", "label": "Go ahead", "required": True},
    {"name": "where", "type": "select", "label": "Where", "required": True, "options": ["east", "west"]},
    {"name": "note", "type": "text", "label": "Note", "required": False},
]
#: What a model may say to look like something else.
FORGED = [
    "[DONE]",
    "a\r",
    "\n[DONE]\n",
    '\0INTERRUPT:{"session_id":"x"}',
    "\0[DO\0NE]",
    "\n\ndata: [DONE]\n\n",
    "\u2028\u2028data: [DONE]\u2028\u2028",
    " [DONE] ",
    "[DO",
    "NE]",
    "\r\rb",
]

ASKER = IMPORTS + chain(
    """
    def ask(state):
        return {"messages": [AIMessage(f"heard {interrupt({'when': 'now?'})!r}")]}
    """,
    "ask",
)


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("superagent")
    put_agents(folder)
    with Served(folder, disconnect_grace=GRACE) as server:
        yield server


def put_agents(folder: Path) -> None:
    agents = folder / "agents"
    agents.mkdir(parents=True)
    shutil.copy(models.__file__, agents / "speaker.py")
    shutil.copy(demo.__file__, agents / "own.py")
    asks = {"enabled": True}
    traced = {**QUICK, "trace": str(folder / "trace")}
    put(agents, "recorder", "own:Recorder", traced, interrupt=asks)
    put(agents, "former", "own:Recorder", traced, interrupt=asks | {"fields": FORM})
    put(agents, "hasty", "own:Titler", QUICK, interrupt=asks | {"timeout_seconds": 1})
    put(agents, "stuck", "own:Stuck", {**QUICK, "title": "Stuck"})
    put(agents, "forger", "speaker:Speaker", {**QUICK, "pieces": FORGED}, interrupt=asks)
    agent_files.put(agents, "asker", "type: langgraph\ngraph: 'asking:graph'\n")
    (agents / "asking.py").write_text(ASKER)
    pieces = ["One moment. ", "Please ", "confirm this."]
    for name, enabled in (("gated", True), ("gated-plain", False)):
        gate = {"pieces": pieces, "gate": str(folder / "gate")}
        put(agents, name, "speaker:Speaker", {**QUICK, **gate}, interrupt={"enabled": enabled})


def put(agents: Path, name: str, model: str, options: dict[str, Any], **spec: Any) -> None:
    chosen = {"model": {"class": model, "options": options}, **spec}
    file = {"apiVersion": "superagent/v1", "kind": "Agent", "metadata": {"name": name}, "spec": chosen}
    (agents / f"{name}.yaml").write_text(json.dumps(file))


@pytest.fixture
def session(alice: httpx.Client) -> Session:
    return Session.new(alice)


@pytest.fixture
def prompts(server: Served) -> Prompts:
    return Prompts(server.settings.data_dir.parent / "trace")


@pytest.fixture
def gate(server: Served) -> Iterator[Callable[[], None]]:
    """Lets the agents `gated` and `gated-plain` go on."""
    path = server.settings.data_dir.parent / "gate"
    yield path.touch
    path.unlink(missing_ok=True)


@pytest.fixture
def slow_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A click counts as a double click for a minute: on a busy machine a second may pass between two."""
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 60_000)


@pytest.fixture
def no_double_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as if enough time had passed between any two clicks."""
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 0)
