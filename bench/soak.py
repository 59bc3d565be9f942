"""Memory under mixed load, minute by minute, and at rest afterwards.

python -m bench.soak --minutes 120 --people 8
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence

from bench import load
from bench.measure import on_loop
from bench.server import Ours, ours, parrots

_AGENTS = {"short": (20, 0), "long": (2000, 0), "paced": (200, 0.01)}
#: Above this many conversations of each the oldest is deleted.
_KEPT = 20
#: Seconds between two requests of each, at most, and seconds of rest after the load.
_PAUSE, _REST = 0.5, 60


async def _soak(minutes: float, people: int, interval: float) -> None:
    async with ours(parrots(_AGENTS)) as server:
        done = [0]
        work = [asyncio.ensure_future(_person(server, random.Random(seed), done)) for seed in range(people)]
        await _watched(server, work, done, minutes, interval)
        for each in work:
            each.cancel()
        await asyncio.wait(work)
        await asyncio.sleep(_REST)
        print(f"at rest  {server.rss() / 1e6:7.1f} MB", flush=True)


async def _watched(
    server: Ours, work: Sequence[asyncio.Future[None]], done: list[int], minutes: float, interval: float
) -> None:
    began = time.monotonic()
    while (passed := time.monotonic() - began) < minutes * 60:
        print(f"{passed / 60:7.1f}  {server.rss() / 1e6:7.1f} MB  {done[0]:8,} requests", flush=True)
        ended, _ = await asyncio.wait(work, timeout=interval, return_when=asyncio.FIRST_COMPLETED)
        for each in ended:
            each.result()


async def _person(server: Ours, chance: random.Random, done: list[int]) -> None:
    """One thing after the other: long and short answers, approvals, readers that come late, lists, histories,
    and conversations that are deleted."""
    threads: list[str] = []
    while True:
        if not threads or chance.random() < 0.2:
            threads.append(await server.thread(chance.choice(list(_AGENTS))))
        thread = chance.choice(threads)
        match chance.randrange(7):
            case 0 | 1 | 2:
                await server.chat(thread, "word " * chance.randrange(1, 200))
            case 3:
                await server.chat(thread, "look")
                await server.resume(thread)
            case 4:
                await load.read(server.port, load.request("GET", f"/api/chat/{thread}/stream", server.token))
            case 5:
                await server.ask("GET", "/api/sessions")
                await server.ask("GET", f"/api/status/{thread}")
            case _:
                await server.ask("GET", f"/api/history/{thread}")
        done[0] += 1
        await asyncio.sleep(chance.uniform(0, _PAUSE))
        if len(threads) > _KEPT:
            await server.ask("DELETE", f"/api/sessions/{threads.pop(0)}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--people", type=int, default=8, help="how many do something at any time")
    parser.add_argument("--interval", type=float, default=60, help="seconds between two lines")
    options = parser.parse_args()
    on_loop(_soak(options.minutes, options.people, options.interval))


if __name__ == "__main__":
    main()
