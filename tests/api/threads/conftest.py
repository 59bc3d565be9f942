"""A server with an operator's own agents in addition to the standard ones."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import Served
from tests.api.threads import models

#: Seconds that a run waits for its reader to reconnect.
GRACE = 1.0


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("threads")
    put_agents(folder)
    with Served(folder, disconnect_grace=GRACE) as server:
        yield server


def put_agents(folder: Path) -> None:
    agents = folder / "agents"
    agents.mkdir(parents=True)
    shutil.copy(models.__file__, agents / "own.py")
    quick = {"delay": 0.0005, "think": False}
    put(agents, "recorder", "Recorder", {**quick, "trace": str(folder / "trace")})
    put(agents, "hasty", "Titler", {**quick, "title": "hasty"}, timeout=1)
    put(agents, "thinks", "Titler", {**quick, "title": "Counting", "takes": 0.3})
    put(agents, "fails", "Titler", {**quick, "way": "fail"})
    put(agents, "hangs", "Titler", {**quick, "way": "hang"})
    put(agents, "quotes", "Titler", {**quick, "title": "\"《A》 'title'\""})
    put(agents, "newlines", "Titler", {**quick, "title": "\n\n  First\tline \r\n second line\x00\x1b[0m"})
    put(agents, "long", "Titler", {**quick, "title": "很" * 500})


def put(agents: Path, name: str, model: str, options: dict[str, Any], timeout: int | None = None) -> None:
    interrupt = {"enabled": timeout is not None, "timeout_seconds": timeout or 300}
    spec = {"model": {"class": f"own:{model}", "options": options}, "interrupt": interrupt}
    if timeout is not None:
        spec["approvals"] = {"timeout_seconds": timeout}
    file = {"apiVersion": "caesura/v1", "kind": "Agent", "metadata": {"name": name}, "spec": spec}
    (agents / f"{name}.yaml").write_text(json.dumps(file))


@pytest.fixture
def prompts(server: Served) -> "Prompts":
    return Prompts(server.settings.data_dir.parent / "trace")


class Prompts:
    """The prompts of the agent `recorder`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def last(self) -> list[tuple[str, str]]:
        """The newest prompt, as pairs of role and text."""
        return [(kind, text) for kind, text in json.loads(self._path.read_text().splitlines()[-1])]
