"""Tracing: it works if it is configured, and a missing package is reported."""

import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import langsmith
import langsmith.utils
import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langsmith.utils import tracing_is_enabled

from caesura.http import tracing
from tests.api.reading import finished, until
from tests.api.server import Served


class Watcher(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[str] = []

    async def on_chain_start(self, *_: Any, **__: Any) -> None:
        self.seen.append("turn")

    async def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.seen.append("model")

    async def on_tool_start(self, *_: Any, **__: Any) -> None:
        self.seen.append("tool")


def test_callbacks_see_every_model_and_tool_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher()
    monkeypatch.setattr(tracing, "callbacks", lambda *_: (watcher,))
    with Served(tmp_path) as server, server.client() as client:
        finished(client, "list files")
    assert watcher.seen.count("turn") == 1
    assert watcher.seen.count("tool") == 1
    assert watcher.seen.count("model") >= 2


@pytest.fixture
def langsmith_requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The requests of LangSmith's client to a test server, with its variables set as in its manual."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as theirs:
        threading.Thread(target=theirs.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{theirs.server_address[1]}"
        for prefix in ("LANGSMITH", "LANGCHAIN"):
            monkeypatch.setenv(f"{prefix}_ENDPOINT", address)
            monkeypatch.setenv(f"{prefix}_API_KEY", "lsv2_pt_x")
            monkeypatch.setenv(f"{prefix}_TRACING_V2", "true")
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        monkeypatch.setenv("LANGCHAIN_TRACING", "true")
        langsmith.utils.get_env_var.cache_clear()  # type: ignore[attr-defined]
        yield seen
        langsmith.configure(enabled=None)
        langsmith.utils.get_env_var.cache_clear()  # type: ignore[attr-defined]
        theirs.shutdown()


def test_a_leftover_variable_sends_nothing_to_langsmith(
    tmp_path: Path, langsmith_requests: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with Served(tmp_path) as server, server.client() as client:
        finished(client, "list files")
        assert "LANGSMITH_TRACING is ignored" in caplog.text
        assert not tracing_is_enabled()
    assert langsmith_requests == []


def test_langsmith_gets_conversations_if_the_setting_allows_it(
    tmp_path: Path, langsmith_requests: list[str]
) -> None:
    with Served(tmp_path, langsmith=True) as server, server.client() as client:
        finished(client, "list files")
        until(lambda: langsmith_requests != [])


@pytest.mark.parametrize("variable", ["LANGFUSE_PUBLIC_KEY", "OTEL_EXPORTER_OTLP_ENDPOINT", ""])
def test_there_are_no_callbacks_unless_tracing_is_configured(variable: str) -> None:
    assert tracing.callbacks({variable: "x"}) == ()


def test_configured_tracing_that_is_not_installed_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING):
        assert tracing.callbacks({"LANGFUSE_PUBLIC_KEY": "x", "LANGFUSE_SECRET_KEY": "y"}) == ()
    assert "pip install -e '.[langfuse]'" in caplog.text
