"""Tracing: it works if it is configured, and a missing package is reported."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import langsmith
import langsmith.utils
import pytest
from langsmith.utils import tracing_is_enabled

from caesura.core import installs
from caesura.core.messages import Message
from caesura.engine.observers import (
    Ended,
    ModelBegins,
    Observer,
    Observers,
    RunBegins,
    ToolBegins,
    Watch,
)
from caesura.http import tracing
from caesura.http.tracing_langfuse import Langfuse
from caesura.http.tracing_otel import OpenTelemetry
from tests.api.reading import finished, until
from tests.api.server import Served


class Watcher:
    """An observer that notes what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any, Ended]] = []

    def begin(self, run: RunBegins) -> Watch:
        return _Noted(self, run)

    def callbacks(self) -> Sequence[Any]:
        return ()

    def of(self, kind: type[Any]) -> list[tuple[Any, Ended]]:
        return [(about, ended) for name, about, ended in self.seen if name == kind.__name__]


class _Noted:
    def __init__(self, watcher: Watcher, about: RunBegins | ModelBegins | ToolBegins) -> None:
        self._watcher, self._about = watcher, about

    def begin(self, call: ModelBegins | ToolBegins) -> Watch:
        return _Noted(self._watcher, call)

    def end(self, ended: Ended) -> None:
        self._watcher.seen.append((type(self._about).__name__, self._about, replace(ended)))


class Broken:
    """An observer that fails whenever it can."""

    def begin(self, run: RunBegins) -> Watch:
        raise RuntimeError("no")

    def callbacks(self) -> Sequence[Any]:
        raise RuntimeError("no")


def test_observers_see_every_model_and_tool_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher()
    monkeypatch.setattr(tracing, "observers", lambda *_: [Broken(), watcher])
    with Served(tmp_path) as server, server.client() as client:
        finished(client, "list files")
    ((run, came),) = watcher.of(RunBegins)
    assert (run.input, bool(came.output), came.failed) == ("list files", True, False)
    ((tool, came),) = watcher.of(ToolBegins)
    assert (tool.name, came.output, came.failed) == ("list_files", "(empty)", False)
    models = watcher.of(ModelBegins)
    assert len(models) >= 2
    assert all(about.model == "demo (no AI)" for about, _ in models)
    assert all(ended.usage and ended.usage["total_tokens"] > 0 for _, ended in models)
    assert any(ended.tool_calls and ended.finish_reason == "tool_calls" for _, ended in models)


def test_observers_see_what_fails_and_what_only_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher()
    monkeypatch.setattr(tracing, "observers", lambda *_: [watcher])
    with Served(tmp_path) as server, server.client() as client:
        finished(client, "fail midway")
        finished(client, "ask me 1 question")
    failed = [ended for _, _, ended in watcher.seen if ended.failed]
    assert [type(ended.error).__name__ for ended in failed] == ["DemoFailure", "ModelFailed"]
    ((tool, came),) = watcher.of(ToolBegins)
    assert (tool.name, came.pauses, came.error) == ("ask_user", True, None)


class Recorded:
    """What the libraries of OpenTelemetry and Langfuse call a tracer, a client, a span and an observation."""

    def __init__(self, name: str = "", about: dict[str, Any] | None = None) -> None:
        self.name, self.about, self.ended = name, dict(about or {}), False
        self.status: Any = None
        self.made: list[Recorded] = []

    def start_span(self, name: str, *, context: Any, attributes: dict[str, Any]) -> Recorded:
        self.made.append(Recorded(name, attributes))
        return self.made[-1]

    def get_tracer(self, name: str) -> Recorded:
        return self

    def start_observation(self, *, name: str, **about: Any) -> Recorded:
        self.made.append(Recorded(name, about))
        return self.made[-1]

    def set_attribute(self, name: str, value: Any) -> None:
        self.about[name] = value

    def set_status(self, status: Any) -> None:
        self.status = status

    def update(self, **about: Any) -> None:
        self.about |= about

    def end(self) -> None:
        self.ended = True


def followed(observer: Observer) -> None:
    """A run with a model call, and a tool call that fails."""
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, "reasoning_tokens": 2}
    with Observers([observer]).run(RunBegins("lead", "hi", "alice", "conv", "turn")) as (watching, run):
        with watching.call(ModelBegins("gpt", [Message("user", "hi")], "lead")) as ended:
            ended.output, ended.usage, ended.finish_reason = "hello", usage, "stop"
        with pytest.raises(ValueError, match="hunter2"), watching.call(ToolBegins("look", "c", {"at": "x"})):
            raise ValueError("hunter2")
        run.output = "done"


def test_opentelemetry_gets_spans_with_tokens_and_without_what_is_said() -> None:
    tracer = Recorded()
    followed(OpenTelemetry(tracer))
    run, model, tool = tracer.made
    assert [span.name for span in tracer.made] == ["invoke_agent lead", "chat gpt", "execute_tool look"]
    assert run.about["gen_ai.conversation.id"] == "conv"
    assert model.about["gen_ai.usage.input_tokens"] == 3
    assert model.about["gen_ai.usage.output_tokens"] == 4
    assert model.about["gen_ai.response.finish_reasons"] == ["stop"]
    assert (tool.about["gen_ai.tool.call.id"], tool.about["error.type"]) == ("c", "ValueError")
    assert tool.status is not None
    assert all(span.ended for span in tracer.made)
    assert not any(said in str(span.about) for said in ("hello", "hunter2", "done") for span in tracer.made)


def test_langfuse_gets_an_agent_with_generations_and_tools_below_it() -> None:
    client = Recorded()
    followed(Langfuse(client))
    (run,) = client.made
    assert (run.name, run.about["as_type"], run.about["input"], run.about["output"]) == (
        "lead",
        "agent",
        "hi",
        "done",
    )
    model, tool = run.made
    assert (model.about["as_type"], model.about["model"], model.about["output"]) == (
        "generation",
        "gpt",
        "hello",
    )
    assert model.about["input"] == [{"role": "user", "content": "hi"}]
    assert model.about["usage_details"] == {"input": 3, "output": 4, "total": 7, "output_reasoning": 2}
    assert (tool.about["as_type"], tool.about["level"], tool.about["status_message"]) == (
        "tool",
        "ERROR",
        "ValueError",
    )
    assert all(item.ended for item in (run, model, tool))


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
def test_nobody_observes_unless_tracing_is_configured(variable: str) -> None:
    assert tracing.observers({variable: "x"}, None, langsmith=False) == []


def test_configured_tracing_that_is_not_installed_is_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with caplog.at_level(logging.WARNING):
        keys = {"LANGFUSE_PUBLIC_KEY": "x", "LANGFUSE_SECRET_KEY": "y"}
        assert tracing.observers(keys, None, langsmith=False) == []
    assert f"not installed: {installs.add_extra('langfuse')}" in caplog.text
