"""Graphs of an operator that could not work: each fault is found when the file is read."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from caesura.agents.cautions import cautions
from caesura.agents.extra_versions import misfit
from caesura.agents.loader import Catalog, check
from caesura.agents.tools.registry import standard
from tests import agent_files

TOOLS = standard().names
SOURCE = """
import asyncio
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages


class Counts(TypedDict):
    count: int


class Replaces(TypedDict):
    messages: list


class Appends(TypedDict):
    messages: Annotated[list, add_messages]
    count: int


def answer(state):
    return {"messages": [AIMessage("hi")]}


def build(state=MessagesState, node=answer, compile=True, input=None, **options):
    builder = StateGraph(state, input_schema=input or state)
    builder.add_node("answer", node)
    builder.add_edge(START, "answer")
    return builder.compile(**options) if compile else builder


good = build(Appends)
make = build
draft = build(compile=False)
counts = build(Counts)
replaces = build(Replaces)
elsewhere = build(input=Counts)
before = build(interrupt_before=["answer"])
after = build(interrupt_after="*")
inner = build(node=before)
both = build(Counts, interrupt_before=["answer"])
state = {"messages": []}


@entrypoint()
def function(given):
    return {"messages": [AIMessage("hi")]}


async def later():
    return build()


def waits():
    async def made():
        return build()

    return asyncio.run(made())


def lazy():
    return later()


def given(artifact_manager, *, checkpointer):
    assert callable(artifact_manager.create_artifact)
    return build().copy({"checkpointer": checkpointer})


async def optional(tool_permissions=None, artifact_manager=None, checkpointer=None, db_path="x.db"):
    assert artifact_manager and checkpointer and tool_permissions is None
    await asyncio.sleep(0)
    return build().copy({"checkpointer": checkpointer})


async def breaks():
    raise ValueError("no luck")


async def generates():
    yield build()


def configured(config, *, store):
    return build()


def half():
    return build(compile=False)


def fails():
    raise ValueError("no key: set MY_KEY")
"""

REDUCER = "(write messages: Annotated[list, add_messages], as MessagesState has it)"
QUESTION = "(leave it out, and call interrupt() in a graph's node where a person has to decide)"
AT = "a.yaml:6: spec.graph: "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "flow.py").write_text(SOURCE)
    return folder


def line(text: str) -> int:
    return SOURCE.splitlines().index(text) + 1


def faults(folder: Path, spec: str) -> list[str]:
    agent_files.put(folder, "a", spec)
    return [str(fault) for fault in check(folder, TOOLS)]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("counts", [f"{AT}the state of the graph has no messages {REDUCER}"]),
        (
            "replaces",
            [
                f"{AT}messages in the state of the graph has no reducer that appends:"
                f" each one replaces the others {REDUCER}"
            ],
        ),
        (
            "elsewhere",
            [f"{AT}the input of the graph has no messages (add messages to the schema of its input)"],
        ),
        (
            "before",
            [
                f"{AT}the graph is compiled with interrupt_before,"
                f" which would end a turn at answer {QUESTION}",
            ],
        ),
        (
            "after",
            [
                f"{AT}the graph is compiled with interrupt_after, which would end a turn at"
                f" every graph's node {QUESTION}",
            ],
        ),
        (
            "inner",
            [
                f"{AT}the graph is compiled with interrupt_before in its subgraph answer,"
                f" which would end a turn at answer {QUESTION}",
            ],
        ),
        (
            "both",
            [
                f"{AT}the state of the graph has no messages {REDUCER}",
                f"{AT}the graph is compiled with interrupt_before,"
                f" which would end a turn at answer {QUESTION}",
            ],
        ),
        ("draft", [f"{AT}flow:draft is a graph that is not compiled (call .compile() on it)"]),
        ("half", [f"{AT}flow:half returned a graph that is not compiled (call .compile() on it)"]),
        (
            "state",
            [
                f"{AT}flow:state is not a compiled graph, but of the type dict"
                " (name a compiled graph, or a function that returns one)"
            ],
        ),
        ("later", []),
        ("lazy", []),
        ("given", []),
        ("optional", []),
        (
            "breaks",
            [
                f"flow.py:{line('async def breaks():') + 1}: flow:breaks() failed: ValueError: no luck"
                " (correct this line)"
            ],
        ),
        (
            "generates",
            [
                f"{AT}flow:generates returned not a compiled graph, but of the type async_generator"
                " (name a compiled graph, or a function that returns one)"
            ],
        ),
        (
            "configured",
            [
                f"flow.py:{line('def configured(config, *, store):')}: flow:configured needs arguments:"
                " config, store"
                " (it gets artifact_manager and checkpointer alone: give each other one a default)"
            ],
        ),
        (
            "fails",
            [
                f"flow.py:{line('def fails():') + 1}: flow:fails() failed: ValueError: no key: set MY_KEY"
                " (set MY_KEY, or correct this line)"
            ],
        ),
    ],
)
def test_a_graph_that_could_not_work_is_told(folder: Path, target: str, said: list[str]) -> None:
    assert faults(folder, f"type: langgraph\ngraph: 'flow:{target}'") == said


@pytest.mark.parametrize("target", ["good", "make", "waits", "function"])
def test_a_graph_that_works_has_no_fault(folder: Path, target: str) -> None:
    assert faults(folder, f"type: langgraph\ngraph: 'flow:{target}'") == []


@pytest.mark.parametrize(
    ("field", "remedy"),
    [
        ("system_prompt: Be brief.", "give it to the model in the graph's code"),
        ("tools: [read_file, unknown]", "a graph brings its own tools"),
        ("permissions: {send_mail: confirm}", "a graph asks by itself: use HumanInTheLoopMiddleware"),
        ("interrupt_on: [send_mail]", "a graph asks by itself: use HumanInTheLoopMiddleware"),
        ("sub_agents: [{ref: assistant}]", "use another agent, which names this one in its sub_agents"),
        ("mcp_servers: [{name: a, command: b}]", "a graph brings its own tools"),
    ],
)
def test_a_field_that_a_graph_makes_no_use_of_is_a_fault(folder: Path, field: str, remedy: str) -> None:
    (told,) = faults(folder, f"type: langgraph\ngraph: 'flow:good'\n{field}")
    name = field.partition(":")[0]
    assert told.startswith(f"a.yaml:7: spec.{name}: has no effect on a graph ({remedy}")


def test_of_the_model_what_a_title_makes_no_use_of_is_a_fault(folder: Path) -> None:
    spec = "type: langgraph\ngraph: 'flow:good'\nmodel: {primary: demo, context_tokens: 5000, idle_timeout: 4"
    assert faults(folder, f"{spec}}}") == []
    assert faults(folder, f"{spec}, context: summarise}}") == [
        "a.yaml:7: spec.model.context: has no effect on a graph (shorten the messages in the graph's code)"
    ]


CONTEXTS = """
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from langgraph.graph import MessagesState, StateGraph
from pydantic import BaseModel


def answer(state):
    return {"messages": [("ai", "hi")]}


def build(schema):
    builder = StateGraph(MessagesState, context_schema=schema)
    return builder.add_node(answer).set_entry_point("answer").compile()


@dataclass
class Known:
    user_id: str
    tenant: str = "none"


class Dictionary(TypedDict):
    turn_id: str
    tenant: str
    more: NotRequired[str]


@dataclass
class Data:
    agent: str
    tenant: str
    region: str


class Pydantic(BaseModel):
    conversation_id: str
    tenant: str
    more: int = 1


none, known, dictionary, data, pydantic = map(build, (None, Known, Dictionary, Data, Pydantic))
"""


@pytest.mark.parametrize(
    ("target", "unknown"),
    [
        ("none", ""),
        ("known", ""),
        ("dictionary", "tenant"),
        ("data", "region, tenant"),
        ("pydantic", "tenant"),
    ],
)
def test_a_context_that_no_graph_gets_is_a_caution(tmp_path: Path, target: str, unknown: str) -> None:
    (tmp_path / "flow.py").write_text(CONTEXTS)
    agent_files.put(tmp_path, "a", f"type: langgraph\ngraph: 'flow:{target}'")
    told = (
        f"agent a: the context_schema of its graph requires {unknown}, which no graph gets,"
        " so runtime.context is None (make optional what it requires besides)"
    )
    assert list(cautions(Catalog(tmp_path, TOOLS).get("a"))) == ([told] if unknown else [])


def test_a_server_does_not_offer_a_graph_with_a_fault(folder: Path) -> None:
    agent_files.put(folder, "a", "type: langgraph\ngraph: 'flow:before'")
    assert "a" not in [agent.name for agent in Catalog(folder, TOOLS).agents()]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Act as if these versions of packages were installed."""
    version = metadata.version

    def put(**versions: str) -> None:
        monkeypatch.setattr(metadata, "version", lambda name: versions.get(name) or version(name))

    return put


@pytest.mark.parametrize(
    ("version", "needed"),
    [("1.1.10", "1.2.20 or newer"), ("0.6.11", "1.2.20 or newer"), ("2.0.0rc1", "one older than 2")],
)
def test_a_langgraph_that_does_not_fit_is_told_with_what_is_needed(
    folder: Path, install: Callable[..., None], version: str, needed: str, caplog: pytest.LogCaptureFixture
) -> None:
    install(langgraph=version)
    (told,) = faults(folder, "type: langgraph\ngraph: 'flow:good'")
    assert told.startswith(
        f"a.yaml:6: spec.graph: langgraph {version} is installed, and {needed} is needed (install it: "
    )
    assert "langgraph" in told.partition("install it: ")[2]
    assert not caplog.records


def test_code_that_fails_with_an_old_langchain_is_told_that_it_is_old(
    tmp_path: Path, install: Callable[..., None]
) -> None:
    source = "from langchain.agents import create_agent, not_yet_there\n"
    (tmp_path / "flow.py").write_text(source)
    (told,) = faults(tmp_path, "type: langgraph\ngraph: 'flow:graph'")
    assert "ImportError" in told
    install(langchain="1.0.1")
    (tmp_path / "flow.py").write_text(f"{source}# again\n")
    (told,) = faults(tmp_path, "type: langgraph\ngraph: 'flow:graph'")
    assert told.startswith(
        "flow.py:1: langchain 1.0.1 is installed, and 1.4.7 or newer is needed (install it: "
    )


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("1.4.7", None),
        ("1.5", None),
        ("1.4.10", "another one"),
        ("1.4.7.dev1", None),
        ("2.0", "one older than 2"),
        ("1.4", "1.4.7 or newer"),
    ],
)
def test_versions_are_compared_as_numbers(
    install: Callable[..., None], version: str, told: str | None
) -> None:
    install(langchain=version)
    assert misfit("langchain") == (told and f"langchain {version} is installed, and {told} is needed")


def test_what_is_installed_here_fits() -> None:
    assert [misfit(extra) for extra in ("langchain", "langgraph", "unknown")] == [None] * 3
