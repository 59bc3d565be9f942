"""Traces: who asks for them gets them, and who has not installed them is told."""

import logging
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler

from caesura.http import tracing
from tests.api.reading import finished
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


@pytest.mark.parametrize("variable", ["LANGFUSE_PUBLIC_KEY", "OTEL_EXPORTER_OTLP_ENDPOINT", ""])
def test_nothing_is_watched_unless_it_is_asked_for(variable: str) -> None:
    assert tracing.callbacks({variable: "x"}) == ()


def test_what_is_asked_for_and_not_installed_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING):
        assert tracing.callbacks({"LANGFUSE_PUBLIC_KEY": "x", "LANGFUSE_SECRET_KEY": "y"}) == ()
    assert "caesura[langfuse]" in caplog.text
