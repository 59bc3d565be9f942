"""A file in which every field is wrong: each fault is reported, with its line and its field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from caesura.agents.faults import Fault, _model_in
from caesura.agents.loader import check
from caesura.agents.spec import AgentFile
from caesura.agents.tools.registry import standard

BAD = """\
apiVersion: superagent/v2
kind: Robot
metadata:
  name: Bad Name
  version: [1]
  description: 7
  labels: {team: 3}
  colour: red
spec:
  type: chatty
  graph: not a target
  description: [x]
  model:
    primary: nowhere:x
    fallbacks: [foo:bar, 3]
    temperature: 9
    base_url: file:///x
    api_key_env: "not ok"
    class: nope
    options: [1]
    context_tokens: 1
    context: forget
    idle_timeout: 0
  system_prompt: 5
  tools: [execute, exec, 7]
  permissions: {execute: maybe, exec: auto}
  interrupt_on: {execute: perhaps}
  sub_agents:
    - {ref: nobody, description: 3}
    - {ref: Bad Name}
    - {description: x}
  interrupt:
    enabled: "yes"
    checkpoint_backend: disk
    timeout_seconds: 0
    phrases: [""]
    fields:
      - {name: a b, type: number, label: 3, required: maybe}
      - {name: ok, type: select}
      - {name: "no", options: [x]}
  approvals:
    timeout_seconds: never
  limits:
    max_steps: 0
    max_seconds: -1
  memory:
    backend: other
  mcp_servers:
    - name: a__b
      command: 3
      args: x
      env: {A: 1}
      url: ftp://x
      headers_env: {B: "b c"}
      tools: x
      permissions: {a: maybe}
      trust_annotations: 1
more: 1
"""
LINES = BAD.splitlines()
#: Where a fault is in a part of the field, or where the field is missing.
ELSEWHERE = {"spec.sub_agents[2].ref": 31, "spec.interrupt.fields[1].options": 39}


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> list[Fault]:
    folder = tmp_path_factory.mktemp("agents")
    (folder / "bad.yaml").write_text(BAD)
    return check(folder, standard().names)


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for key, field in model.model_fields.items():
        name = f"{prefix}{field.alias or key}"
        inner: Any = _model_in(field.annotation)
        yield from fields(inner, f"{name}.") if inner is not None else (name,)


def test_every_field_of_a_file_is_reported_at_once(faults: list[Fault]) -> None:
    said = {re.sub(r"\[\d+\]", "", fault.field) for fault in faults}
    covered = {place for field in said for place in (field, field.rpartition(".")[0])}
    assert [name for name in fields(AgentFile) if name not in covered] == []
    assert {"metadata.colour", "more"} <= said


def test_every_fault_names_the_line_of_its_field(faults: list[Fault]) -> None:
    for fault in faults:
        assert fault.file == "bad.yaml"
        if fault.field in ELSEWHERE:
            assert fault.line == ELSEWHERE[fault.field]
            continue
        name = re.sub(r"\[\d+\]$", "", fault.field).rpartition(".")[2]
        assert re.search(rf"\b{name}:", LINES[fault.line - 1]), fault
        assert fault.message
