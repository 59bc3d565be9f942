"""A client in JavaScript, written by the rules of this API, on a real server."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import Served
from tests.api.superagent.session import Session, said
from tests.programs import needs

CLIENT = Path(__file__).parents[2] / "node" / "superagent.mjs"

pytestmark = needs("node")


@pytest.fixture(scope="module")
def pinging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("pinging"), sse_ping_interval=0.1) as server:
        yield server


def run(
    server: Served, session: str, message: str, *inputs: dict[str, Any], agent: str = "approval-agent"
) -> dict[str, Any]:
    """Runs the client; returns what it has shown."""
    node = shutil.which("node")
    assert node is not None
    arguments = [server.url, server.token(), agent, session, message, json.dumps(inputs)]
    done = subprocess.run(
        [node, str(CLIENT), *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def test_a_confirmation_is_shown_and_given(pinging: Served) -> None:
    shown = run(pinging, "deploy-1", "部署 v2.0 到生产环境", {"confirm": True})
    assert [item["fields"][0]["type"] for item in shown["interrupts"]] == ["confirm"]
    assert shown["interrupts"][0]["reason"] in shown["text"]
    assert shown["types"][-1] == "done"
    assert shown["errors"] == []
    with pinging.client() as client:
        session = Session(client, "approval-agent", "deploy-1")
        assert shown["text"].endswith(said(session.join()))
        assert shown["content"] == said(session.join())
        assert session.waiting() == {"interrupted": False}


def test_a_confirmation_is_refused(pinging: Served) -> None:
    agreed = run(pinging, "deploy-2", "deploy v2.0", {"confirm": True})
    refused = run(pinging, "deploy-3", "deploy v2.0", {"confirm": False})
    assert agreed["text"] != refused["text"]
    assert refused["errors"] == []


def test_an_input_that_does_not_fit_is_an_error(pinging: Served) -> None:
    shown = run(pinging, "deploy-4", "deploy v2.0", {"confirm": "yes"})
    assert shown["errors"] == [{"status": 400, "error": "field confirm must be true or false"}]


def test_pings_and_long_replies_are_read(pinging: Served) -> None:
    shown = run(pinging, "wait", "wait 1 seconds", agent="assistant")
    assert (shown["text"], shown["content"]) == ("I have waited.", "I have waited.")
    assert shown["unmatched"] > 0
    counted = run(pinging, "count", "count to 1000 delay=0", agent="assistant")
    assert counted["text"].endswith("999 1000 done.")
    assert counted["content"] == counted["text"]
