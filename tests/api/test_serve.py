"""The server as a process: how it starts, how it refuses to, and how signals end it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import caesura
from caesura.core.errors import StartupError
from tests import agent_files
from tests.api.reading import Event, conversation, events, follow, send, text, until
from tests.api.server import Served
from tests.servers.server import free_port

PROGRAM = """
import sys
from caesura.core.errors import StartupError
try:
    from caesura.cli.serving import serve
    serve({})
except StartupError as error:
    sys.exit(str(error))
"""


def environment(folder: Path, **settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
    chosen = {"PORT": str(free_port()), "AUTH": "none", "DATA_DIR": str(folder / "data"), **settings}
    return kept | {f"CAESURA_{name}": value for name, value in chosen.items()}


@contextmanager
def served(
    folder: Path, program: str = PROGRAM, **settings: str
) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    env = environment(folder, **settings)
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{env['CAESURA_PORT']}", timeout=30) as client:
                ready(process, client)
                yield process, client
        finally:
            process.kill()


def ready(process: subprocess.Popen[str], client: httpx.Client) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if client.get("/ready").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
        assert process.poll() is None, process.communicate()[1]
    raise AssertionError("the server did not start")


def test_sigterm_shuts_down_cleanly_and_the_next_server_continues(tmp_path: Path) -> None:
    with served(tmp_path, DRAIN="0.3") as (process, client):
        turn = send(client, conversation(client), "count to 200 delay=0.01")
        seen: list[Event] = []

        def read() -> None:
            for event in follow(client, turn["id"]):
                seen.append(event)
                if len(seen) == 5:
                    process.send_signal(signal.SIGTERM)

        with pytest.raises((httpx.NetworkError, httpx.RemoteProtocolError)):  # cut, not ended
            read()
        assert process.wait(30) == 0
        log = process.stderr.read() if process.stderr else ""
        assert "Traceback" not in log
    with served(tmp_path) as (process, client):
        rest = events(client, turn["id"], int(seen[-1].id))
        client.get("/api/v2/me", headers={"X-Request-ID": "req-7"})
        assert rest[0].seq == seen[-1].seq + 1
        assert text(seen + rest) == " ".join(map(str, range(1, 201))) + " done."
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=30)
        assert process.returncode == 0
        assert f"Caesura {caesura.__version__} is at {str(client.base_url).rstrip('/')}" in log
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        (asked,) = [line for line in lines if line.get("path") == "/api/v2/me"]
        assert (asked["request"], asked["status"], asked["level"]) == ("req-7", 200, "info")


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    with served(tmp_path, DRAIN="60") as (process, client):
        turn = send(client, conversation(client), "wait 50 seconds")
        next(iter(follow(client, turn["id"])))  # a run that has not begun is left to the next server at once
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def test_a_wrong_setting_is_reported_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment(tmp_path, PORT="x"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "CAESURA_PORT" in line


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"default_agent": "nobody"}, "CAESURA_DEFAULT_AGENT: agent not found: nobody"),
        (
            {"default_agent": "nobody", "built_in_agents": False},
            "CAESURA_DEFAULT_AGENT: agent not found: nobody;"
            " with CAESURA_BUILT_IN_AGENTS=false there are approval-agent, assistant",
        ),
        (
            {"built_in_agents": False, "agents_dir": None},
            "CAESURA_BUILT_IN_AGENTS=false leaves no agent: set CAESURA_AGENTS_DIR",
        ),
        (
            {"built_in_agents": False, "agents_dir": "/usr/share"},
            "CAESURA_BUILT_IN_AGENTS=false leaves no agent: no agent in CAESURA_AGENTS_DIR=/usr/share can be",
        ),
        ({"model": "foo:bar"}, "CAESURA_MODEL: unknown model provider: foo"),
        ({"model": "openai:gpt-4o"}, "CAESURA_MODEL: model openai:gpt-4o needs a key: set OPENAI_API_KEY"),
        ({"model_map": "gpt-4o=foo:bar"}, "CAESURA_MODEL_MAP: gpt-4o=foo:bar: unknown model provider: foo"),
        ({"agents_dir": "/nowhere"}, "CAESURA_AGENTS_DIR: there is no folder /nowhere"),
        ({"database_url": "sqlite:////proc/nowhere/x.db"}, "cannot be opened"),
        ({"host": "203.0.113.1"}, "cannot listen on 203.0.113.1"),
    ],
)
def test_an_error_at_the_start_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(StartupError) as error:
        Served(tmp_path, **settings).start()
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_without_the_built_in_agents_only_those_of_the_folder_exist(tmp_path: Path) -> None:
    with Served(tmp_path) as server, server.client() as client:
        made = client.post("/api/v2/conversations", json={"agent": "lead_agent"}).json()["id"]
        assert len(client.get("/api/v2/agents").json()["agents"]) == 5
    with Served(tmp_path, built_in_agents=False) as server, server.client() as client:
        names = [agent["name"] for agent in client.get("/api/v2/agents").json()["agents"]]
        assert names == ["approval-agent", "assistant"]
        assert client.post("/api/v2/conversations", json={"agent": "lead_agent"}).status_code == 404
        assert client.get(f"/api/v2/conversations/{made}/snapshot").status_code == 200
        refused = client.post(f"/api/v2/conversations/{made}/turns", json={"content": "echo hi"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "agent_changed")


def test_a_replaced_name_that_no_agent_has_is_reported_at_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "agents").mkdir(exist_ok=True)
    (tmp_path / "agents" / "one.yaml").write_text(
        "apiVersion: caesura/v1\nkind: Agent\n"
        'metadata: {name: one, version: "1.2"}\nspec: {model: {primary: gpt-4o}}\n'
    )
    with Served(tmp_path, model_map="gpt-4o=demo,gpt-4=demo") as server, server.client() as client:
        own = {agent["id"]: agent["version"] for agent in client.get("/api/v1/agents").json()["agents"]}
        native = {agent["name"]: agent for agent in client.get("/api/v2/agents").json()["agents"]}
    said = [record.getMessage() for record in caplog.records if "MODEL_MAP" in record.getMessage()]
    assert said == ["CAESURA_MODEL_MAP: no agent names the model gpt-4"]
    assert (own["one"], native["one"]["metadata_version"]) == ("1.2", "1.2")
    assert native["one"]["version"] != "1.2"
    assert native["assistant"]["metadata_version"] is None
    assert own["assistant"] == native["assistant"]["version"]


def test_a_faulty_agent_file_is_reported_at_the_start_and_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "one.yaml").write_text("kind: Agent\n")
    with Served(tmp_path) as server, server.client() as client:
        (agents / "two.yaml").write_text("kind: [\n")
        until(lambda: client.get("/api/v2/agents").status_code == 200 and "two.yaml" in caplog.text)
    said = [record.getMessage() for record in caplog.records if record.name == "caesura.resources"]
    assert said[0] == "an agent file is at fault: one.yaml:1: apiVersion: is required"


def test_a_model_without_a_key_is_reported_at_the_start_and_when_the_file_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    agent_files.put(tmp_path / "agents", "one", "model: {primary: demo, fallbacks: [deepseek:x]}")
    with Served(tmp_path) as server, server.client() as client:
        agent_files.put(tmp_path / "agents", "one", 'model: {primary: "anthropic:x"}')
        until(lambda: client.get("/api/v2/agents").status_code == 200 and "anthropic:x" in caplog.text)
    said = [record.getMessage() for record in caplog.records if record.name == "caesura.resources"]
    assert [line for line in said if "needs a key" in line] == [
        "agent one: model deepseek:x needs a key: set DEEPSEEK_API_KEY"
        " (skipped until then: the agent's other models answer)",
        "agent one: model anthropic:x needs a key: set ANTHROPIC_API_KEY"
        " (its turns fail until then: it has no other model)",
    ]


def test_what_may_be_wrong_with_an_agent_is_reported_at_the_start_and_when_the_file_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent_files.put(tmp_path / "agents", "one", "tools: [read_file, read_file]")
    with Served(tmp_path) as server, server.client() as client:
        agent_files.put(tmp_path / "agents", "one", "tools: [list_files, list_files]")
        until(lambda: client.get("/api/v2/agents").status_code == 200 and "list_files" in caplog.text)
    said = [record.getMessage() for record in caplog.records if record.name == "caesura.resources"]
    assert [line for line in said if "2 times" in line] == [
        f"agent one: {tool} is listed 2 times in spec.tools (once is enough)"
        for tool in ("read_file", "list_files")
    ]


def test_a_port_in_use_is_reported_before_anything_is_opened(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(StartupError, match="cannot listen"):
            Served(tmp_path, port=other.getsockname()[1])
    assert not (tmp_path / "data").exists()


def test_two_servers_do_not_share_one_file(tmp_path: Path) -> None:
    with Served(tmp_path), pytest.raises(StartupError, match="in use by another Caesura process"):
        Served(tmp_path).start()


def test_sigterm_ends_a_process_whose_event_loop_is_blocked(tmp_path: Path) -> None:
    agents = tmp_path / "own-agents"
    agent_files.put(agents, "blocks", "model: {class: 'tests.engine.odd_models:Blocks'}\ntools: []\n")
    with served(tmp_path, DRAIN="0.3", AGENTS_DIR=str(agents)) as (process, client):
        made = client.post("/api/v2/conversations", json={"agent": "blocks"}).json()["id"]
        turn = send(client, made, "go")
        assert "text_delta" in (event.name for event in follow(client, turn["id"]))
        time.sleep(1)  # by now the model blocks the event loop
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
