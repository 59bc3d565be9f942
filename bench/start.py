"""A restart: from `caesura serve` to the first answered request, and the memory of a server at rest. Beside
the same of an earlier commit, which `git` must know."""

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
#: Seconds after the first answer in which a server comes to rest.
_REST = 3.0


class Start(NamedTuple):
    """Seconds on the clock and of the processors until the first answer, and bytes at rest."""

    wall: float
    cpu: float
    memory: int


def run(quick: bool) -> Iterator[Table]:
    with TemporaryDirectory(prefix="caesura-bench-") as folder:
        before = _checkout(Path(folder) / "before")
        sources = [(_ROOT / "src", Path(folder) / "data")]
        if before is not None:
            sources.append((before, Path(folder) / "before-data"))
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
    """The sources of the baseline; None where git does not have them. It shows the page of today."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", BASELINE, "src"], cwd=_ROOT, capture_output=True, check=False)
    if archive.returncode:
        return None
    subprocess.run(["tar", "-x"], input=archive.stdout, cwd=folder, check=True)
    page = _ROOT / "src" / "caesura" / "page"
    if page.is_dir():
        shutil.copytree(page, folder / "src" / "caesura" / "page")
    return folder / "src"


async def _start(source: Path, data: Path) -> Start:
    port = _free_port()
    command = [sys.executable, "-m", "caesura", "serve", "--log-level", "error", "--port", str(port)]
    environ = {**os.environ, "PYTHONPATH": str(source)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed server is compiled once
    began = time.perf_counter()
    process = psutil.Popen([*command, "--data-dir", str(data)], env=environ, stderr=subprocess.DEVNULL)
    try:
        await _answers(port, load.request("GET", "/health"))
        wall, spent = time.perf_counter() - began, process.cpu_times()
        await asyncio.sleep(_REST)
        return Start(wall, spent.user + spent.system, process.memory_info().rss)
    finally:
        process.terminate()
        process.wait()
