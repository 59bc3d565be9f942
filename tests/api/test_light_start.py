"""A server that needs no LangChain and no MCP loads none of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from caesura.store.open import open_database
from tests import agent_files
from tests.openai_server import Call, Say, Server

#: Serves, chats as a client of its own, and prints the text of the reply and the packages that are loaded.
_SERVE = """
import asyncio, json, os, signal, sys, threading
from caesura.app import serve
from caesura.client import Client
from caesura.core.events import SegmentEnded, ToolFinished
from caesura.core.fold import fold
from caesura.settings import Settings

async def chat(url):
    async with Client(url) as client:
        conversation = await client.create("tester")
        turn = await client.send(conversation.id, "list files")
        events = [item.event async for item in client.events(turn.id)]
    tools = [event.output for event in events if isinstance(event, ToolFinished)]
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    print(json.dumps([fold(events).text, tools, loaded]), flush=True)

def talk(url):
    try:
        asyncio.run(chat(url))
    finally:
        os.kill(os.getpid(), signal.SIGTERM)

settings = Settings.load(data_dir=sys.argv[1], agents_dir=sys.argv[2], auth="none", port=0)
serve(settings, lambda url: threading.Thread(target=talk, args=(url,)).start())
"""
_FORBIDDEN = ("langchain", "langgraph", "langsmith", "langfuse", "mcp", "httpx2")


def served(folder: Path) -> tuple[str, list[str], list[str]]:
    command = [sys.executable, "-c", _SERVE, str(folder / "data"), str(folder / "agents")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert ran.stdout, ran.stderr
    text, tools, loaded = json.loads(ran.stdout)
    return text, tools, [name for name in loaded if name.startswith(_FORBIDDEN)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TEST_KEY", "sk-test")
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    return tmp_path


def test_the_demo_model_needs_no_langchain(folder: Path) -> None:
    agent_files.put(folder / "agents", "tester", "tools: [list_files]\nmodel: {primary: demo}\n")
    text, tools, loaded = served(folder)
    assert "list_files" in text
    assert tools == ["(empty)"]
    assert loaded == []


def test_a_built_in_client_needs_no_langchain(folder: Path) -> None:
    with Server() as provider:
        desk = provider.desk()
        desk.script(Say("I look.", [Call("list_files", {"path": "."})]), Say("Nothing there."))
        model = f"{{primary: 'openai:test', base_url: '{desk.base_url}', api_key_env: TEST_KEY}}"
        agent_files.put(folder / "agents", "tester", f"tools: [list_files]\nmodel: {model}\n")
        assert served(folder) == ("Nothing there.", ["(empty)"], [])


#: Serves as `caesura serve` does, answers one request, and prints the modules that are loaded, and whether a
#: model of the native API is built.
_START = """
import json, os, signal, sys, threading, urllib.request
from caesura.cli import main, serving

usual = serving._greet

def ask(url):
    with urllib.request.urlopen(url + "/health") as answer:
        answer.read()
    from caesura.dialects.native.replies import Me
    print(json.dumps([sorted(sys.modules), Me.__pydantic_complete__]), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

def greet(settings, url):
    usual(settings, url)
    threading.Thread(target=ask, args=(url,)).start()

serving._greet = greet
sys.argv = ["caesura", "serve", "--port", "0", "--data-dir", sys.argv[1]]
main()
"""
_LATER = (
    *("alembic", "argon2", "httpx", "mcp", "psycopg", "pygments", "redis", "rich"),
    *("caesura.models.anthropic", "caesura.models.openai"),
    "sqlalchemy.dialects.postgresql",
)


async def _migrate(url: str) -> None:
    await (await open_database(url)).close()


def test_a_start_on_a_current_database_leaves_the_rest_for_later(tmp_path: Path) -> None:
    asyncio.run(_migrate(f"sqlite:///{tmp_path}/caesura.db"))
    command = [sys.executable, "-c", _START, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert ran.stdout, ran.stderr
    loaded, built = json.loads(ran.stdout)
    assert "caesura.dialects.native.routes" in loaded
    assert [name for name in loaded if name in _LATER] == []
    assert not built
