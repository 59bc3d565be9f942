"""Names of uvicorn, httpx2, LangChain and LangGraph that are not documented for others, and that Caesura
relies on.

An upgrade may move or change them without notice. When a test here fails after an upgrade, read the named
file of Caesura, adapt it to the new version, and then change this list.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import re
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import httptools
import httpx2
import pytest
import uvicorn
from httpcore2 import AsyncNetworkBackend
from langchain.chat_models import base
from langchain_core.messages import AIMessageChunk, ai
from langgraph._internal import _constants as constants
from langgraph.checkpoint.serde import types
from langgraph.pregel._loop import AsyncPregelLoop
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from caesura.http.protocol import Protocol

LOCKS = Path("requirements")
LIBRARIES = (
    *("httpcore2", "httptools", "httpx2", "langchain", "langchain-core", "langgraph"),
    *("langgraph-checkpoint", "uvicorn"),
)


class Name(NamedTuple):
    """A function: where it is, what parameters Caesura expects, and the file that relies on it with the
    reason."""

    place: str
    parameters: str
    reason: str


_HTTPTOOLS = "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol"
NAMES = [
    Name("uvicorn:Server._serve", "self, sockets=", "http/server.py calls it and keeps the signal handlers"),
    Name("uvicorn:Server.capture_signals", "self", "http/server.py wraps `_serve` in it"),
    Name("uvicorn:Server.on_tick", "self, counter", "http/server.py checks all connections once a second"),
    Name("uvicorn:Server.shutdown", "self, sockets=", "http/server.py releases the runs before it"),
    Name("uvicorn:Server.handle_exit", "self, sig, frame", "http/server.py bounds the time of a shutdown"),
    Name(
        f"{_HTTPTOOLS}._start_asgi_task",
        "self, cycle, app",
        "http/protocol.py learns which request runs",
    ),
    Name(
        f"{_HTTPTOOLS}._unset_keepalive_if_required",
        "self",
        "http/protocol.py closes idle connections",
    ),
    Name(f"{_HTTPTOOLS}.connection_made", "self, transport", "http/protocol.py counts the connection"),
    Name(f"{_HTTPTOOLS}.connection_lost", "self, exc", "http/protocol.py tells the active request"),
    Name(f"{_HTTPTOOLS}.resume_writing", "self", "http/protocol.py measures how fast a client reads"),
    Name(f"{_HTTPTOOLS}.on_message_begin", "self", "http/protocol.py starts the request's time"),
    Name(f"{_HTTPTOOLS}.on_url", "self, url", "http/protocol.py limits the URL"),
    Name(f"{_HTTPTOOLS}.on_headers_complete", "self", "http/protocol.py limits the headers"),
    Name(f"{_HTTPTOOLS}.on_body", "self, body", "http/protocol.py counts what is not yet a body"),
    Name(f"{_HTTPTOOLS}.on_message_complete", "self", "http/protocol.py ends the request's time"),
    Name(f"{_HTTPTOOLS}.on_response_complete", "self", "http/protocol.py goes on with the next request"),
    Name(
        "langchain_core.language_models:BaseChatModel._astream",
        "self, messages, stop=, run_manager=, **kwargs",
        "models/langchain.py reads a model's own stream: `astream` costs twice as much",
    ),
    Name(
        "langchain_core.language_models:BaseChatModel._should_stream",
        "self, *, async_api, run_manager=, **kwargs",
        "models/langchain.py asks whether the model streams at all",
    ),
    Name(
        "langchain_core.utils._merge:merge_lists",
        "left, *others",
        "models/langchain_arguments.py calls it for few lists at a time",
    ),
    Name(
        "langchain_core.utils.json:parse_partial_json",
        "s, *, strict=",
        "models/langchain_arguments.py replaces it in langchain_core.messages.ai",
    ),
    Name(
        "langchain.chat_models.base:_attempt_infer_model_provider",
        "model_name",
        "agents/langchain_models.py finds the provider of a model that is named without one",
    ),
]


def _original(found: Any) -> Any:
    """The function itself, if sse_starlette, which comes with the package `mcp`, has replaced it."""
    status = getattr(sys.modules.get("sse_starlette.sse"), "AppStatus", None)
    return status.original_handler if status is not None and found == status.handle_exit else found


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.place.rpartition(":")[2])
def test_a_function_is_where_it_was_and_takes_what_it_took(name: Name) -> None:
    module, _, path = name.place.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
        assert found is not None, f"{name.place} is gone ({name.reason})"
    assert _parameters(_original(found)) == name.parameters, (
        f"{name.place} takes other arguments ({name.reason})"
    )


def test_the_attributes_of_a_uvicorn_server_are_there() -> None:
    """http/server.py reads and sets them."""
    server = uvicorn.Server(uvicorn.Config(_nothing, log_config=None))
    assert (server.should_exit, server.force_exit, server._captured_signals) == (False, False, [])


async def test_the_attributes_of_a_uvicorn_connection_and_its_requests_are_there() -> None:
    """http/protocol.py reads and sets them. Two requests come in one piece, so the second one is queued."""
    state = ServerState()
    protocol = HttpToolsProtocol(uvicorn.Config(_nothing, ws="none", log_config=None), state, {})
    transport = _Transport()
    protocol.connection_made(transport)
    protocol.data_received(b"GET / HTTP/1.1\r\n\r\n" * 2)
    _has(protocol, "client", "cycle", "flow", "headers", "loop", "parser", "pipeline", "scope", "transport")
    _has(protocol, "url")
    assert protocol.transport is transport
    assert isinstance(protocol.parser, httptools.HttpRequestParser)
    queued, _ = protocol.pipeline[0]
    assert queued is protocol.cycle, "http/protocol.py expects the newest request first in the queue"
    assert isinstance(queued, RequestResponseCycle)
    _has(queued, "disconnected", "keep_alive", "message_event", "response_complete", "response_started")
    assert queued.scope is protocol.scope
    _has(protocol.flow, "pause_reading", "resume_reading")
    assert {*Protocol.__dict__} & {*vars(protocol)} == {"url"}, "uvicorn uses a name of http/protocol.py"
    for task in state.tasks:
        task.cancel()
    await asyncio.gather(*state.tasks, return_exceptions=True)


def test_the_status_lines_of_uvicorn_are_whole_lines() -> None:
    """http/protocol.py begins its own responses with them."""
    assert STATUS_LINE[429] == b"HTTP/1.1 429 Too Many Requests\r\n"


def test_uvicorn_ticks_ten_times_a_second() -> None:
    """http/server.py counts ten ticks for a second."""
    assert "asyncio.sleep(0.1)" in inspect.getsource(uvicorn.Server.main_loop)


@pytest.mark.parametrize(
    ("user", "name"),
    [(AIMessageChunk.init_tool_calls, "parse_partial_json"), (ai.add_ai_message_chunks, "merge_lists")],
)
def test_langchain_looks_up_the_two_names_that_are_replaced(user: Callable[..., Any], name: str) -> None:
    """models/langchain_arguments.py sets both in langchain_core.messages.ai."""
    assert name in user.__code__.co_names
    assert name in vars(ai)


async def test_a_transport_of_httpx2_has_a_pool_whose_backend_can_be_replaced() -> None:
    """agents/mcp/interim.py counts the interim responses in it."""
    async with httpx2.AsyncHTTPTransport() as transport:
        assert isinstance(transport._pool._network_backend, AsyncNetworkBackend)


def test_langchain_lists_its_providers_with_their_packages() -> None:
    """agents/langchain_models.py checks a provider's name and says what to install."""
    assert base._BUILTIN_PROVIDERS["openai"][0] == "langchain_openai"
    assert base._BUILTIN_PROVIDERS["google_vertexai"][0].split(".")[0] == "langchain_google_vertexai"
    assert base._attempt_infer_model_provider("gpt-5") == "openai"


def test_the_checkpoint_channels_of_langgraph_have_their_names() -> None:
    """engine/graphs/saver.py keeps writes of these channels in a place of their own."""
    assert (types.ERROR, types.RESUME) == ("__error__", "__resume__")


def test_langgraph_tells_a_checkpointer_whether_a_graph_goes_on_and_in_which_graphs_it_is() -> None:
    """engine/graphs/saver.py reads the one, and takes back the other."""
    assert (constants.CONFIG_KEY_RESUMING, constants.CONFIG_KEY_CHECKPOINT_MAP) == (
        "__pregel_resuming",
        "checkpoint_map",
    )
    assert "self.config[CONF].pop(CONFIG_KEY_RESUMING, None)" in inspect.getsource(AsyncPregelLoop)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_installed_version_is_the_locked_one(library: str) -> None:
    """Everybody who runs these tests runs them with the versions that a user gets."""
    for lock in ("run.txt", "dev.txt") if library in ("httptools", "uvicorn") else ("dev.txt",):
        locked = re.findall(rf"^{library}==(\S+)", (LOCKS / lock).read_text(), re.MULTILINE)
        assert locked == [version(library)], f"requirements/{lock} and the installed {library} differ"


def _parameters(function: Callable[..., Any]) -> str:
    """The names of the parameters, as Python writes them. A parameter with a default ends in `=`."""
    signature = inspect.signature(function)
    bare = [
        each.replace(
            annotation=inspect.Parameter.empty,
            default=inspect.Parameter.empty if each.default is inspect.Parameter.empty else _DEFAULT,
        )
        for each in signature.parameters.values()
    ]
    made = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
    return str(made).strip("()")


class _Default:
    def __repr__(self) -> str:
        return ""


_DEFAULT = _Default()


def _has(thing: object, *names: str) -> None:
    missing = [name for name in names if not hasattr(thing, name)]
    assert not missing, f"{type(thing).__name__} of uvicorn lacks {missing}"


class _Transport(asyncio.Transport):
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.Event().wait()
