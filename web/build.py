"""Builds the web page into the package when its sources have changed, and runs the checks of web/.

python web/build.py             build the page if it is stale
python web/build.py run lint    run a script of package.json
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WEB = Path(__file__).parent
PAGE = WEB.parent / "src" / "caesura" / "page"
NODE = 20
#: What is not built from: tools, tests and what they leave.
_OUTSIDE = {"node_modules", "dist", "dev", "build.py", "__pycache__"}
_TEST = re.compile(r"\.test\.tsx?$")
_STAMP = "sources.sha256"


class NoNode(Exception):
    """There is no Node that can build the page."""


def stale(web: Path = WEB, page: Path = PAGE) -> bool:
    """Whether the page was built from other sources. The times of files say nothing after a checkout."""
    stamp = page / _STAMP
    return not stamp.is_file() or stamp.read_text() != digest(web)


def digest(web: Path) -> str:
    found = hashlib.sha256()
    for path in _sources(web):
        found.update(f"{path.relative_to(web).as_posix()}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def build(web: Path = WEB, page: Path = PAGE) -> None:
    """Build, and then put the new page in the place of the old one. A build that fails changes nothing."""
    built_from = digest(web)
    install(web)
    npm(web, "run", "build")
    new, old = page.with_name("page.new"), page.with_name("page.old")
    for folder in (new, old):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(web / "dist", new)
    (new / _STAMP).write_text(built_from)
    if page.exists():
        page.rename(old)
    new.rename(page)
    shutil.rmtree(old, ignore_errors=True)


def install(web: Path = WEB) -> None:
    """Install the locked packages, if the lock is another one than that of the last time."""
    lock = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    stamp = web / "node_modules" / ".lock.sha256"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    npm(web, "ci", "--no-audit", "--no-fund")
    stamp.write_text(lock)


def npm(web: Path, *arguments: str) -> None:
    subprocess.run([_npm(), *arguments], cwd=web, check=True, stdout=sys.stderr)


def _npm() -> str:
    node, found = shutil.which("node"), shutil.which("npm")
    if node is None or found is None:
        raise NoNode("Node and npm are missing")
    version = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    major = re.match(r"v(\d+)\.", version)
    if major is None or int(major[1]) < NODE:
        raise NoNode(f"this Node is {version.strip()}")
    return found


def _sources(web: Path) -> Iterator[Path]:
    inside = (path for path in sorted(web.iterdir()) if path.name not in _OUTSIDE)
    for top in inside:
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not _TEST.search(path.name):
                yield path


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["run", script]:
                install()
                npm(WEB, "run", "--silent", script)
            case []:
                if stale():
                    build()
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except NoNode as error:
        what = "the checks of web/ are left out" if arguments else "the web page is not built"
        print(f"{what}: {error}; install Node {NODE} or newer with npm", file=sys.stderr)
        # CI must not pass because something was left out.
        return 1 if os.environ.get("CI") == "true" else 0
    except subprocess.CalledProcessError as error:
        return error.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
