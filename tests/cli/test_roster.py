"""Agent files, from the command line."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

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


def test_every_fault_is_reported_with_its_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gardener.yaml").write_text(GOOD.replace("spec:", "spec:\n  flavour: sweet\n  colour: red"))
    ran = run("agents", "check", tmp_path)
    assert ran.code == 1
    assert "gardener.yaml:7: spec.colour: unknown field" in ran.out
    assert "gardener.yaml:6: spec.flavour: unknown field" in ran.out


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


def test_agents_that_need_a_redis_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gardener.yaml").write_text(f"{GOOD}  interrupt: {{checkpoint_backend: redis}}\n")
    ran = run("agents", "check", tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "good: gardener",
        "these need a Redis, and do not work without CAESURA_REDIS_URL: gardener",
    ]
