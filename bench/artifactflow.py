"""API B: what a token costs to encode, how soon it is with its reader, many streams at once, and memory over
many streams."""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench import load
from bench.load import Read
from bench.log import TOKENS
from bench.measure import Line, Table, on_loop, percentile
from bench.server import Ours, ours, raw
from caesura.core.events import Envelope, ModelStarted, RunStarted, TextDelta
from caesura.dialects.artifactflow.encode import Encoder
from caesura.http.frames import encoded

TOKEN_GOAL = 6.0
FLAT = 1.2
_TOKEN = b'"type":"llm_chunk"'
_END = b"event: complete"
_BATCH = 8
_TIME = re.compile(rb'"content":"(\d{9,}) "')
#: How many times each run is read in the measurement of memory.
_TIMES = 5
_AT_ONCE = 20


def run(quick: bool) -> Iterator[Table]:
    yield _encoder(quick)
    yield on_loop(_latency(quick))
    yield on_loop(_connections(quick))
    yield on_loop(_memory(quick))


# --- a token


def _encoder(quick: bool) -> Table:
    table = Table("artifactflow, encoding; baseline: json.dumps and an f-string for each token")
    count, times = (20_000, 3) if quick else (100_000, 5)
    texts = {"English": TOKENS, "Chinese": [text * 2 for text in "我来调用工具并把结果告诉您"]}
    for language, tokens in texts.items():
        said = [tokens[number % len(tokens)] for number in range(count)]
        at = 1_700_000_000_000
        events = [Envelope(n + 3, at + 10 * n, TextDelta(1, text)) for n, text in enumerate(said)]
        mine = _median(times, lambda events=events: _encode(events))  # type: ignore[misc]
        bare = _median(times, lambda said=said: _encode_bare(said))  # type: ignore[misc]
        per_token = 1e6 / count
        name = f"a token of {language}, {_BATCH} at once"
        table.lines.append(Line(name, mine * per_token, bare * per_token, "µs", goal=TOKEN_GOAL))
    return table


def _encode(events: list[Envelope]) -> None:
    encoder = Encoder("conv-0123456789abcdefghjkmnpq", "turn-0123456789abcdefghjkmnpq")
    begun = [Envelope(1, 0, RunStarted("demo", 1, "start", 1)), Envelope(2, 0, ModelStarted(1, "demo"))]
    state, _ = encoded(encoder, encoder.start(1), begun)
    for start in range(0, len(events), _BATCH):
        state, _ = encoded(encoder, state, events[start : start + _BATCH])


def _encode_bare(said: list[str]) -> None:
    for number, text in enumerate(said):
        chunk = {"content": text, "reasoning_content": ""}
        data = {"type": "llm_chunk", "agent": "demo", "timestamp": "2026-02-14T10:00:00.123Z", "data": chunk}
        f"id: {number}\nevent: stream\ndata: {json.dumps(data)}\n\n".encode()


def _median(times: int, work: Callable[[], None]) -> float:
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)


# --- how soon a token is with its reader


async def _latency(quick: bool) -> Table:
    title = "artifactflow, from the model's word to its reader, a word every 10 ms; baseline: raw Starlette"
    table = Table(title)
    for streams in (1, 20):
        async with raw() as port:
            what = load.request("POST", f"/?tokens={100 if quick else 300}&delay=0.01&clock=1")
            bare = await _delays([_delayed(port, what) for _ in range(streams)])
        async with ours() as server:
            urls = [await _sent(server, "clock") for _ in range(streams)]
            asked = [load.request("GET", url, server.token) for url in urls]
            mine = await _delays([_delayed(server.port, what) for what in asked])
        name = "1 stream" if streams == 1 else f"{streams} streams"
        table.lines += [
            Line(f"{name}, p50", statistics.median(mine), statistics.median(bare), "ms"),
            Line(f"{name}, p99", percentile(mine, 99), percentile(bare, 99), "ms"),
        ]
    return table


async def _delays(readers: list[Any]) -> list[float]:
    return [delay for delays in await asyncio.gather(*readers) for delay in delays]


async def _delayed(port: int, what: bytes) -> list[float]:
    """For each word, the milliseconds from when it was said to when it was here. The first pieces are left
    out: what was said before the reader came waited for the reader."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(what)
    found: list[list[float]] = []
    rest = b""
    while piece := await reader.read(65536):
        now = time.monotonic_ns()
        whole, end, rest = (rest + piece).rpartition(b"\n\n")
        if said := [int(match) for match in _TIME.findall(whole + end)]:
            found.append([(now - at) / 1e6 for at in said])
    writer.close()
    return [delay for delays in found[3:] for delay in delays]


# --- many at once


async def _connections(quick: bool) -> Table:
    table = Table("artifactflow, streams at once, 200 tokens, one every 10 ms; baseline: raw Starlette")
    runs, readers = (50, 100) if quick else (100, 500)
    async with raw() as port:
        what = load.request("POST", "/?tokens=200&delay=0.01")
        bare = [await _crowd([load.read(port, what) for _ in range(count)]) for count in (runs, readers)]
    async with ours() as server:
        many = await _crowd([_talk(server, "paced") for _ in range(runs)])
        url = await _sent(server, "paced")
        one = await _crowd([_read(server, url) for _ in range(readers)])
    table.lines = [
        Line(f"{runs} runs, each with a reader, last done", many[0], bare[0][0], "s"),
        Line(f"{readers} readers of one run, last done", one[0], bare[1][0], "s"),
        Line("streams that were not whole", many[1] + one[1], None, "", goal=1),
    ]
    return table


async def _crowd(readers: list[Any]) -> tuple[float, int]:
    """Seconds until the last one has ended, and how many did not get everything."""
    began = time.perf_counter()
    found: list[Read] = await asyncio.gather(*readers)
    return time.perf_counter() - began, sum(read.tokens != 200 for read in found)


# --- memory


async def _memory(quick: bool) -> Table:
    total = 2_000 if quick else 10_000
    early = total // 5
    table = Table(f"artifactflow, the server's memory over {total:,} streams; baseline: after {early:,}")
    async with ours() as server:
        wrong = await _streams(server, early)
        before = await _resting(server)
        wrong += await _streams(server, total - early)
        after = await _resting(server)
    table.lines = [
        Line("resident memory", after / 1e6, before / 1e6, "MB", goal_ratio=FLAT),
        Line("streams that were not whole", wrong, None, "", goal=1),
    ]
    return table


async def _streams(server: Ours, count: int) -> int:
    """Runs that are read several times each, once live and then from the log."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def talk() -> int:
        async with gate:
            url = await _sent(server, "short")
            found = [await _read(server, url) for _ in range(_TIMES)]
            return sum(not (read.ended and read.tokens == 20) for read in found)

    return sum(await asyncio.gather(*[talk() for _ in range(count // _TIMES)]))


async def _resting(server: Ours) -> int:
    await asyncio.sleep(2)
    return server.rss()


async def _sent(server: Ours, agent: str) -> str:
    """Where the run of a new message is read."""
    url: str = (await server.ask("POST", "/api/v1/chat", {"content": "hi", "agent": agent}))["stream_url"]
    return url


async def _talk(server: Ours, agent: str) -> Read:
    return await _read(server, await _sent(server, agent))


async def _read(server: Ours, url: str) -> Read:
    return await load.read(server.port, load.request("GET", url, server.token), _TOKEN, _END)
