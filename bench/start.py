"""A restart: from `caesura serve` to the first answered request, and the memory of a server at rest. Beside
the same of an earlier commit, which `git` must know, with the packages of its lock file, which `pip` must be
able to install."""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil

from bench import load
from bench.measure import Line, Table, on_loop
from bench.server import _answers, _free_port

_ROOT = Path(__file__).parent.parent
#: The last commit whose engine was built on LangChain's classes.
BASELINE = "a458c0d"
_LOCK = "requirements/run.txt"
#: Seconds after the first answer in which a server comes to rest, and between two looks at one that begins.
_REST, _GLANCE = 3.0, 0.2


class Start(NamedTuple):
    """Seconds on the clock and of the processors until the first answer, and bytes at rest."""

    wall: float
    cpu: float
    memory: int


def run(quick: bool) -> Iterator[Table]:
    with TemporaryDirectory(prefix="caesura-bench-") as folder:
        before = _checkout(Path(folder) / "before")
        sources = [([_ROOT / "src"], Path(folder) / "data")]
        if before is not None:
            sources.append(([before / "src", _packages(before)], Path(folder) / "before-data"))
        for each in sources:
            on_loop(_start(*each))  # compiles what is imported, and makes the database
        taken = [[on_loop(_start(*each)) for each in sources] for _ in range(3 if quick else 7)]
    ours = [each[0] for each in taken]
    theirs = [each[1] for each in taken if len(each) > 1]
    yield Table(
        f"start and rest; baseline: the server at {BASELINE}",
        [
            _line("serve to the first answer, CPU", ours, theirs, "cpu", 0.5),
            _line("serve to the first answer, clock", ours, theirs, "wall", 0.5),
            _line("memory at rest", ours, theirs, "memory", 0.7),
        ],
    )


def _line(what: str, ours: list[Start], theirs: list[Start], name: str, goal: float) -> Line:
    share = 1e6 if name == "memory" else 1.0
    found = [
        statistics.median(getattr(each, name) for each in some) / share for some in (ours, theirs) if some
    ]
    baseline = found[1] if theirs else None
    return Line(what, found[0], baseline, "MB" if name == "memory" else "s", goal_ratio=goal)


def _checkout(folder: Path) -> Path | None:
    """The sources and the lock file of the baseline; None where git does not have them. It shows the page of
    today."""
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", BASELINE, "src", _LOCK], cwd=_ROOT, capture_output=True, check=False
    )
    if archive.returncode:
        return None
    subprocess.run(["tar", "-x"], input=archive.stdout, cwd=folder, check=True)
    page = _ROOT / "src" / "caesura" / "page"
    if page.is_dir():
        shutil.copytree(page, folder / "src" / "caesura" / "page")
    return folder


def _packages(folder: Path) -> Path:
    """A folder with what the baseline needs. This environment has other packages, and not all of them."""
    packages = folder / "packages"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    command = [*pip, "--target", str(packages), "--requirement", str(folder / _LOCK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the packages of {BASELINE} cannot be installed: {done.stderr[-1000:]}")
    return packages


async def _start(paths: list[Path], data: Path) -> Start:
    port = _free_port()
    command = [sys.executable, "-m", "caesura", "serve", "--log-level", "error", "--port", str(port)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed server is compiled once
    began = time.perf_counter()
    process = psutil.Popen(
        [*command, "--data-dir", str(data)], env=environ, stderr=subprocess.PIPE, text=True
    )
    try:
        await _answer(process, port)
        wall, spent = time.perf_counter() - began, process.cpu_times()
        await asyncio.sleep(_REST)
        return Start(wall, spent.user + spent.system, process.memory_info().rss)
    finally:
        process.terminate()
        process.communicate()


async def _answer(process: psutil.Popen, port: int) -> None:
    """Wait for the first answer, or for the end of a server that cannot begin."""
    answered = asyncio.ensure_future(_answers(port, load.request("GET", "/health")))
    while not answered.done():
        if process.poll() is not None:
            answered.cancel()
            raise RuntimeError(f"the server did not begin: {process.stderr.read()[-1000:]}")
        await asyncio.wait([answered], timeout=_GLANCE)
    await answered
