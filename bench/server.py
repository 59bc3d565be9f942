"""The server as a client sees it, beside a raw stream without any agent and a bare graph without a server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import psutil
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from bench import load
from bench.langchain_parrot import LangChainParrot
from bench.load import Read
from bench.measure import Line, Table, on_loop, percentile

_ROOT = Path(__file__).parent.parent
_SERVE = (
    *(sys.executable, "-m", "caesura", "serve", "--log-level", "error"),
    *("--rate-requests", "off", "--rate-runs", "off"),
    *("--rate-logins", "off", "--rate-registrations", "off"),
    *("--streams-per-person", "10000", "--runs-per-person", "off"),
)
_AGENT = """
apiVersion: caesura/v1
kind: Agent
metadata: {{name: {name}}}
spec:
  model: {{class: "bench.parrot:Parrot", options: {{tokens: {tokens}, delay: {delay}, clock: {clock}}}}}
  tools: [list_files]
  permissions: {{list_files: confirm}}
"""
_AGENTS = {
    "short": (20, 0),
    "long": (5000, 0),
    "burst": (2000, 0),
    "steady": (600, 0.01),
    "paced": (200, 0.01),
    "slow": (3000, 0.01),
    "silent": (1, 600),
    "clock": (300, 0.01),
}


def run(quick: bool) -> Iterator[Table]:
    yield on_loop(_one(quick))
    yield on_loop(_steady(quick))
    yield on_loop(_many(quick))
    yield on_loop(_rest(quick))


class Ours:
    """The server in a process of its own, with one person and agents, each in a file of this text."""

    def __init__(self, folder: Path, agents: Mapping[str, str], database_url: str | None) -> None:
        self.port, self.folder = _free_port(), folder
        self._database = ("--database-url", database_url) if database_url else ()
        (folder / "agents").mkdir()
        for name, text in agents.items():
            (folder / "agents" / f"{name}.yaml").write_text(text)
        self.token = ""
        self.process = self.start()

    def start(self) -> psutil.Popen:
        places = ("--data-dir", str(self.folder / "data"), "--agents-dir", str(self.folder / "agents"))
        self.process = psutil.Popen(
            [*_SERVE, "--port", str(self.port), *places, *self._database],
            cwd=_ROOT,
            env=os.environ | {"CAESURA_SECRET": "a secret of the benchmark, long enough to sign with"},
            stderr=subprocess.DEVNULL,
        )
        return self.process

    async def ready(self) -> None:
        await _answers(self.port, load.request("GET", "/health"))
        if not self.token:
            await self.sign_in("bench")

    async def sign_in(self, name: str) -> None:
        """Register this person, and ask as them from now on."""
        who = {"username": name, "password": "correct horse"}
        await self.ask("POST", "/api/auth/register", who)
        self.token = (await self.ask("POST", "/api/auth/login", who))["access_token"]

    async def ask(self, method: str, path: str, body: object | None = None) -> Any:
        return orjson.loads(
            await load.fetch(self.port, load.request(method, path, self.token, body)) or b"null"
        )

    async def thread(self, agent: str) -> str:
        found: str = (await self.ask("POST", "/api/sessions", {"agent": agent}))["thread_id"]
        return found

    async def chat(self, thread: str, message: str = "hi") -> Read:
        body = {"message": message, "on_disconnect": "continue"}
        return await load.read(self.port, load.request("POST", f"/api/chat/{thread}", self.token, body))

    async def resume(self, thread: str) -> Read:
        body = {"action": "continue"}
        return await load.read(self.port, load.request("POST", f"/api/resume/{thread}", self.token, body))

    def cpu(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def rss(self) -> int:
        return int(self.process.memory_info().rss)


def parrots(agents: Mapping[str, tuple[int, float]]) -> dict[str, str]:
    """Agents that cost nothing, with so many tokens and so many seconds before each."""
    return {
        name: _AGENT.format(name=name, tokens=tokens, delay=delay, clock=name == "clock")
        for name, (tokens, delay) in agents.items()
    }


@asynccontextmanager
async def ours(
    agents: Mapping[str, str] | None = None, database_url: str | None = None
) -> AsyncIterator[Ours]:
    with tempfile.TemporaryDirectory(prefix="caesura-bench-") as folder:
        files = agents or parrots(_AGENTS)
        server = Ours(Path(folder), files, database_url)
        try:
            await server.ready()
            for name in ("short",) if agents is None else files:
                await server.chat(await server.thread(name))
            yield server
        finally:
            if server.process.is_running():
                server.process.kill()
            server.process.wait()


@asynccontextmanager
async def raw() -> AsyncIterator[int]:
    port = _free_port()
    process = psutil.Popen([sys.executable, "-m", "bench.raw", str(port)], cwd=_ROOT)
    try:
        await _answers(port, load.request("POST", "/?tokens=1&delay=0"))
        yield port
    finally:
        process.kill()
        process.wait()


# --- one stream at a time


async def _one(quick: bool) -> Table:
    table = Table("server, one stream at a time; baseline: bare graph.astream + AsyncSqliteSaver, no server")
    times = 15 if quick else 60
    async with ours() as server:
        firsts = [(await server.chat(await server.thread("short"))).first for _ in range(times)]
        resumed = [await approved(server) for _ in range(times)]
        bursts = [(await server.chat(await server.thread("burst"))).first for _ in range(times // 3)]
        cpu, began = server.cpu(), time.perf_counter()
        long = [await server.chat(await server.thread("long")) for _ in range(3)]
        spent, wall = server.cpu() - cpu, time.perf_counter() - began
    tokens = sum(read.tokens for read in long)
    bare = await bare_figures(times)
    table.lines = [
        Line("first token p50", _ms(firsts), _ms(bare.firsts), "ms", goal_ratio=1.0),
        Line("first token p95", _p95(firsts), _p95(bare.firsts), "ms", goal_ratio=1.2),
        Line("first token of 2,000 at once, p50", _ms(bursts), _ms(bare.bursts), "ms", goal=8),
        Line(
            "answer to an approval -> first token p50", _ms(resumed), _ms(bare.resumed), "ms", goal_ratio=1.2
        ),
        Line("tokens/s, one stream", tokens / wall, bare.pace, "", goal_ratio=1.1, more=True),
        Line("CPU per token, through everything", spent / tokens * 1e6, bare.cpu, "µs", goal_ratio=0.7),
        Line("bytes per token on the wire", sum(read.size for read in long) / tokens, None, "B", goal=80),
    ]
    return table


async def approved(server: Ours) -> float:
    thread = await server.thread("short")
    await server.chat(thread, "look")
    return (await server.resume(thread)).first


class Bare(NamedTuple):
    """What the bare graph takes: seconds to first tokens, tokens a second, microseconds of CPU per token."""

    firsts: list[float]
    bursts: list[float]
    resumed: list[float]
    pace: float
    cpu: float


async def bare_figures(times: int) -> Bare:
    async with open_saver() as saver:
        short, burst, long = (bare_agent(LangChainParrot(tokens=count), saver) for count in (20, 2000, 5000))
        await bare_turn(short, "warm", "hi")
        firsts = [(await bare_turn(short, f"f{i}", "hi")).first for i in range(times)]
        resumed = []
        for number in range(times):
            await bare_turn(short, f"r{number}", "look")
            resumed.append((await bare_turn(short, f"r{number}", None)).first)
        bursts = [(await bare_turn(burst, f"b{i}", "hi")).first for i in range(times // 3)]
        cpu, began = time.process_time(), time.perf_counter()
        tokens = sum([(await bare_turn(long, f"l{i}", "hi")).tokens for i in range(3)])
        spent, wall = time.process_time() - cpu, time.perf_counter() - began
    return Bare(firsts, bursts, resumed, tokens / wall, spent / tokens * 1e6)


@asynccontextmanager
async def open_saver() -> AsyncIterator[AsyncSqliteSaver]:
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/bare.db") as saver:
            yield saver


def bare_agent(model: LangChainParrot, saver: Any) -> Any:
    @tool
    def list_files(path: str) -> str:
        """Look."""
        return "(empty)"

    asks = HumanInTheLoopMiddleware(interrupt_on={"list_files": True})
    return create_agent(model, [list_files], middleware=[asks], checkpointer=saver)


async def bare_turn(graph: Any, thread: str, message: str | None) -> Read:
    given: Any = {"messages": [HumanMessage(message)]} if message is not None else None
    if given is None:
        given = Command(resume={"decisions": [{"type": "approve"}]})
    seen, began = Read(), time.perf_counter()
    config = {"configurable": {"thread_id": thread}}
    async for chunk, _ in graph.astream(given, config, stream_mode="messages"):
        if chunk.type == "AIMessageChunk" and chunk.content:
            seen.first = seen.first or time.perf_counter() - began
            seen.tokens += 1
    return seen


# --- few at once, at a model's pace


async def _steady(quick: bool) -> Table:
    table = Table("server, a token every 10 ms; baseline: bare graph.astream + AsyncSqliteSaver, no server")
    for streams, goal in (1, 1.2), (5, 1.0):
        name = "1 stream" if streams == 1 else f"{streams} streams"
        async with ours() as server:
            threads = [await server.thread("steady") for _ in range(streams)]
            before = server.cpu()
            tokens = await _tokens(server.chat(thread) for thread in threads)
            mine = (server.cpu() - before) / tokens * 1e6
        async with open_saver() as saver:
            graph = bare_agent(LangChainParrot(tokens=600, delay=0.01), saver)
            before = time.process_time()
            tokens = await _tokens(bare_turn(graph, f"s{i}", "hi") for i in range(streams))
            bare = (time.process_time() - before) / tokens * 1e6
        table.lines.append(Line(f"CPU per token, {name}", mine, bare, "µs", goal_ratio=goal))
    return table


async def _tokens(readers: Iterable[Coroutine[Any, Any, Read]]) -> int:
    return sum(read.tokens for read in await asyncio.gather(*readers))


# --- many at once


async def _many(quick: bool) -> Table:
    table = Table(
        "server, many streams of 200 tokens, one every 10 ms (2.0 s at best); baseline: raw Starlette"
    )
    for streams in (100,) if quick else (100, 300):
        async with raw() as port:
            what = load.request("POST", "/?tokens=200&delay=0.01")
            bare = await _crowd([load.read(port, what) for _ in range(streams)])
        async with ours() as server:
            threads = [await server.thread("paced") for _ in range(streams)]
            mine = await _crowd([server.chat(thread) for thread in threads])
        goal = 1.4 if streams == 100 else 1.6
        table.lines += [
            Line(f"{streams} streams, last done", mine["last"], bare["last"], "s", goal_ratio=goal),
            Line(f"{streams} streams, gap p99", mine["gap"], bare["gap"], "ms", goal=50),
            Line(f"{streams} streams, errors", mine["errors"], None, "", goal=1),
        ]
    return table


async def _crowd(readers: list[Any]) -> dict[str, float]:
    began = time.perf_counter()
    found: list[Read] = await asyncio.gather(*readers)
    whole = time.perf_counter() - began
    gaps = [gap for read in found for gap in read.gaps]
    wrong = sum(read.tokens != 200 for read in found)
    return {"last": whole, "gap": percentile(gaps, 99) * 1000, "errors": wrong}


# --- room and time


async def _rest(quick: bool) -> Table:
    table = Table("server, what it holds and keeps")
    async with ours() as server:
        table.lines.append(await _idle(server, 100 if quick else 500))
        table.lines.append(await _stuck(server, 20 if quick else 50))
        table.lines += await _restarted(server, 3 if quick else 10)
    async with ours() as server:
        table.lines.append(await _disk(server, 50 if quick else 250))
    return table


async def _disk(server: Ours, turns: int) -> Line:
    thread = await server.thread("short")
    for _ in range(turns):
        await server.chat(thread)
    server.process.terminate()
    await asyncio.to_thread(server.process.wait)
    size = sum(path.stat().st_size for path in (server.folder / "data").glob("caesura.db*")) / 1e6
    return Line(f"disk at {2 * turns} messages, of 20 tokens each answer", size, None, "MB", goal=1.0)


async def _idle(server: Ours, streams: int) -> Line:
    """Many readers of one turn that says nothing."""
    thread = await server.thread("silent")
    held = [await _hold(server, "POST", f"/api/chat/{thread}", {"message": "hi"})]
    held += [await _hold(server, "GET", f"/api/chat/{thread}/stream") for _ in range(50)]
    await asyncio.sleep(1)
    before = server.rss()
    held += [await _hold(server, "GET", f"/api/chat/{thread}/stream") for _ in range(streams)]
    await asyncio.sleep(1)
    grown = (server.rss() - before) / streams / 1024
    for writer in held:
        writer.close()
    return Line("memory per idle stream", grown, None, "KB", goal=20)


async def _hold(server: Ours, method: str, path: str, body: object | None = None) -> asyncio.StreamWriter:
    """Open a stream and take nothing of it but its first byte: many requests that begin together would need
    room for their beginning, which is not what an open stream holds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
    writer.write(load.request(method, path, server.token, body))
    await reader.readexactly(1)
    return writer


async def _stuck(server: Ours, readers: int) -> Line:
    """Readers that take nothing, of one turn that says a lot, beside one that takes all."""
    thread = await server.thread("slow")
    reading = asyncio.ensure_future(server.chat(thread))
    await asyncio.sleep(3)
    before = server.rss()
    held = [await _hold(server, "GET", f"/api/chat/{thread}/stream") for _ in range(readers)]
    await asyncio.sleep(10)
    grown = (server.rss() - before) / readers / 1e6
    reading.cancel()
    for writer in held:
        writer.close()
    return Line("memory per stuck reader", grown, None, "MB", goal=1.0)


async def _restarted(server: Ours, times: int) -> list[Line]:
    found = [await _restart(server) for _ in range(times)]
    starts, words = ([each[place] for each in found] for place in (0, 1))
    return [
        Line("kill -9 -> /health, start included, p50", statistics.median(starts), None, "s"),
        Line("/health -> streaming again, p50", statistics.median(words), None, "s", goal=0.1),
        Line(f"/health -> streaming again, worst of {times}", max(words), None, "s", goal=0.4),
    ]


async def _restart(server: Ours) -> tuple[float, float]:
    """Seconds from the start to the first answer, and from there to the next word of a turn that ran."""
    thread = await server.thread("slow")
    path = f"/api/chat/{thread}"
    reading = asyncio.ensure_future(server.chat(thread))
    await asyncio.sleep(1)
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    await asyncio.wait([reading])
    began = time.perf_counter()
    server.start()
    await server.ready()
    ready = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(load.request("GET", f"{path}/stream", server.token))
    seen = b""
    while b"messages/reset" not in seen or load.TOKEN not in seen.partition(b"messages/reset")[2]:
        seen += await reader.read(65536)
    writer.close()
    words = time.perf_counter()
    await server.ask("POST", f"/api/chat/{thread}/stop")
    return ready - began, words - ready


def _ms(values: list[float]) -> float:
    return statistics.median(values) * 1000


def _p95(values: list[float]) -> float:
    return percentile(values, 95) * 1000


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def _answers(port: int, what: bytes) -> None:
    for _ in range(1500):
        try:
            if await load.fetch(port, what):
                return
        except OSError:
            pass
        await asyncio.sleep(0.02)
    raise TimeoutError(f"nothing answers on port {port}")
