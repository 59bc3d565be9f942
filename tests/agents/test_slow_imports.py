"""Code of an agent that takes long to import, or never ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from caesura.agents.loader import Catalog
from caesura.agents.tools.registry import standard
from tests import agent_files

NAMES = standard().names


def put_slow(folder: Path, *agents: str) -> Path:
    """Agents whose code waits for the file that is returned."""
    go = folder / "go"
    lines = ["import pathlib, time", f"while not pathlib.Path({str(go)!r}).exists():", "    time.sleep(0.01)"]
    folder.joinpath("slow.py").write_text("\n".join([*lines, "def find() -> str: ..."]))
    for agent in agents:
        agent_files.put(folder, agent, "tools: [slow:find]")
    return go


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def names(catalog: Catalog) -> list[str]:
    return [agent.name for agent in catalog.agents()]


def test_code_that_blocks_is_a_fault_of_its_agent_and_used_when_it_ends(tmp_path: Path) -> None:
    go = put_slow(tmp_path, "a", "b")
    agent_files.put(tmp_path, "good", "description: Good.")
    try:
        catalog = Catalog(tmp_path, NAMES, builtin=None, interval=0, limit=0.3)
        until(lambda: names(catalog) == ["good"] and len(catalog.faults) == 2)
        waiting, blocking = sorted(map(str, catalog.faults))
        told = "is still being imported after 0.3 seconds (do slow work inside of functions"
        assert blocking.startswith(("slow.py:2: the code", "slow.py:3: the code"))
        assert f"a.yaml names {told}" in blocking
        assert f"b.yaml names {told}" in waiting
    finally:
        go.touch()
    until(lambda: names(catalog) == ["a", "b", "good"])
    assert catalog.faults == ()
    assert all(agent.own for agent in catalog.agents() if agent.name != "good")


def test_a_file_that_was_corrected_does_not_wait_for_the_old_one(tmp_path: Path) -> None:
    go = put_slow(tmp_path, "a")
    try:
        catalog = Catalog(tmp_path, NAMES, builtin=None, interval=0, limit=0.2)
        assert names(catalog) == []
        tmp_path.joinpath("slow.py").write_text("def find() -> str: ...")
        until(lambda: names(catalog) == ["a"])
        assert catalog.faults == ()
    finally:
        go.touch()


def test_other_agents_are_reloaded_and_the_end_does_not_wait(tmp_path: Path) -> None:
    agent_files.put(tmp_path, "good", "description: Old.")
    catalog = Catalog(tmp_path, NAMES, builtin=None, interval=0.02, limit=3600)
    catalog.watch()
    go = put_slow(tmp_path, "a")
    try:
        until(lambda: bool(catalog._attempts))
        agent_files.put(tmp_path, "good", "description: New.")
        until(lambda: catalog.get("good").description == "New.")
        assert names(catalog) == ["good"]
        catalog.close()
    finally:
        go.touch()
