"""A server with agents that record their prompts, whose questions expire soon, or whose titles take long."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from caesura.store import interrupts
from tests.api.server import Served
from tests.api.threads import models
from tests.api.threads.conftest import Prompts

#: How many runs one person may have at once.
RUNS = 8
QUICK = {"delay": 0.0005, "think": False}


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("artifactflow")
    put_agents(folder)
    # Short times: none of them may end a run or a question.
    with Served(folder, disconnect_grace=0.2, runs_per_person=RUNS) as server:
        yield server


def put_agents(folder: Path) -> None:
    agents = folder / "agents"
    agents.mkdir(parents=True)
    shutil.copy(models.__file__, agents / "own.py")
    put(agents, "recorder", "Recorder", {**QUICK, "trace": str(folder / "trace")})
    put(agents, "hasty", "DemoModel", QUICK, approvals={"timeout_seconds": 1})
    put(agents, "thinker", "DemoModel", {**QUICK, "think": True})
    put(agents, "stuck", "Stuck", {**QUICK, "title": "Stuck"})
    put(agents, "no-title", "Titler", {**QUICK, "way": "hang"})
    put(agents, "late-title", "Titler", {**QUICK, "title": "A late title", "takes": 0.3})


def put(agents: Path, name: str, model: str, options: dict[str, Any], **spec: Any) -> None:
    chosen = {"model": {"class": f"own:{model}", "options": options}, **spec}
    file = {"apiVersion": "caesura/v1", "kind": "Agent", "metadata": {"name": name}, "spec": chosen}
    (agents / f"{name}.yaml").write_text(json.dumps(file))


@pytest.fixture
def prompts(server: Served) -> Prompts:
    return Prompts(server.settings.data_dir.parent / "trace")


@pytest.fixture
def slow_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A click counts as a double click for a minute: on a busy machine a second may pass between two."""
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 60_000)


@pytest.fixture
def no_double_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as if enough time had passed between any two clicks."""
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 0)


@pytest.fixture
def file_of(server: Served) -> Callable[[str, str], Path]:
    """Where a file of a conversation is, by the id of the conversation in this API."""

    def path(conversation_id: str, name: str) -> Path:
        return server.settings.data_dir / "workspaces" / conversation_id / name

    return path
