"""Code of packages that agents name: it counts for their version as it was when it was loaded."""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from caesura.agents import imports, packages
from caesura.agents.loader import Catalog, check
from caesura.agents.tools.registry import standard
from tests import agent_files

TOOLS = standard().names
GRAPH = """
from langgraph.graph import MessagesState, StateGraph

from shopbot.words import HELLO

def answer(state):
    return {"messages": [("ai", HELLO)]}

graph = StateGraph(MessagesState).add_node(answer).set_entry_point("answer").compile()
"""
PLAIN = '''
def refund(order: str) -> str:
    """Refund."""
    return "1"
'''
MODEL = """
class Own:
    async def stream(self, messages, tools=()):
        yield
"""
#: What an agent may name, and the file of the package that it is in.
KINDS = {
    "graph": ("type: langgraph\ngraph: 'shopbot.flow:graph'", "shopbot/flow.py"),
    "imported": ("type: langgraph\ngraph: 'shopbot.flow:graph'", "shopbot/words.py"),
    "imported later": ("type: langgraph\ngraph: 'shopbot.flow:graph'", "shopbot/later.py"),
    "package": ("type: langgraph\ngraph: 'shopbot.flow:graph'", "shopbot/__init__.py"),
    "tool": ("tools: ['shopbot.inner.plain:refund']", "shopbot/inner/plain.py"),
    "class": ("model: {class: 'shopmodel:Own'}", "shopmodel.py"),
}


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that Python looks in for packages. `shopbot.inner` has no `__init__.py`."""
    code = tmp_path / "code"
    code.joinpath("shopbot/inner").mkdir(parents=True)
    files = {"__init__": "", "flow": GRAPH, "words": "HELLO = 'hi'\n", "later": "LATER = 1\n"}
    for name, text in {**files, "inner/plain": PLAIN}.items():
        code.joinpath(f"shopbot/{name}.py").write_text(text)
    code.joinpath("shopmodel.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield code
    forget()


def forget() -> None:
    """Act as if the process had been started again."""
    for name in [name for name in sys.modules if packages.top(name) in ("shopbot", "shopmodel", "zipped")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def catalog(folder: Path) -> Catalog:
    found = Catalog(folder, TOOLS, builtin=None, interval=0)
    assert found.faults == ()
    return found


def edit(path: Path) -> None:
    path.write_text(path.read_text() + "# changed\n")


@pytest.mark.parametrize("kind", KINDS)
def test_changed_code_of_a_package_makes_another_version_after_a_restart(code: Path, kind: str) -> None:
    spec, file = KINDS[kind]
    folder = code.parent / "agents"
    agent_files.put(folder, "a", spec)
    before = catalog(folder).get("a").version
    forget()
    assert catalog(folder).get("a").version == before
    forget()
    edit(code / file)
    assert catalog(folder).get("a").version != before


@pytest.mark.parametrize("kind", KINDS)
def test_a_reload_of_the_agents_file_does_not_claim_code_that_was_not_loaded(code: Path, kind: str) -> None:
    spec, file = KINDS[kind]
    folder = code.parent / "agents"
    path = agent_files.put(folder, "a", spec)
    found = catalog(folder)
    before = found.get("a").version
    importlib.import_module("shopbot.later")  # as a function of the graph does
    edit(code / file)
    assert found.get("a").version == before
    text = path.read_text()
    edit(path)
    assert found.get("a").version != before
    path.write_text(text)
    assert found.get("a").version == before
    forget()
    assert catalog(folder).get("a").version != before


def test_a_sub_agents_package_counts_for_the_agent_that_uses_it(code: Path) -> None:
    folder = code.parent / "agents"
    agent_files.put(folder, "a", KINDS["tool"][0])
    agent_files.put(folder, "b", "sub_agents: [{ref: a}]")
    before = catalog(folder).get("b").version
    edit(code / KINDS["tool"][1])
    forget()
    assert catalog(folder).get("b").version != before


def test_the_version_does_not_depend_on_what_else_is_loaded_or_on_the_place(code: Path) -> None:
    folder = code.parent / "agents"
    agent_files.put(folder, "b", KINDS["graph"][0])
    before = catalog(folder).get("b").version
    forget()
    agent_files.put(folder, "a", KINDS["tool"][0])
    importlib.import_module("shopbot.later")
    assert catalog(folder).get("b").version == before
    forget()
    moved = code.rename(code.parent / "moved")
    sys.path.insert(0, str(moved))
    try:
        assert catalog(folder).get("b").version == before
    finally:
        sys.path.remove(str(moved))


def test_what_holds_no_module_does_not_count(code: Path) -> None:
    before = packages.digest("shopbot")
    package = code / "shopbot"
    for name in ("notes.txt", "some-file.py", ".hidden.py", "__pycache__/flow.py", "env/lib/it.py"):
        package.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        package.joinpath(name).write_text("1")
    package.joinpath("env/pyvenv.cfg").touch()
    assert packages.digest("shopbot") == before
    package.joinpath("another.py").write_text("1")
    assert packages.digest("shopbot") != before


@pytest.mark.parametrize("bound", ["MOST_FILES", "MOST_BYTES"])
def test_of_a_very_large_package_sizes_and_times_count(
    code: Path, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, bound, -1)
    monkeypatch.setattr(Path, "read_bytes", None)
    path = code / "shopbot/words.py"
    before, stat = packages.digest("shopbot"), path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    later = packages.digest("shopbot")
    path.write_text("other")
    assert len({before, later, packages.digest("shopbot")}) == 3


def test_a_package_in_an_archive_counts_with_the_archive(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = code / "packed.zip"
    folder = code.parent / "agents"
    agent_files.put(folder, "a", "tools: ['zipped:refund']")
    found = []
    for text in (PLAIN, PLAIN.replace("1", "2")):
        with ZipFile(archive, "w") as file:
            file.writestr("zipped.py", text)
        monkeypatch.syspath_prepend(str(archive))
        found.append(catalog(folder).get("a").version)
        forget()
    assert found[0] != found[1]


def test_a_module_that_is_part_of_python_counts_too() -> None:
    assert packages.digest("json") == packages.digest("json") != packages.digest("sys")


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.WARNING, "caesura.agents.package_changes")

    def told() -> list[str]:
        texts = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return texts

    return told


def test_a_changed_file_of_a_loaded_package_is_told_once(code: Path, warned: Callable[[], list[str]]) -> None:
    folder = code.parent / "agents"
    agent_files.put(folder, "a", KINDS["graph"][0])
    agent_files.put(folder, "b", KINDS["tool"][0])
    found = catalog(folder)
    flow, words = code / "shopbot/flow.py", code / "shopbot/words.py"
    os.utime(flow)
    edit(code / "shopbot/later.py")  # which is not loaded
    found.refresh()
    assert warned() == []
    edit(flow)
    found.refresh()
    found.refresh()
    assert warned() == ["shopbot/flow.py has changed: restart the server to use it"]
    edit(words)
    shutil.rmtree(code / "shopbot/inner")
    found.refresh()
    found.refresh()
    assert warned() == [
        "shopbot/inner/plain.py and another file have changed: restart the server to use them"
    ]
    flow.write_text(GRAPH)
    found.refresh()
    assert warned() == []
    edit(code / "shopbot/__init__.py")
    edit(flow)
    edit(flow)
    edit(words)
    found.refresh()
    assert warned() == ["shopbot/__init__.py and 2 other files have changed: restart the server to use them"]


@pytest.mark.parametrize(
    ("source", "told", "remedy"),
    [
        (
            "raise ValueError('Pass an `api_key`, or set the `OPENAI_API_KEY` environment variable.')",
            "shopbot.flow failed: ValueError: Pass an `api_key`, or set the `OPENAI_API_KEY`"
            " environment variable.",
            "set OPENAI_API_KEY, or correct its code",
        ),
        (
            "import os\nos.environ['SHOP_REGION']",
            "shopbot.flow failed: KeyError: 'SHOP_REGION'",
            "set SHOP_REGION, or correct its code",
        ),
        (
            "raise ValueError('SHOP_TOKEN is not set')",
            "shopbot.flow failed: ValueError: SHOP_TOKEN is not set",
            "set SHOP_TOKEN, or correct its code",
        ),
        (
            "raise ValueError('bad state: NOT_READY')",
            "shopbot.flow failed: ValueError: bad state: NOT_READY",
            "correct its code",
        ),
        (
            "import not_there_at_all",
            "shopbot.flow failed: ModuleNotFoundError: No module named 'not_there_at_all'",
            "install that module, or name its folder with PYTHONPATH",
        ),
    ],
    ids=["key", "variable", "token", "other", "module"],
)
def test_code_of_a_package_that_fails_has_a_remedy_that_fits(
    code: Path, source: str, told: str, remedy: str
) -> None:
    (code / "shopbot/flow.py").write_text(source)
    agent_files.put(code.parent / "agents", "a", KINDS["graph"][0])
    (fault,) = check(code.parent / "agents", TOOLS)
    assert str(fault) == f"a.yaml:6: spec.graph: {told} ({remedy})"


@pytest.mark.parametrize("target", ["shopbot.flaw:graph", "shopless:graph", "shopless.flow:graph"])
def test_a_module_that_is_not_there_is_told_where_it_may_be(code: Path, target: str) -> None:
    agent_files.put(code.parent / "agents", "a", f"type: langgraph\ngraph: '{target}'")
    (fault,) = check(code.parent / "agents", TOOLS)
    assert fault.remedy == imports.WHERE
