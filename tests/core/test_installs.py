"""Commands that install what is missing, for each way in which Caesura itself is installed."""

import importlib.util
import sys
from pathlib import Path

import pytest

from caesura.core import installs


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "my checkout"
    (folder / "requirements" / "extras").mkdir(parents=True)
    (folder / "requirements" / "extras" / "langgraph.txt").touch()
    (folder / "pyproject.toml").touch()
    monkeypatch.setattr(installs, "_ROOT", folder)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    return folder


def test_a_checkout_installs_from_its_lock(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(checkout / ".venv"))
    assert installs.add_extra("langgraph") == f"make -C '{checkout}' setup EXTRAS=langgraph"
    assert installs.add_extra("otel") == f"/usr/bin/python3 -m pip install -e '{checkout}[otel]'"


def test_a_checkout_in_another_environment_is_installed_there(checkout: Path) -> None:
    assert installs.add_extra("langgraph") == f"/usr/bin/python3 -m pip install -e '{checkout}[langgraph]'"


def test_an_installed_package_names_its_extra(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "pyproject.toml").unlink()
    assert installs.add_extra("langgraph") == "/usr/bin/python3 -m pip install 'caesura[langgraph]'"
    assert installs.add_package("langchain-xai") == "/usr/bin/python3 -m pip install langchain-xai"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert installs.add_package("x") == "uv pip install --python /usr/bin/python3 x"


def test_the_folder_of_this_checkout_is_found() -> None:
    assert (installs._ROOT / "src" / "caesura" / "core" / "installs.py").is_file()
