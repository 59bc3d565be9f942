"""`mcp_servers` in an agent's file: what is wrong, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from caesura.agents import versions
from caesura.agents.loader import Catalog, check
from caesura.agents.tools.registry import standard
from tests import agent_files

GOOD = """
permissions: {shop__say: auto, mail__send: confirm}
interrupt_on: [mail__read]
mcp_servers:
  - name: shop
    command: uvx
    args: [shop-server, --stdio]
    env: {SHOP: open}
    tools: [say, buy]
    permissions: {say: auto, buy: confirm}
    trust_annotations: true
  - name: mail
    url: https://mail.example/mcp
    headers_env: {Authorization: MAIL_KEY}
"""
WRONG = {
    "{name: shop}": "needs command or url",
    "{name: shop, command: a, url: 'http://b/'}": "either command or url",
    "{name: shop, url: 'http://b/', args: [x]}": "args belongs to a command",
    "{name: shop, url: 'http://b/', env: {A: b}}": "env belongs to a command",
    "{name: shop, command: a, headers_env: {A: PATH}}": "headers_env belongs to a url",
    "{name: shop, url: 'http://b/', headers_env: {A: PATH, a: PATH}}": "headers must differ",
    "{name: shop, url: 'ftp://u:pw@h'}": "'ftp://***@h' must be an address that begins with http:// or https://",
    "{name: shop, url: 'file:///x'}": "'file:///x' must be an address that begins with http:// or https://",
    "{name: a__b, command: a}": "'a__b' must be letters, digits, - and single _ between them",
    "{name: a_, command: a}": "'a_' must be letters, digits, - and single _ between them",
    "{command: a}": "is required",
    "{name: shop, command: a, tool: [x]}": "unknown field",
    "{name: shop, url: 'http://b/', headers_env: {A: NO_SUCH}}": "variable NO_SUCH is not set",
}
ENVIRON = {"PATH": "/bin", "MAIL_KEY": "secret"}


def faults(folder: Path, spec: str) -> list[str]:
    agent_files.put(folder, "tester", spec)
    return [str(fault) for fault in check(folder, standard().names, ENVIRON)]


def test_a_good_file_has_no_faults_and_its_version_is_data(tmp_path: Path) -> None:
    assert faults(tmp_path, GOOD) == []
    agent = Catalog(tmp_path, standard().names).get("tester")
    assert versions.load(versions.dump(agent), standard().names, agent).spec == agent.spec


@pytest.mark.parametrize("entry", WRONG)
def test_a_wrong_entry_is_told_with_its_line(tmp_path: Path, entry: str) -> None:
    [fault] = faults(tmp_path, f"mcp_servers:\n  - {entry}")
    assert fault.startswith("tester.yaml:6: spec.mcp_servers[0]")
    assert WRONG[entry] in fault


def test_names_of_servers_differ_and_a_graph_has_none(tmp_path: Path) -> None:
    twice = "mcp_servers:\n  - {name: a, command: b}\n  - {name: a, command: c}"
    assert "must differ" in faults(tmp_path, twice)[0]
    told = faults(tmp_path, "type: langgraph\ngraph: x:y\nmcp_servers:\n  - {name: a, command: b}")
    assert any("a graph brings its own tools" in fault for fault in told)


def test_a_permission_for_a_server_that_is_not_there_is_an_unknown_tool(tmp_path: Path) -> None:
    [fault] = faults(tmp_path, "permissions: {shop__say: auto}")
    assert "unknown tool: shop__say" in fault
