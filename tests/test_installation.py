"""The installation: uv looks where pip is told to look, and an altered extra is installed again."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "requirements" / "install.py"


@pytest.fixture(scope="module")
def install() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packages_install", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_uv_looks_where_pip_looks(install: ModuleType) -> None:
    listed = (
        ":env:.find-links='/wheels'\n"
        "global.cert='/authorities.pem'\n"
        "global.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example/simple'\n"
        "global.find-links='/other'\n"
        "install.index-url='https://c.example/simple'\n"
        "list.format='columns'\n"
    )
    settings = install.configured(listed)
    assert settings["cert"] == "/authorities.pem"
    _, _, *options = install.places(settings)
    assert options == [
        *("--default-index", "https://c.example/simple"),
        *("--index", "https://a.example/simple"),
        *("--index", "https://b.example/simple"),
        *("--find-links", "/wheels"),
    ]


def test_uv_asks_no_index_if_pip_asks_none(install: ModuleType) -> None:
    assert "--no-index" in install.places({"no-index": "true", "find-links": "/wheels"})
    assert "--no-index" not in install.places({"no-index": "0"})


def test_pip_installs_if_it_is_told_what_uv_does_not_know(install: ModuleType) -> None:
    assert install.places({"proxy": "http://proxy.example"}) is None


def test_uv_is_locked_to_the_version_of_the_development_tools() -> None:
    (line,) = (line for line in SCRIPT.with_name("uv.txt").read_text().splitlines() if "==" in line)
    assert line in SCRIPT.with_name("dev.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("lock", "again"),
    [
        (f"pytest=={metadata.version('pytest')} \\\n    --hash=sha256:0\n", False),
        ("pytest==0.1 \\\n    --hash=sha256:0\n", True),
        ("not-there==1 \\\n    --hash=sha256:0\n", True),
        ("not-there==1 ; sys_platform == 'win32' \\\n    --hash=sha256:0\n", False),
    ],
    ids=["as locked", "another version", "removed", "of another system"],
)
def test_make_installs_an_extra_again_if_somebody_has_altered_it(
    tmp_path: Path, lock: str, again: bool
) -> None:
    for name in ("requirements/extras", ".venv/bin"):
        tmp_path.joinpath(name).mkdir(parents=True)
    for name in ("Makefile", "requirements/altered.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "requirements/extras/langgraph.txt").write_text(lock)
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    made = (
        "requirements/run.txt",
        "requirements/build.txt",
        "pyproject.toml",
        ".venv/.run",
        ".venv/.extra-langgraph",
    )
    for number, name in enumerate(made):
        path = tmp_path / name
        path.touch()
        os.utime(path, (time.time() + number, time.time() + number))
    command = ["make", "--dry-run", "setup", "EXTRAS=langgraph"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert ("requirements/extras/langgraph.txt" in done.stdout) is again
