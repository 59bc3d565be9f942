"""Artifacts: what versions take of the disk, how fast they open, how fast a text is found and compared."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from sqlalchemy import Connection, func, select

from bench import places
from bench.measure import Line, Table, on_loop, percentile
from caesura.core import artifacts as core
from caesura.core import diffs, matching
from caesura.core.errors import BadInput
from caesura.store import artifacts, conversations, schema, users
from caesura.store.database import Database
from caesura.store.open import open_database

_WORDS = (
    "the",
    "of",
    "to",
    "and",
    "in",
    "is",
    "it",
    "that",
    "for",
    "on",
    "with",
    "as",
    "was",
    "from",
    "have",
)


def run(quick: bool) -> Iterator[Table]:
    versions = 100 if quick else 500
    with places.sqlite() as url:
        yield on_loop(_stored("SQLite", url, versions))
    with places.postgres() as shared:
        if shared is not None:
            yield on_loop(_stored("PostgreSQL", shared, versions))
    yield _searched(200_000 if quick else 1_000_000)


async def _stored(where: str, url: str, versions: int) -> Table:
    table = Table(
        f"artifacts, {versions} versions of 100 KB with one line changed each, on {where}; baseline: whole"
    )
    database = await open_database(url)
    await database.write(_begin)
    lines = _lines(100_000, random.Random(1))
    content = "\n".join(lines)
    first = artifacts.draft(core.create(content))
    await database.write(artifacts.create, "c", "plan", title="x", content_type="text", first=first)
    pick = random.Random(2)
    for _ in range(versions - 1):
        lines[pick.randrange(len(lines))] = _lines(60, pick)[0]
        base = await database.read(artifacts.base, "c", "plan")
        made = artifacts.draft(core.rewrite("\n".join(lines)), base)
        await database.write(artifacts.add, "c", "plan", made)
    plain = len(content) * versions / 1e6
    table.lines.append(Line("stored", await database.read(_size) / 1e6, plain, "MB", goal=10))
    times = [await _opened(database, number) for number in range(1, versions + 1)]
    table.lines.append(Line("opening a version, p50", percentile(times, 50), unit="ms"))
    table.lines.append(Line("opening a version, p99", percentile(times, 99), unit="ms"))
    table.lines.append(Line("opening a version, the slowest", max(times), unit="ms", goal=10))
    await database.close()
    return table


async def _opened(database: Database, number: int) -> float:
    """Milliseconds; the better of two, because other processes run too."""
    found: list[float] = []
    for _ in range(2):
        began = time.perf_counter()
        await database.read(artifacts.version, "c", "plan", number)
        found.append((time.perf_counter() - began) * 1000)
    return min(found)


def _searched(size: int) -> Table:
    table = Table(f"artifacts, in {size / 1e6:g} MB; processor time beside the event loop")
    lines = _lines(size, random.Random(3))
    content, middle = "\n".join(lines), len(lines) // 2

    def add(what: str, work: Callable[..., object], *args: str) -> None:
        began = time.thread_time()
        work(*args)
        table.lines.append(Line(what, (time.thread_time() - began) * 1000, unit="ms"))

    for count in (1, 30, 300):
        old = "\n".join(lines[middle : middle + count])
        add(f"exact, {len(old):,} characters", matching.find, content, old)
        add(f"other white space, {len(old):,} characters", matching.find, content, old.replace(" ", "  "))
        add(f"missing, {len(old):,} characters", _missing, content, f"{old[:20]}#{old[21:]}")
    others = [*lines[:middle], "new", *lines[middle + 1 :]]
    add("diff, one line", diffs.diff, content, "\n".join(others))
    random.Random(4).shuffle(others)
    add("diff, all lines moved", diffs.diff, content, "\n".join(others))
    return table


def _missing(content: str, old: str) -> None:
    with suppress(BadInput):
        matching.find(content, old)


def _lines(size: int, pick: random.Random) -> list[str]:
    """Lines that are all different, with numbers, as in a report."""
    lines: list[str] = []
    while size > 0:
        line = " ".join([*pick.choices(_WORDS, k=8), f"{pick.random():.9f}"])
        lines.append(line)
        size -= len(line) + 1
    return lines


def _begin(connection: Connection) -> None:
    users.create(connection, "alice", "hash")
    conversations.create(connection, "c", "alice", "assistant")


def _size(connection: Connection) -> int:
    columns = schema.artifact_versions.c
    size = func.sum(func.length(columns.content) + func.length(columns.changes))
    return int(connection.execute(select(size)).scalar_one())
