"""Threads for an operator's own functions."""

import asyncio
import threading

import pytest

from caesura.agents.tools.own import threads
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.tool import ToolError


async def test_a_person_has_only_their_share_of_the_threads() -> None:
    pool, go, ran = OwnThreads(count=3, each=2), threading.Event(), list[str]()

    def work(name: str) -> str:
        ran.append(name)
        go.wait(60)
        return name

    alice = [asyncio.ensure_future(pool.do("alice", lambda: work("alice"))) for _ in range(3)]
    bob = asyncio.ensure_future(pool.do("bob", lambda: work("bob")))
    async with asyncio.timeout(60):
        while len(ran) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert sorted(ran) == ["alice", "alice", "bob"]
        go.set()
        assert await asyncio.gather(*alice, bob) == ["alice", "alice", "alice", "bob"]


async def test_a_thread_that_nobody_waits_for_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_PATIENCE", 0.05)
    pool, go = OwnThreads(count=1), threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await pool.do("alice", lambda: go.wait(60))
    with pytest.raises(ToolError, match="too many tools"):
        await pool.do("bob", lambda: "never")
    go.set()
    monkeypatch.setattr(threads, "_PATIENCE", 60.0)
    assert await pool.do("bob", lambda: "done") == "done"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), StopIteration()])
async def test_what_the_function_raises_is_raised(error: BaseException) -> None:
    def fail() -> None:
        raise error

    wanted = RuntimeError if isinstance(error, StopIteration) else type(error)
    with pytest.raises(wanted):
        await OwnThreads().do("alice", fail)
