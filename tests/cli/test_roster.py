"""Agent files, from the command line."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests import agent_files
from tests.cli.conftest import Run
from tests.mcp_server.raw import tool
from tests.servers.server import free_port

RAW = Path(__file__).parent.parent / "mcp_server" / "raw.py"

GOOD = """
apiVersion: caesura/v1
kind: Agent
metadata: {name: gardener, description: Knows trees.}
spec:
  model: {primary: demo}
  sub_agents: [{ref: assistant}]
"""


def test_good_files_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gardener.yaml").write_text(GOOD)
    ran = run("agents", "check", tmp_path)
    assert (ran.code, ran.out) == (0, "good: gardener\n")


def test_every_command_leaves_out_the_built_in_agents_as_the_server_does(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_files.put(tmp_path / "own", "clerk", "model: {primary: demo}")
    monkeypatch.setenv("CAESURA_BUILT_IN_AGENTS", "false")
    missing = "CAESURA_DEFAULT_AGENT: agent not found: assistant;"
    missing += " with CAESURA_BUILT_IN_AGENTS=false there are clerk"
    told = run("serve", "--agents-dir", tmp_path / "own", "--port", 0)
    assert (told.code, told.err) == (2, f"caesura: {missing}\n")
    assert f"fault  agents     {missing}" in run("doctor", "--agents-dir", tmp_path / "own").out
    assert f"! {missing}" in run("agents", "list", "--agents-dir", tmp_path / "own").out
    monkeypatch.setenv("CAESURA_DEFAULT_AGENT", "clerk")
    assert "ok     agents     clerk\n" in run("doctor", "--agents-dir", tmp_path / "own").out
    listed = run("agents", "list", "--agents-dir", tmp_path / "own").out
    assert [line.split()[:2] for line in listed.splitlines() if line[:4].strip()] == [["*", "clerk"]]
    told = run("models", "--agent", "assistant", "--agents-dir", tmp_path / "own")
    assert told.err == "caesura: agent not found: assistant\n"
    (tmp_path / "own" / "gardener.yaml").write_text(GOOD)
    checked = run("agents", "check", tmp_path / "own")
    assert checked.code == 1
    assert "unknown agent: assistant" in checked.out
    assert "good: clerk" in checked.out


def test_without_any_agent_every_command_names_the_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_BUILT_IN_AGENTS", "false")
    missing = (
        "CAESURA_BUILT_IN_AGENTS=false leaves no agent: set CAESURA_AGENTS_DIR to the folder of your agents"
    )
    assert run("serve", "--port", 0).err == f"caesura: {missing}\n"
    assert missing in run("doctor").out
    assert run("agents", "list").out == f"! {missing}\n"


def test_every_fault_is_reported_with_its_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gardener.yaml").write_text(GOOD.replace("spec:", "spec:\n  flavour: sweet\n  colour: red"))
    ran = run("agents", "check", tmp_path)
    assert ran.code == 1
    assert "gardener.yaml:7: spec.colour: unknown field" in ran.out
    assert "gardener.yaml:6: spec.flavour: unknown field" in ran.out


def test_mcp_servers_are_opened_on_request(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps([tool("delete"), {"name": "bare"}, tool("say")]))
    program = f"command: {sys.executable}, args: ['{RAW}', '{tmp_path}']"
    entry = f"{{name: shop, {program}, permissions: {{dleete: deny}}}}"
    more = "\n  permissions: {shop__sya: deny}\n  mcp_servers:\n    - {name: gone, command: /no/such}\n    - "
    (tmp_path / "gardener.yaml").write_text(GOOD.replace("spec:", f"spec:{more}{entry}"))
    ran = run("agents", "check", "--open", tmp_path)
    assert ran.code == 1
    assert "gardener: MCP server shop offers delete, say" in ran.out
    left_out = "bare (not described as the protocol demands)"
    assert f"warning: gardener: MCP server shop lists what is left out: {left_out}" in ran.out
    at = "gardener.yaml: MCP server shop: "
    assert f"{at}permissions names dleete, which it does not have (did you mean delete?)" in ran.out
    assert (
        f"{at}spec.permissions names shop__sya, which it does not have (did you mean shop__say?)" in ran.out
    )
    assert (
        "gardener.yaml: MCP server gone: it is away: its command was not found (command: /no/such)" in ran.out
    )
    assert "good:" not in ran.out


def test_good_agents_and_warnings_are_told_beside_the_faults_of_others(run: Run, tmp_path: Path) -> None:
    code = "def bare(one: str) -> str: ...\ndef told(one: str) -> str:\n    'Tells.'\n"
    (tmp_path / "own.py").write_text(code)
    agent_files.put(tmp_path, "fine", "tools: [read_file, 'own:bare', 'own:told', read_file]")
    agent_files.put(tmp_path, "wrong", "tools: [own.bare]")
    ran = run("agents", "check", tmp_path)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "wrong.yaml:5: spec.tools[0]: unknown tool: own.bare (did you mean own:bare?)",
        "good: fine",
        "warning: agent fine: read_file is listed 2 times in spec.tools (once is enough)",
        "warning: agent fine: own:bare has no docstring, so the model knows only its name"
        " (say in a docstring what it is for)",
    ]


def test_a_folder_without_agents_and_a_missing_folder(run: Run, tmp_path: Path) -> None:
    assert "no agent file" in run("agents", "check", tmp_path).out
    (tmp_path / "a.yaml").touch()
    assert "a.yaml: this is a file (name its folder)" in run("agents", "check", tmp_path / "a.yaml").out
    ran = run("agents", "check", tmp_path / "nowhere")
    assert ran.code == 1
    assert "does not exist" in ran.out


def test_nothing_in_a_file_moves_the_cursor(run: Run, tmp_path: Path) -> None:
    trick = r'"Knows\r\e[2Ktrees\u202e\n"'
    (tmp_path / "gardener.yaml").write_text(GOOD.replace("Knows trees.", trick))
    listed = run("agents", "list", "--agents-dir", tmp_path).out
    assert "    Knows\\r\\x1b[2Ktrees\\u202e\n" in listed
    (tmp_path / "gardener.yaml").write_text(GOOD.replace("demo", r'"de\e[2K\u202emo"'))
    for command in ("check", tmp_path), ("list", "--agents-dir", tmp_path):
        told = run("agents", *command).out
        assert all(line.isprintable() for line in told.split("\n"))


def test_a_replaced_model_is_listed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gardener.yaml").write_text(GOOD.replace("primary: demo", "primary: gpt-4o"))
    monkeypatch.setenv("CAESURA_MODEL_MAP", "gpt-4o=openai:gpt-5-mini")
    assert re.search(r"gardener +openai:gpt-5-mini ", run("agents", "list", "--agents-dir", tmp_path).out)


def test_the_schema_is_json(run: Run) -> None:
    assert "spec" in json.loads(run("agents", "schema").out)["properties"]


def test_agents_are_listed_with_their_models(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gardener.yaml").write_text(GOOD)
    listed = run("agents", "list", "--agents-dir", tmp_path).out
    assert "* assistant " in listed
    assert "  gardener " in listed
    assert "Knows trees." in listed


def test_columns_are_as_wide_as_what_they_hold_and_no_line_is_blank(run: Run, tmp_path: Path) -> None:
    long = GOOD.replace("gardener, description: Knows trees.", "keeper-of-a-large-and-old-garden")
    (tmp_path / "keeper.yaml").write_text(long)
    lines = run("agents", "list", "--agents-dir", tmp_path).out.splitlines()
    agents = [line for line in lines if not line.startswith("    ")]
    assert len({line.index(" demo ") for line in agents}) == 1
    assert all(line.strip() for line in lines)


def test_a_model_without_a_key_is_a_warning(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "agents"
    agent_files.put(folder, "falls", "model: {primary: openai:x, fallbacks: [demo]}")
    ran = run("agents", "check", folder)
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            "good: falls",
            "warning: falls.yaml:5: spec.model.primary: model openai:x needs a key: set OPENAI_API_KEY"
            " (skipped until then: the agent's other models answer)",
        ],
    )
    ran = run("doctor", "--agents-dir", folder)
    assert ran.code == 0
    assert "note   agents     agent falls: model openai:x needs a key: set OPENAI_API_KEY" in ran.out
    agent_files.put(folder, "stuck", "model: {primary: openai:x, api_key_env: MINE}")
    ran = run("agents", "check", folder)
    assert ran.code == 0
    at = "warning: stuck.yaml:5: spec.model.primary: "
    assert f"{at}model openai:x needs a key: set MINE (its turns fail" in ran.out
    ran = run("doctor", "--agents-dir", folder)
    assert ran.code == 1
    assert "fault  agents     agent stuck: model openai:x needs a key: set MINE" in ran.out
    monkeypatch.setenv("CAESURA_MODEL_MAP", "openai:x=demo")
    assert run("agents", "check", folder).out == "good: falls, stuck\n"


def test_a_key_that_a_fallback_or_a_sub_agent_needs_is_missed(run: Run, tmp_path: Path) -> None:
    agent_files.put(tmp_path, "falls", "model:\n  primary: demo\n  fallbacks: [demo, anthropic:y]")
    agent_files.put(tmp_path, "stuck", "model: {primary: openai:x, api_key_env: MINE}")
    agent_files.put(tmp_path, "lead", "model: {primary: demo}\nsub_agents:\n  - ref: falls\n  - ref: stuck")
    agent_files.put(tmp_path, "boss", "model: {primary: demo}\nsub_agents: [{ref: lead}]")
    warnings = run("agents", "check", tmp_path).out.splitlines()[1:]
    needs = "model openai:x needs a key: set MINE"
    effect = "(its turns fail until then: it needs all of its sub-agents)"
    assert warnings == [
        f"warning: boss.yaml:6: spec.sub_agents[0].ref: sub-agent lead: sub-agent stuck: {needs} {effect}",
        "warning: falls.yaml:7: spec.model.fallbacks[1]: model anthropic:y needs a key: set ANTHROPIC_API_KEY"
        " (skipped until then: the agent's other models answer)",
        f"warning: lead.yaml:8: spec.sub_agents[1].ref: sub-agent stuck: {needs} {effect}",
        f"warning: stuck.yaml:5: spec.model.primary: {needs}"
        " (its turns fail until then: it has no other model)",
    ]


def test_a_built_in_sub_agent_without_a_key_is_missed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_MODEL", "openai:x")
    (tmp_path / "gardener.yaml").write_text(GOOD)
    at = "warning: gardener.yaml:7: spec.sub_agents[0].ref: sub-agent assistant: "
    assert f"{at}model openai:x needs a key: set OPENAI_API_KEY" in run("agents", "check", tmp_path).out


def test_a_variable_that_a_header_needs_is_missed_by_every_command(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    entry = "{name: s, url: 'http://127.0.0.1:9/mcp', headers_env: {Authorization: UNSET_HEADER}}"
    agent_files.put(folder, "away", f"mcp_servers: [{entry}]")
    told = "the environment variable UNSET_HEADER is not set"
    checked, doctor = run("agents", "check", folder), run("doctor", "--agents-dir", folder)
    assert (checked.code, doctor.code) == (1, 1)
    assert told in checked.out
    assert told in doctor.out
    listed = run("agents", "list", "--agents-dir", folder).out
    assert "! away.yaml" in listed
    assert told in listed
    assert "  away " not in listed


def test_agents_that_use_a_redis_are_named_where_there_is_none(
    run: Run, tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gardener.yaml").write_text(f"{GOOD}  interrupt: {{checkpoint_backend: redis}}\n")
    ran = run("agents", "check", tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "good: gardener",
        "warning: agent gardener: its questions are not shown in Redis, and wait in the database alone"
        " (set CAESURA_REDIS_URL, or leave out interrupt.checkpoint_backend)",
    ]
    monkeypatch.setenv("CAESURA_REDIS_URL", f"redis://127.0.0.1:{free_port()}/0")
    ran = run("agents", "check", tmp_path)
    assert ran.code == 0
    assert "warning: CAESURA_REDIS_URL: ConnectionError: " in ran.out
    monkeypatch.setenv("CAESURA_REDIS_URL", redis_url)
    assert run("agents", "check", tmp_path).out == "good: gardener\n"
