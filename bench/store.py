"""The store: a page of conversations costs the same however many there are."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from sqlalchemy import Connection, insert, text

from bench import places
from bench.measure import Line, Table, on_loop
from caesura.store import conversations, schema
from caesura.store.database import Database
from caesura.store.open import open_database

PAGE = 20
#: The same within noise.
SAME = 1.5
#: So many are made in one transaction, which may take only so long.
_STEP = 50_000


def run(quick: bool) -> Iterator[Table]:
    with places.sqlite() as url:
        yield on_loop(_measure("SQLite", url, quick))
    with places.postgres() as shared:
        if shared is not None:
            yield on_loop(_measure("PostgreSQL", shared, quick))


async def _measure(where: str, url: str, quick: bool) -> Table:
    table = Table(f"store, a page of {PAGE} conversations, on {where}; baseline: a person who has 100")
    database = await open_database(url)
    many, all_ = (20_000, 100_000) if quick else (100_000, 1_000_000)
    people = {"few": 100, "some": 10_000, "many": many, "rest": all_ - many - 10_100}
    for name, count in people.items():
        await fill(database, name, count)
    if database.shared:
        await database.write(_analyze)
    few = await _page(database, "few", 0)
    lines = {
        f"of {people['some']:,}, among {all_:,}": ("some", 0),
        f"of {many:,}, among {all_:,}": ("many", 0),
        f"of {many:,}, from the middle on": ("many", many // 2),
        f"of {many:,}, the last": ("many", many - PAGE),
    }
    for what, (name, place) in lines.items():
        table.lines.append(Line(what, await _page(database, name, place), few, "ms", goal_ratio=SAME))
    await database.close()
    return table


async def _page(database: Database, name: str, place: int) -> float:
    """The milliseconds for a page that begins after this place, median of many."""
    after = (1_700_000_000_000 - place, "~") if place else None
    times: list[float] = []
    for _ in range(100):
        began = time.perf_counter()
        page = await database.read(conversations.page, name, PAGE, after=after)
        times.append((time.perf_counter() - began) * 1e3)
        assert len(page.items) == PAGE
    return statistics.median(times)


async def fill(database: Database, name: str, count: int) -> None:
    """A person with so many conversations, a millisecond apart, the newest first."""
    await database.write(_register, name, count)
    for start in range(0, count, _STEP):
        await database.write(_fill, name, start, min(start + _STEP, count))


def _register(connection: Connection, name: str, count: int) -> None:
    person = {"id": name, "password_hash": "", "conversation_count": count, "created_at": 0}
    connection.execute(insert(schema.users).values(**person))


def _fill(connection: Connection, name: str, start: int, end: int) -> None:
    series = (
        "WITH RECURSIVE n(i) AS (SELECT :start UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :end)"
        if connection.dialect.name == "sqlite"
        else "WITH n(i) AS (SELECT generate_series(CAST(:start AS int), :end - 1))"
    )
    made = "1700000000000 - i"
    statement = (
        f"{series} INSERT INTO conversations (id, user_id, agent, title, turn_count, created_at, updated_at)"
        f" SELECT '{name}-' || i, '{name}', 'demo', 'Conversation ' || i, 0, {made}, {made} FROM n"
    )
    connection.execute(text(statement), {"start": start, "end": end})


def _analyze(connection: Connection) -> None:
    connection.execute(text("ANALYZE"))
