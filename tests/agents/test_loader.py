"""The catalog: loading, faults, changing files."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from caesura.agents import definition
from caesura.agents.definition import Reading
from caesura.agents.faults import Fault
from caesura.agents.loader import Agent, Catalog, check, schema
from caesura.agents.tools import registry
from caesura.core.errors import NotFound
from tests import agent_files

TOOLS = registry.standard().names

MODEL_FILE = """
from caesura.agents.demo.model import DemoModel

class Own(DemoModel):
    greeting: str = "{greeting}"
"""
GRAPH_FILE = """
from langgraph.graph import MessagesState, StateGraph

def answer(state):
    return {"messages": [("ai", "hi")]}

def factory():
    return StateGraph(MessagesState).add_node(answer).set_entry_point("answer").compile()

graph = factory()
draft = StateGraph(MessagesState)
number = 7
"""


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def put(folder: Path, file: str, text: str) -> Path:
    path = folder / file
    path.write_text(text, encoding="utf-8")
    return path


def agent(name: str, spec: str = "{}") -> str:
    return f"apiVersion: superagent/v1\nkind: Agent\nmetadata:\n  name: {name}\nspec: {spec}\n"


def catalog(folder: Path | None, clock: Clock | None = None) -> Catalog:
    return Catalog(folder, TOOLS, clock=clock or Clock())


def names(found: Catalog) -> list[str]:
    return [item.name for item in found.agents()]


def told(folder: Path) -> list[tuple[str, int, str, str]]:
    return [(fault.file, fault.line, fault.field, fault.message) for fault in check(folder, TOOLS)]


def test_the_built_in_agents_have_no_faults() -> None:
    found = catalog(None)
    assert names(found) == ["approval-agent", "assistant", "crawl_agent", "lead_agent", "search_agent"]
    assert found.faults == ()
    assert found.get("approval-agent").spec.interrupt.enabled


def test_the_yaml_of_the_documentation_of_the_superagent_api_loads(tmp_path: Path) -> None:
    put(
        tmp_path,
        "approval.yaml",
        'apiVersion: superagent/v1\nkind: Agent\nmetadata:\n  name: approval\n  version: "1.0.0"\nspec:\n'
        "  type: chat_model_agent\n  model:\n    primary: gpt-4o\n  system_prompt: |\n    审批助手。\n"
        "  interrupt:\n    enabled: true\n    checkpoint_backend: redis\n    timeout_seconds: 300\n"
        "  memory:\n    backend: builtin\n",
    )
    assert told(tmp_path) == []
    assert catalog(tmp_path).get("approval").mirrored


def test_an_unknown_agent_is_not_found() -> None:
    with pytest.raises(NotFound, match="agent not found: nobody"):
        catalog(None).get("nobody")


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", "apiVersion: [\n")
    put(tmp_path, "b.yml", agent("b"))
    found = catalog(tmp_path)
    assert "b" in names(found)
    assert [fault.file for fault in found.faults] == ["a.yaml"]


@pytest.mark.parametrize("spec", ["graph: {}:graph", "tools: ['{}:tool']", "model: {{class: '{}:Model'}}"])
def test_a_module_with_a_name_that_no_file_can_have_is_a_fault_of_its_file_alone(
    tmp_path: Path, spec: str
) -> None:
    put(tmp_path, "good.yaml", agent("good"))
    put(tmp_path, "bad.yaml", agent("bad", f"{{{spec.format('m' * 280)}}}"))
    found = catalog(tmp_path)
    assert found.get("good").name == "good"
    assert {fault.file for fault in found.faults} == {"bad.yaml"}


def test_an_error_that_nobody_has_foreseen_is_a_fault_of_its_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "good.yaml", agent("good"))
    bad = put(tmp_path, "bad.yaml", agent("bad"))
    read = definition.read

    def failing(path: Path, *args: Any, **more: Any) -> Reading:
        if path == bad:
            raise RuntimeError("out of the blue")
        return read(path, *args, **more)

    monkeypatch.setattr(definition, "read", failing)
    found = catalog(tmp_path)
    assert found.get("good").name == "good"
    assert list(map(str, found.faults)) == ["bad.yaml: cannot be read: RuntimeError: out of the blue"]


def test_an_unknown_field_is_reported_with_line_field_and_remedy(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "\n  model:\n    primary: demo\n    temprature: 1\n  colour: red"))
    faults = check(tmp_path, TOOLS)
    assert [(f.line, f.field, f.message, f.remedy) for f in faults] == [
        (8, "spec.model.temprature", "unknown field", "did you mean temperature?"),
        (9, "spec.colour", "unknown field", faults[1].remedy),
    ]
    assert "known here: approvals, description" in faults[1].remedy
    assert str(faults[0]) == "a.yaml:8: spec.model.temprature: unknown field (did you mean temperature?)"


def test_wrong_types_and_missing_fields_are_reported_where_they_stand(tmp_path: Path) -> None:
    text = "apiVersion: other/v1\nkind: Agent\nmetadata:\n  version: 1\nspec:\n  tools: execute\n"
    put(tmp_path, "a.yaml", text + "  interrupt:\n    enabled: 3\n  interrupt_on: yes please\n")
    assert told(tmp_path) == [
        ("a.yaml", 1, "apiVersion", "must be 'superagent/v1' or 'caesura/v1'"),
        ("a.yaml", 3, "metadata.name", "is required"),
        ("a.yaml", 6, "spec.tools", "must be a list, not a text"),
        ("a.yaml", 8, "spec.interrupt.enabled", "must be true or false, not a number"),
        ("a.yaml", 9, "spec.interrupt_on", "must be a list, not a text"),
    ]


def test_a_file_that_is_no_mapping_is_reported(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", "- 1\n- 2\n")
    assert len(told(tmp_path)) == 1


def test_unknown_tools_are_reported(tmp_path: Path) -> None:
    spec = (
        "\n  tools: [read_file,\n    exceute]\n  permissions: {publish: confirm}\n  interrupt_on: [nothing]"
    )
    put(tmp_path, "a.yaml", agent("a", spec))
    faults = check(tmp_path, TOOLS)
    assert [(f.line, f.field, f.message) for f in faults] == [
        (7, "spec.tools[1]", "unknown tool: exceute"),
        (8, "spec.permissions.publish", "unknown tool: publish"),
        (9, "spec.interrupt_on[0]", "unknown tool: nothing"),
    ]
    assert faults[0].remedy == "did you mean execute?"


def test_bad_model_names_are_reported(tmp_path: Path) -> None:
    fallbacks = "      - demo\n      - my-model\n      - llama3:8b"
    spec = f"\n  model:\n    primary: opneai:gpt-4o\n    fallbacks:\n{fallbacks}"
    put(tmp_path, "a.yaml", agent("a", spec))
    faults = check(tmp_path, TOOLS)
    assert [(f.line, f.message, f.remedy) for f in faults] == [
        (7, "unknown model provider: opneai", "did you mean openai?"),
        (10, "unknown model: my-model", "write provider:name, such as openai:my-model, or demo"),
        (11, "unknown model provider: llama3", "for a local model write ollama:llama3:8b"),
    ]


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    text = """\
kind: Agent
metadata:
  name: all
  colour: red
spec:
  graph: no target
  tools: [read_file, 7, exceute]
  permissions: {exceute: maybe}
  interrupt_on: {nothing: yes please}
  model:
    primary: " opneai:gpt-4o "
    class: nowhere:Model
    temperature: hot
  sub_agents:
    - {ref: nobody, colour: red}
    - description: no ref
    - ref: broken
  interrupt:
    fields:
      - {name: one, type: select, colour: red}
"""
    put(tmp_path, "all.yaml", text)
    put(tmp_path, "broken.yaml", agent("broken", "{colour: red}"))
    put(tmp_path, "twin.yaml", agent("all", "{colour: red}"))
    assert [(file, line, field) for file, line, field, _ in told(tmp_path)] == [
        ("all.yaml", 1, "apiVersion"),
        ("all.yaml", 4, "metadata.colour"),
        ("all.yaml", 6, "spec.graph"),
        ("all.yaml", 7, "spec.tools[1]"),
        ("all.yaml", 7, "spec.tools[2]"),
        ("all.yaml", 8, "spec.permissions.exceute"),
        ("all.yaml", 8, "spec.permissions.exceute"),
        ("all.yaml", 9, "spec.interrupt_on.nothing"),
        ("all.yaml", 9, "spec.interrupt_on.nothing"),
        ("all.yaml", 11, "spec.model.primary"),
        ("all.yaml", 12, "spec.model.class"),
        ("all.yaml", 12, "spec.model.class"),
        ("all.yaml", 13, "spec.model.temperature"),
        ("all.yaml", 15, "spec.sub_agents[0].colour"),
        ("all.yaml", 16, "spec.sub_agents[1].ref"),
        ("all.yaml", 20, "spec.interrupt.fields[0].options"),
        ("all.yaml", 20, "spec.interrupt.fields[0].colour"),
        ("broken.yaml", 5, "spec.colour"),
        ("twin.yaml", 5, "spec.colour"),
        ("all.yaml", 15, "spec.sub_agents[0].ref"),
        ("all.yaml", 17, "spec.sub_agents[2].ref"),
        ("twin.yaml", 0, "metadata.name"),
    ]


def test_a_faulty_agent_is_not_reported_as_unknown(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "{sub_agents: [{ref: b}]}"))
    put(tmp_path, "b.yaml", agent("b", "{colour: red}"))
    assert told(tmp_path)[1:] == [("a.yaml", 5, "spec.sub_agents[0].ref", "agent b cannot be used")]


def test_a_fault_outside_a_cycle_is_not_reported_as_a_cycle(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "{sub_agents: [{ref: b}]}"))
    put(tmp_path, "b.yaml", agent("b", "{sub_agents: [{ref: b}]}"))
    assert told(tmp_path) == [
        ("a.yaml", 5, "spec.sub_agents[0].ref", "agent b cannot be used"),
        ("b.yaml", 5, "spec.sub_agents[0].ref", "agents call each other in a circle: b → b"),
    ]


def test_a_graph_can_be_a_sub_agent(tmp_path: Path) -> None:
    put(tmp_path, "flow.py", GRAPH_FILE)
    put(tmp_path, "a.yaml", agent("a", "{sub_agents: [{ref: b}]}"))
    put(tmp_path, "b.yaml", agent("b", "{type: langgraph, graph: 'flow:graph'}"))
    assert told(tmp_path) == []
    found = catalog(tmp_path)
    assert found.get("a").uses_graphs
    assert not found.get("b").uses_graphs


def test_unknown_sub_agents_are_reported(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "\n  sub_agents:\n    - ref: b\n    - ref: serach"))
    put(tmp_path, "b.yaml", agent("b"))
    put(tmp_path, "c.yaml", agent("search"))
    found = catalog(tmp_path)
    assert [(f.line, f.field, f.message, f.remedy) for f in found.faults] == [
        (8, "spec.sub_agents[1].ref", "unknown agent: serach", "did you mean search?")
    ]
    assert "a" not in names(found)


def test_a_cycle_of_sub_agents_is_reported_in_each_of_its_files(tmp_path: Path) -> None:
    for name, ref in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")):
        put(tmp_path, f"{name}.yaml", agent(name, f"\n  sub_agents:\n    - ref: {ref}"))
    put(tmp_path, "e.yaml", agent("e"))
    found = catalog(tmp_path)
    assert {fault.file for fault in found.faults} == {"a.yaml", "b.yaml", "c.yaml", "d.yaml"}
    assert "agents call each other in a circle: a → b → c → a" in {fault.message for fault in found.faults}
    assert {"a", "b", "c", "d"}.isdisjoint(names(found))
    assert "e" in names(found)


def test_sub_agents_are_linked_and_change_the_version_of_their_users(tmp_path: Path) -> None:
    put(tmp_path, "lead.yaml", agent("lead", "{sub_agents: [{ref: helper, description: Helps.}]}"))
    put(tmp_path, "helper.yaml", agent("helper", "{description: A helper.}"))
    found = catalog(tmp_path)
    before = found.get("lead")
    assert [(link.agent.name, link.description) for link in before.sub_agents] == [("helper", "Helps.")]
    put(tmp_path, "helper.yaml", agent("helper", "{description: Another helper.}"))
    assert found.refresh()
    assert found.get("lead").version != before.version


def test_the_second_file_with_the_same_name_is_reported(tmp_path: Path) -> None:
    put(tmp_path, "one.yaml", agent("same", "{description: one}"))
    found = catalog(tmp_path)
    put(tmp_path, "a-newcomer.yaml", agent("same", "{description: two}"))
    found.refresh()
    assert found.get("same").description == "one"
    assert [(f.file, f.message) for f in found.faults] == [
        ("a-newcomer.yaml", "the name same is already taken by one.yaml")
    ]


def test_an_operators_agent_replaces_a_built_in_one(tmp_path: Path) -> None:
    put(tmp_path, "mine.yaml", agent("assistant", "{description: mine}"))
    found = catalog(tmp_path)
    assert found.get("assistant").description == "mine"
    assert found.faults == ()
    (tmp_path / "mine.yaml").unlink()
    found.refresh()
    assert found.get("assistant").description != "mine"


@pytest.mark.parametrize(
    ("file", "text"),
    [("mine.yaml", agent("assistant", "{tools: [read_file], colour: red}")), ("assistant.yaml", "spec: [\n")],
    ids=["at fault", "unreadable"],
)
def test_a_faulty_operators_file_still_replaces_the_built_in_agent(
    tmp_path: Path, file: str, text: str
) -> None:
    put(tmp_path, file, text)
    found = catalog(tmp_path)
    assert [fault.file for fault in found.faults] == [file]
    with pytest.raises(NotFound):
        found.get("assistant")
    assert "approval-agent" in names(found)
    put(tmp_path, file, agent("assistant", "{tools: [read_file]}"))
    found.refresh()
    assert found.get("assistant").spec.tools == ["read_file"]
    assert found.faults == ()


def test_each_new_fault_is_reported_once(tmp_path: Path) -> None:
    told: list[str] = []
    put(tmp_path, "a.yaml", agent("a", "{colour: red}"))
    found = Catalog(tmp_path, TOOLS, clock=Clock(), report=lambda fault: told.append(fault.field))
    assert told == ["spec.colour"]
    put(tmp_path, "b.yaml", agent("b", "{size: large}"))
    found.refresh()
    found.refresh()
    assert told == ["spec.colour", "spec.size"]


def test_a_changed_file_is_looked_for_at_most_once_a_second(tmp_path: Path) -> None:
    clock = Clock()
    put(tmp_path, "a.yaml", agent("a", "{description: old}"))
    found = catalog(tmp_path, clock)
    old = found.get("a")
    put(tmp_path, "a.yaml", agent("a", "{description: new}"))
    clock.now = 0.9
    assert found.get("a") is old
    clock.now = 1.0
    assert found.get("a").description == "new"
    assert found.get("a").version != old.version


def test_nothing_is_read_again_while_nothing_changes(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a"))
    found = catalog(tmp_path)
    before = found.get("a")
    assert not found.refresh()
    assert found.get("a") is before


def test_a_file_that_becomes_faulty_keeps_its_agent_available(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "{description: good}"))
    found = catalog(tmp_path)
    put(tmp_path, "a.yaml", agent("a", "{colour: red}"))
    found.refresh()
    assert found.get("a").description == "good"
    assert [fault.field for fault in found.faults] == ["spec.colour"]
    put(tmp_path, "a.yaml", agent("a", "{description: better}"))
    found.refresh()
    assert found.get("a").description == "better"
    assert found.faults == ()


def test_a_deleted_file_removes_its_agent(tmp_path: Path) -> None:
    path = put(tmp_path, "a.yaml", agent("a"))
    found = catalog(tmp_path)
    path.unlink()
    found.refresh()
    with pytest.raises(NotFound):
        found.get("a")


def test_an_agent_whose_sub_agent_is_deleted_stays_available_with_a_fault(tmp_path: Path) -> None:
    put(tmp_path, "lead.yaml", agent("lead", "{sub_agents: [{ref: helper}]}"))
    helper = put(tmp_path, "helper.yaml", agent("helper"))
    found = catalog(tmp_path)
    helper.unlink()
    found.refresh()
    assert [link.agent.name for link in found.get("lead").sub_agents] == ["helper"]
    told = [(fault.message, fault.remedy) for fault in found.faults]
    known = "approval-agent, assistant, crawl_agent, lead, lead_agent, search_agent"
    assert told == [("unknown agent: helper", f"known: {known}")]


def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    put(tmp_path, "outside.yaml", agent("outside"))
    (folder / "out.yaml").symlink_to(tmp_path / "outside.yaml")
    put(folder, "kept.txt", agent("inside"))
    (folder / "in.yaml").symlink_to("kept.txt")
    found = catalog(folder)
    assert "inside" in names(found)
    assert [fault.message for fault in found.faults] == ["is a link that leaves the agents folder"]


def test_an_irregular_file_is_reported_and_never_blocks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "nowhere.yaml").symlink_to("missing")
    (tmp_path / "self.yaml").symlink_to("self.yaml")
    put(tmp_path, ".hidden.yaml", "[")
    assert sorted({fault.file for fault in check(tmp_path, TOOLS)}) == [
        "nowhere.yaml",
        "pipe.yaml",
        "self.yaml",
    ]


def test_a_missing_folder_is_a_fault_until_it_is_there(tmp_path: Path) -> None:
    found = catalog(tmp_path / "none")
    assert [fault.message for fault in found.faults] == ["the agents folder does not exist"]
    assert "assistant" in names(found)
    (tmp_path / "none").mkdir()
    found.refresh()
    assert found.faults == ()


def test_an_operators_model_class_next_to_the_yaml_is_imported_once_in_a_process(tmp_path: Path) -> None:
    put(tmp_path, "own.py", MODEL_FILE.format(greeting="one"))
    put(tmp_path, "a.yaml", agent("a", "{model: {class: 'own:Own', options: {delay: 0}}}"))
    found = catalog(tmp_path)
    assert found.faults == ()
    before = found.get("a")
    put(tmp_path, "own.py", MODEL_FILE.format(greeting="two"))
    assert found.refresh()
    assert greeting(found.get("a")) == "one"
    agent_files.forget()
    assert greeting(catalog(tmp_path).get("a")) == "two"
    assert catalog(tmp_path).get("a").version == before.version


def greeting(item: Agent) -> str:
    assert item.model_class is not None
    return str(item.model_class.greeting)


@pytest.mark.parametrize("attribute", ["graph", "factory"])
def test_an_operators_graph_or_its_factory_is_imported(tmp_path: Path, attribute: str) -> None:
    put(tmp_path, "flow.py", GRAPH_FILE)
    put(tmp_path, "a.yaml", agent("a", f"{{type: langgraph, graph: 'flow:{attribute}'}}"))
    found = catalog(tmp_path)
    assert found.faults == ()
    graph = found.get("a").graph
    assert graph is not None
    assert graph.invoke({"messages": []})["messages"][-1].content == "hi"


@pytest.mark.parametrize(
    ("target", "where", "said"),
    [
        ("flow:missing", "a.yaml:7: spec.graph", "flow has no attribute missing"),
        ("flow:number", "a.yaml:7: spec.graph", "flow:number is not a compiled graph, but of the type int"),
        ("flow:draft", "a.yaml:7: spec.graph", "flow:draft is a graph that is not compiled (call .compile()"),
        ("nowhere:graph", "a.yaml:7: spec.graph", "nowhere failed: ModuleNotFoundError: No module named"),
        ("raises:graph", "raises.py:2", "raises.py failed: ZeroDivisionError: division by zero"),
        ("leaves:graph", "leaves.py:1", "leaves.py failed: SystemExit: 3"),
        ("garbled:graph", "garbled.py:1", "garbled.py failed: SyntaxError"),
    ],
)
def test_a_graph_that_cannot_be_imported_is_reported(
    tmp_path: Path, target: str, where: str, said: str
) -> None:
    put(tmp_path, "flow.py", GRAPH_FILE)
    put(tmp_path, "raises.py", "\n1 / 0\n")
    put(tmp_path, "leaves.py", "raise SystemExit(3)\n")
    put(tmp_path, "garbled.py", "def (:\n")
    put(tmp_path, "a.yaml", agent("a", f"\n  type: langgraph\n  graph: '{target}'"))
    (fault,) = check(tmp_path, TOOLS)
    assert str(fault).startswith(f"{where}: {said}")


def test_a_module_that_is_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    put(tmp_path, "outside.py", GRAPH_FILE)
    (folder / "flow.py").symlink_to(tmp_path / "outside.py")
    put(folder, "a.yaml", agent("a", "{type: langgraph, graph: 'flow:graph'}"))
    assert [fault.message for fault in check(folder, TOOLS)] == [
        "flow.py is a link that leaves the agents folder"
    ]


def test_fixing_a_module_fixes_its_agent(tmp_path: Path) -> None:
    put(tmp_path, "own.py", "1 / 0\n")
    put(tmp_path, "a.yaml", agent("a", "{model: {class: 'own:Own'}}"))
    found = catalog(tmp_path)
    assert "a" not in names(found)
    put(tmp_path, "own.py", MODEL_FILE.format(greeting="one"))
    found.refresh()
    assert found.faults == ()
    assert "a" in names(found)


def test_an_agent_whose_fault_was_repaired_is_told_as_loaded(tmp_path: Path) -> None:
    file, told = put(tmp_path, "a.yaml", agent("a")), list[str]()
    found = Catalog(tmp_path, TOOLS, builtin=None, loaded=lambda agent: told.append(agent.name))
    put(tmp_path, "a.yaml", agent("a", "{colour: red}"))
    found.refresh()
    assert told == ["a"]
    put(tmp_path, "a.yaml", agent("a"))
    found.refresh()
    assert told == ["a", "a"]
    file.touch()
    found.refresh()
    assert told == ["a", "a"]


def test_a_base_url_without_a_scheme_is_told_in_words(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "{model: {base_url: '127.0.0.1:28101'}}"))
    (fault,) = check(tmp_path, TOOLS)
    assert fault.message == "'127.0.0.1:28101' must be an address that begins with http:// or https://"


def test_a_class_that_is_no_chat_model_is_reported(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "{model: {class: 'pathlib:Path'}}"))
    assert [fault.message for fault in check(tmp_path, TOOLS)] == [
        "pathlib:Path is no chat model: it has no method stream, and is not a subclass of BaseChatModel"
    ]


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("async def stream(self, messages, tools=()): return 'hi'", "must be an async generator"),
        ("def stream(self, messages, tools=()): yield 'hi'", "must be an async generator"),
        ("async def stream(self, messages): yield 'hi'", "must take messages and tools"),
    ],
)
def test_a_method_stream_that_cannot_work_is_reported_where_it_stands(
    tmp_path: Path, method: str, said: str
) -> None:
    put(tmp_path, "own.py", f"class Own:\n    {method}\n")
    put(tmp_path, "a.yaml", agent("a", "{model: {class: 'own:Own'}}"))
    (fault,) = check(tmp_path, TOOLS)
    assert (fault.file, fault.line, fault.message) == ("own.py", 2, f"stream of own:Own {said}")
    assert "async def stream(self, messages, tools=())" in fault.remedy


def test_options_that_a_model_class_does_not_take_are_reported(tmp_path: Path) -> None:
    code = """
        class Own:
            def __init__(self, mark, *, delay=0): ...
            async def stream(self, messages, tools=()): yield None
        class Any(Own):
            def __init__(self, **anything): ...
        """
    put(tmp_path, "own.py", dedent(code))
    model = "\n  model:\n    class: own:Own\n    temperature: 0.5\n    options:\n      dealy: 1"
    put(tmp_path, "a.yaml", agent("a", model))
    put(tmp_path, "b.yaml", agent("b", "{model: {class: 'own:Any', options: {dealy: 1}, temperature: 0.5}}"))
    assert [(fault.file, fault.line, fault.message, fault.remedy) for fault in check(tmp_path, TOOLS)] == [
        ("a.yaml", 7, "Own needs the option mark", "write options: {mark: …}"),
        ("a.yaml", 8, "Own takes no option temperature", "it takes mark, delay"),
        ("a.yaml", 10, "Own takes no option dealy", "did you mean delay?"),
    ]


def test_the_schema_names_the_fields_as_the_yaml_does() -> None:
    found = schema()
    assert set(found["properties"]) == {"apiVersion", "kind", "metadata", "spec"}
    assert "class" in found["$defs"]["Model"]["properties"]
    assert found["additionalProperties"] is False


def test_a_watching_catalog_reads_files_in_a_separate_thread(tmp_path: Path) -> None:
    reported: list[str] = []

    def report(_: Fault) -> None:
        reported.append(threading.current_thread().name)

    catalog = Catalog(tmp_path, (), builtin=None, interval=0.01, report=report)
    catalog.watch()
    try:
        (tmp_path / "wrong.yaml").write_text("a: [")
        deadline = time.monotonic() + 30
        while not catalog.faults:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        catalog.close()
    assert reported == ["caesura-agents"]


def test_a_model_that_is_written_as_a_text_is_told_with_the_remedy(tmp_path: Path) -> None:
    put(tmp_path, "a.yaml", agent("a", "{model: demo}"))
    (fault,) = check(tmp_path, TOOLS)
    assert (fault.field, fault.message) == ("spec.model", "must be a mapping, not a text")
    assert fault.remedy == "write model: {primary: demo}"


def test_agents_that_are_new_or_changed_are_announced(tmp_path: Path) -> None:
    put(tmp_path, "one.yaml", agent("one", "{system_prompt: a}"))
    put(tmp_path, "two.yaml", agent("two", "{sub_agents: [{ref: one}]}"))
    seen: list[str] = []
    catalog = Catalog(tmp_path, TOOLS, builtin=None, loaded=lambda agent: seen.append(agent.name))
    assert sorted(seen) == ["one", "two"]
    seen.clear()
    assert not catalog.refresh()
    assert seen == []
    put(tmp_path, "one.yaml", agent("one", "{system_prompt: changed}"))
    catalog.refresh()
    assert sorted(seen) == ["one", "two"]
