"""The guide "Your first agent in five minutes": its commands are run as printed, against a real server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from caesura.agents.loader import check
from caesura.agents.tools.registry import standard
from caesura.cli import drafts
from caesura.core.errors import StartupError
from tests.servers.server import free_port

GUIDE = Path(__file__).parents[2] / "docs" / "first-agent.md"
BLOCK = re.compile(r"^```(sh|text|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE = 120.0


def blocks() -> list[tuple[str, str]]:
    return [(kind, body) for kind, body in BLOCK.findall(GUIDE.read_text())]


def environ(folder: Path) -> dict[str, str]:
    """That of a person without keys, whose server has a port of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
    port = free_port()
    return kept | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "CAESURA_PORT": str(port),
        "CAESURA_URL": f"http://127.0.0.1:{port}",
    }


def until_served(url: str) -> None:
    over = time.monotonic() + PATIENCE
    while time.monotonic() < over:
        try:
            if httpx.get(f"{url}/api/v2/agents", trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


@pytest.mark.timeout(600)
def test_the_guide_works_as_it_is_printed(tmp_path: Path) -> None:
    own, said, served = environ(tmp_path), "", list[subprocess.Popen[bytes]]()
    try:
        for kind, body in blocks():
            if kind == "sh" and body.startswith("caesura serve"):
                served.append(subprocess.Popen(["bash", "-c", f"exec {body}"], cwd=tmp_path, env=own))
                until_served(own["CAESURA_URL"])
            elif kind == "sh":
                command = ["bash", "-euo", "pipefail", "-c", body]
                done = subprocess.run(
                    command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False
                )
                said = done.stdout
                assert done.returncode == 0, f"{body}\n{said}\n{done.stderr}"
            elif kind == "text":
                check_in_order(said, body.splitlines())
            else:
                code = (tmp_path / "agents" / "tools_shop.py").read_text()
                assert all(line.strip() in code for line in body.splitlines())
    finally:
        for server in served:
            server.terminate()
            server.wait(PATIENCE)
    assert served


def check_in_order(said: str, lines: list[str]) -> None:
    """Each line of the guide is a part of what was printed, one after the other."""
    place = 0
    for line in lines:
        found = said.find(line, place)
        assert found >= 0, f"{line!r} is not in {said!r} after {place}"
        place = found + len(line)


def test_a_new_agent_overwrites_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    drafts.agent("my-shop", folder)
    files = {path.name: path.read_text() for path in folder.iterdir()}
    assert sorted(files) == ["my-shop.yaml", "test_my_shop.py", "tools_my_shop.py"]
    with pytest.raises(StartupError, match="is there already"):
        drafts.agent("my-shop", folder)
    assert files == {path.name: path.read_text() for path in folder.iterdir()}
    assert check(folder, standard().names) == []


def test_a_new_agent_may_take_the_place_of_a_built_in_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts.agent("assistant", tmp_path)
    assert "ships with Caesura: yours is used in its place" in capsys.readouterr().out
    drafts.agent("my-shop", tmp_path)
    assert "ships with" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["../x", "Shop", "", "a b", "x" * 61])
def test_a_new_agent_needs_a_name_that_an_agent_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(StartupError, match="cannot be the name of an agent"):
        drafts.agent(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
