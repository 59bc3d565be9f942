"""What goes into the package: the web page, whether or not the machine that builds it has Node."""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.programs import required

ROOT = Path(__file__).parents[1]
#: Does what `npm ci` and `npm run build` do, and notes that it was called.
NPM = """#!/bin/sh
echo "$*" >> "{calls}"
case "$1" in
ci) mkdir -p node_modules ;;
run) mkdir -p dist/assets && echo "new page" > dist/index.html && echo 1 > dist/assets/new.js ;;
esac
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what a wheel is built from, with a small web folder."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py"):
        shutil.copy(ROOT / name, project / name)
    ignored = shutil.ignore_patterns("__pycache__", "page", "page.*")
    shutil.copytree(ROOT / "src", project / "src", ignore=ignored)
    web = project / "web"
    (web / "src").mkdir(parents=True)
    shutil.copy(ROOT / "web" / "build.py", web / "build.py")
    (web / "package-lock.json").write_text("{}")
    (web / "src" / "main.tsx").write_text("1")
    return project


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH, with a Node and an npm that only look like them."""
    folder = tmp_path / "tools"
    folder.mkdir()
    scripts = {"node": "#!/bin/sh\necho v20.1.0\n", "npm": NPM.format(calls=tmp_path / "calls")}
    for name, text in scripts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def _builder(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("page_build", project / "web" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _wheel(project: Path, path: str) -> dict[str, bytes]:
    """The files of a wheel that is built with only these programs."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(project / "out")]
    environment = {**os.environ, "PATH": path}
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
    [wheel] = (project / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def _without_node(tmp_path: Path) -> str:
    empty = tmp_path / "empty"
    empty.mkdir()
    return str(empty)


def test_a_wheel_carries_a_page_that_was_built_for_it(project: Path, tools: Path, tmp_path: Path) -> None:
    files = _wheel(project, f"{tools}:/bin:/usr/bin")
    assert files["caesura/page/index.html"] == b"new page\n"
    assert "caesura/page/assets/new.js" in files
    assert "caesura/app.py" in files
    assert (tmp_path / "calls").read_text().splitlines() == ["ci --no-audit --no-fund", "run build"]


def test_a_wheel_that_is_built_without_node_carries_the_page_that_is_there(
    project: Path, tmp_path: Path
) -> None:
    page = project / "src" / "caesura" / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("old page")
    (page / "assets" / "old.js").write_text("1")
    files = _wheel(project, _without_node(tmp_path))
    assert files["caesura/page/index.html"] == b"old page"
    assert "caesura/page/assets/old.js" in files


def test_a_wheel_without_node_and_without_a_page_is_still_a_server(project: Path, tmp_path: Path) -> None:
    files = _wheel(project, _without_node(tmp_path))
    assert "caesura/app.py" in files
    assert not [name for name in files if name.startswith("caesura/page/")]


def test_the_page_is_built_again_only_when_its_sources_have_changed(
    project: Path, tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tools}:/bin:/usr/bin")
    builder, web = _builder(project), project / "web"
    assert builder.stale()
    builder.build()
    assert not builder.stale()
    (web / "src" / "main.test.tsx").write_text("a test is not a part of the page")
    os.utime(web / "src" / "main.tsx")
    assert not builder.stale()
    (web / "src" / "main.tsx").write_text("2")
    assert builder.stale()
    builder.build()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["ci --no-audit --no-fund", "run build", "run build"]


def test_a_build_that_fails_leaves_the_page_as_it_was(
    project: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tools}:/bin:/usr/bin")
    builder = _builder(project)
    builder.build()
    (project / "web" / "src" / "main.tsx").write_text("2")
    (tools / "npm").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(subprocess.CalledProcessError):
        builder.build()
    assert (builder.PAGE / "index.html").read_text() == "new page\n"
    assert builder.stale()


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("false", 0)])
def test_without_node_the_build_says_so_in_one_sentence_and_fails_only_in_ci(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ci: str,
    code: int,
) -> None:
    monkeypatch.setenv("PATH", _without_node(tmp_path))
    monkeypatch.setenv("CI", ci)
    builder = _builder(project)
    assert builder.main([]) == code
    assert builder.main(["run", "lint"]) == code
    first, second = capsys.readouterr().err.splitlines()
    assert first == "the web page is not built: Node and npm are missing; install Node 20 or newer with npm"
    assert second.startswith("the checks of web/ are left out: ")


def test_an_old_node_is_named(project: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tools / "node").write_text("#!/bin/sh\necho v18.19.0\n")
    monkeypatch.setenv("PATH", f"{tools}:/bin:/usr/bin")
    builder = _builder(project)
    with pytest.raises(builder.NoNode, match=r"v18\.19\.0"):
        builder.build()


@pytest.mark.skipif(not required(), reason="`make test` builds the page first")
def test_the_page_of_this_checkout_is_built_from_its_sources() -> None:
    assert not _builder(ROOT).stale()
