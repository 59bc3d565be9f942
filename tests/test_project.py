"""The project itself: what its pages promise about its files."""

import dataclasses
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import caesura
from caesura.core import events

ROOT = Path(__file__).parents[1]
EVENTS = [*get_args(events.Event), events.Envelope]
# In two parts, so that this file does not contain what it looks for.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("python" + "hosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("deb", "debian", "org"),
        ("crates", "io"),
    )
]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$", re.MULTILINE | re.DOTALL)
VARIABLE = re.compile(r"\bCAESURA_[A-Z0-9_]*[A-Z0-9]\b")


def _files(*patterns: str) -> list[Path]:
    """The files that git tracks, or would if they were added now."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


def _text(path: Path) -> str | None:
    """The file's text; None for a file that is not text."""
    data = path.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", "replace")


def _pages() -> list[Path]:
    return _files("*.md")


def _decisions() -> list[Path]:
    return sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))


def _links(page: Path) -> Iterator[tuple[str, str]]:
    """The file and the anchor of each link that stays in the repository."""
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            yield name, anchor


def _anchors(page: Path) -> set[str]:
    headings = HEADING.findall(CODE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_newest_version_in_the_changelog_is_the_packages() -> None:
    versions = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == caesura.__version__


def test_the_licence_is_there() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_no_file_contains_the_address_of_a_registry() -> None:
    texts = ((path, _text(path)) for path in _files())
    found = [(path.name, name) for path, text in texts if text for name in REGISTRIES if name in text]
    assert found == []


def test_the_lock_of_the_web_page_says_what_but_not_from_where() -> None:
    packages = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    assert len(packages) > 1
    own = {name: package for name, package in packages.items() if name}
    assert [name for name, package in own.items() if "resolved" in package] == []
    assert [name for name, package in own.items() if "integrity" not in package] == []


def test_the_lock_of_the_web_page_has_every_package_that_a_package_of_it_names() -> None:
    # `npm ci` refuses a lock that leaves out a package, also one that is optional and for another system.
    packages = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    locked = {name.rpartition("node_modules/")[2] for name in packages}
    named = {
        needed
        for package in packages.values()
        for kind in ("dependencies", "devDependencies", "optionalDependencies")
        for needed in package.get(kind, ())
    }
    assert named
    assert sorted(named - locked) == []


def test_every_link_to_a_file_leads_somewhere() -> None:
    broken = []
    for page in _pages():
        for name, anchor in _links(page):
            target = (page.parent / name).resolve() if name else page
            inside = target.is_relative_to(ROOT) and target.exists()
            if not inside or (anchor and anchor not in _anchors(target)):
                broken.append(f"{page.name}: {name}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_the_protocol_names_every_event_and_its_fields(event: type) -> None:
    text = (ROOT / "docs/protocol.md").read_text()
    lines = [line for line in text.splitlines() if f"`{event.__name__}`" in line]
    assert lines
    if dataclasses.is_dataclass(event):
        row = next(line for line in lines if line.startswith(f"| `{event.__name__}` |"))
        fields = re.findall(r"`(\w+)`", row.split("|")[3])
        assert fields == [field.name for field in dataclasses.fields(event)]


def test_every_variable_that_is_named_is_documented() -> None:
    documented = {name for page in _pages() for name in VARIABLE.findall(page.read_text())}
    texts = [_text(path) or "" for path in _files("src", "tests", "Makefile")]
    named = {name for text in texts for name in VARIABLE.findall(text)}
    assert named
    assert named - documented == set()


def test_the_extras_with_code_of_their_own_are_locked_to_the_tested_versions() -> None:
    tested = {line for line in (ROOT / "requirements/dev.txt").read_text().splitlines() if "==" in line}
    for extra in ("langchain", "langgraph"):
        lines = (ROOT / f"requirements/extras/{extra}.txt").read_text().splitlines()
        locked = {line for line in lines if "==" in line}
        assert any(line.startswith(f"{extra}==") for line in locked)
        assert locked <= tested


def test_nothing_advises_to_replace_the_editable_installation_by_a_copy() -> None:
    advised = re.compile(r"pip install ['\"]?\.")
    assert [path.name for path in _files("*.md", "src") if advised.search(_text(path) or "")] == []


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    names = [path.name for path in _decisions()]
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    assert [name for name, _ in _links(ROOT / "docs/decisions/README.md")] == names


def test_a_decision_has_context_decision_and_consequences() -> None:
    for path in _decisions():
        text = path.read_text()
        assert text.startswith(f"# {path.name[:4]}: ")
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences"], path.name
