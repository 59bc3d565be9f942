"""The server on PostgreSQL as a client sees it, beside a bare graph, and beside itself on SQLite."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from copy import copy

from bench import places, server
from bench.langchain_parrot import LangChainParrot
from bench.load import Read
from bench.measure import Line, Table, on_loop, percentile
from bench.server import Ours, ours

#: Streams of one person.
_EACH = 10
_BARE = "bare graph.astream + AsyncSqliteSaver, no server"


def run(quick: bool) -> Iterator[Table]:
    yield on_loop(_one(15 if quick else 60))
    yield on_loop(_steady(1 if quick else 3))
    yield on_loop(_many(100 if quick else 300))


@asynccontextmanager
async def _on_postgres() -> AsyncIterator[Ours]:
    with places.postgres() as url:
        if url is None:
            raise SystemExit("PostgreSQL is not installed: see `make servers`")
        async with ours(database_url=url) as started:
            yield started


async def _one(times: int) -> Table:
    table = Table(f"PostgreSQL, one stream at a time; baseline: {_BARE}")
    async with _on_postgres() as started:
        firsts = [(await started.chat(await started.thread("short"))).first for _ in range(times)]
        resumed = [await server.approved(started) for _ in range(times)]
    bare = await server.bare_figures(times)
    for what, mine, theirs, goal in (
        ("first token p50", firsts, bare.firsts, 2.0),
        ("answer to an approval -> first token p50", resumed, bare.resumed, 3.0),
    ):
        table.lines.append(Line(what, _ms(mine), _ms(theirs), "ms", goal_ratio=goal))
    return table


async def _steady(times: int) -> Table:
    table = Table(f"PostgreSQL, a token every 10 ms; baseline: {_BARE}")
    mine, bare = [], []
    for number in range(times):
        async with _on_postgres() as started:
            before = started.cpu()
            tokens = (await started.chat(await started.thread("steady"))).tokens
            mine.append((started.cpu() - before) / tokens * 1e6)
        async with server.open_saver() as saver:
            graph = server.bare_agent(LangChainParrot(tokens=600, delay=0.01), saver)
            before = time.process_time()
            tokens = (await server.bare_turn(graph, f"s{number}", "hi")).tokens
            bare.append((time.process_time() - before) / tokens * 1e6)
    ours, theirs = statistics.median(mine), statistics.median(bare)
    table.lines.append(Line("CPU per token, 1 stream", ours, theirs, "µs", goal_ratio=2.0))
    return table


async def _many(streams: int) -> Table:
    table = Table(
        f"PostgreSQL, {streams} streams of 200 tokens, 10 of each person, one every 10 ms; baseline: SQLite"
    )
    async with ours() as started:
        theirs, _ = await _crowd(started, streams)
    async with _on_postgres() as started:
        mine, spent = await _crowd(started, streams)
    table.lines = [
        Line("last done", _last(mine), _last(theirs), "s", goal_ratio=1.4),
        Line("first token p50", _first(mine), _first(theirs), "ms", goal=350),
        Line("gap p99", _gap(mine), _gap(theirs), "ms"),
        Line("CPU of the server", spent, None, "s"),
        Line("errors", sum(read.tokens != 200 for read in mine), None, "", goal=1),
    ]
    return table


async def _crowd(started: Ours, streams: int) -> tuple[list[Read], float]:
    """Streams of several people: what one person begins at once waits for one another."""
    people = []
    for number in range(streams // _EACH):
        await started.sign_in(f"person-{number}")
        people.append(copy(started))
    threads = [(person, await person.thread("paced")) for person in people for _ in range(_EACH)]
    before = started.cpu()
    found = await asyncio.gather(*(person.chat(thread) for person, thread in threads))
    return found, started.cpu() - before


def _last(found: list[Read]) -> float:
    return max(read.last for read in found)


def _first(found: list[Read]) -> float:
    return _ms([read.first for read in found])


def _gap(found: list[Read]) -> float:
    return percentile([gap for read in found for gap in read.gaps], 99) * 1000


def _ms(values: list[float]) -> float:
    return statistics.median(values) * 1000
