"""The installation of the development tools: uv looks for packages where pip is told to look."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "requirements" / "install.py"


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
