"""A turn with a provider's model, through the whole server: the built-in client beside `langchain-openai` and
beside a model inside the process that costs nothing.

The provider is a process of its own. All three say the same words at the same pace.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator

from bench.load import Read
from bench.measure import Line, Table, on_loop, percentile
from bench.server import Ours, ours, parrots
from bench.talker import talker

_AGENT = """
apiVersion: caesura/v1
kind: Agent
metadata: {{name: {name}}}
spec:
  model: {model}
  tools: [list_files]
"""
_STREAM = 2000
_CROWD, _PACE = 100, 0.01


def run(quick: bool) -> Iterator[Table]:
    yield on_loop(_one(quick))
    yield on_loop(_many(quick))


def _agents(url: str, tokens: int, delay: float) -> dict[str, str]:
    built_in = f'{{primary: "openai:test", base_url: "{url}"}}'
    options = f'{{model: test, base_url: "{url}", api_key: none, stream_usage: true, max_retries: 0}}'
    langchain = f'{{class: "langchain_openai:ChatOpenAI", options: {options}}}'
    models = {"built_in": built_in, "langchain": langchain}
    return {
        **parrots({"parrot": (tokens, delay)}),
        **{name: _AGENT.format(name=name, model=model) for name, model in models.items()},
    }


async def _one(quick: bool) -> Table:
    table = Table("server, one stream of 2,000 tokens from a provider; baselines named in each line")
    rounds = 3 if quick else 10
    cpu: dict[str, list[float]] = {"parrot": [], "built_in": [], "langchain": []}
    firsts: dict[str, list[float]] = {name: [] for name in cpu}
    with talker(_STREAM, 0) as url:
        async with ours(_agents(url, _STREAM, 0)) as server:
            for _ in range(rounds):
                for name in cpu:
                    cpu[name].append(await _cost(server, name))
    with talker(20, 0) as url:
        async with ours(_agents(url, 20, 0)) as server:
            for _ in range(rounds * 5):
                for name in firsts:
                    firsts[name].append((await server.chat(await server.thread(name))).first * 1000)
    costs = {name: statistics.median(found) for name, found in cpu.items()}
    first = {name: statistics.median(found) for name, found in firsts.items()}
    table.lines = [
        Line(
            "CPU per token / langchain-openai", costs["built_in"], costs["langchain"], "µs", goal_ratio=0.25
        ),
        Line("CPU per token / a free model", costs["built_in"], costs["parrot"], "µs", goal_ratio=2.0),
        Line("first token p50 / langchain-openai", first["built_in"], first["langchain"], "ms"),
        Line("first token p50 / a free model", first["built_in"], first["parrot"], "ms", goal_ratio=1.3),
    ]
    return table


async def _cost(server: Ours, agent: str) -> float:
    """Microseconds of the server's processor time per token."""
    thread = await server.thread(agent)
    before = server.cpu()
    read = await server.chat(thread)
    if read.tokens != _STREAM:
        raise AssertionError(f"{agent}: {read.tokens} tokens")
    return (server.cpu() - before) / read.tokens * 1e6


async def _many(quick: bool) -> Table:
    tokens = 200 if quick else _STREAM
    table = Table(
        f"server, 100 streams of {tokens:,} tokens from a provider, one every 10 ms; baseline: a free model"
    )
    with talker(tokens, _PACE) as url:
        agents = _agents(url, tokens, _PACE)
        async with ours({name: agents[name] for name in ("parrot", "built_in")}) as server:
            bare = await _crowd(server, "parrot")
            mine = await _crowd(server, "built_in")
    gap, bare_gap = (
        percentile([gap for read in found for gap in read.gaps], 99) * 1000 for found in (mine, bare)
    )
    wrong = sum(read.tokens != tokens for read in mine)
    table.lines = [
        Line("100 streams, gap p99", gap, bare_gap, "ms", goal=40),
        Line("100 streams, errors", wrong, None, "", goal=1),
    ]
    return table


async def _crowd(server: Ours, agent: str) -> list[Read]:
    threads = [await server.thread(agent) for _ in range(_CROWD)]
    return await asyncio.gather(*(server.chat(thread) for thread in threads))
