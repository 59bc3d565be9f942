"""An operator's `async` functions that block the event loop."""

import asyncio
import threading
import time

import pytest

from caesura.agents.tools.own.steps import Steps


async def test_a_step_that_takes_long_is_told_with_the_tool_and_the_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def slow() -> str:
        await asyncio.sleep(0)
        time.sleep(0.02)  # noqa: ASYNC251 - what must be noticed
        await asyncio.sleep(0)
        return "done"

    assert await Steps(long=0.01, endless=60).watched("find_order", slow()) == "done"
    told = [record.getMessage() for record in caplog.records]
    assert any(text.startswith("tool find_order has blocked the event loop for 0.") for text in told)


async def test_a_function_that_waits_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    steps = Steps(long=60)
    waiting = asyncio.ensure_future(steps.watched("waits", asyncio.sleep(0.05)))
    assert await steps.watched("quick", asyncio.sleep(0, "now")) == "now"
    await waiting
    assert caplog.records == []


async def test_a_step_that_does_not_end_is_told_while_it_runs(caplog: pytest.LogCaptureFixture) -> None:
    async def stuck() -> None:
        until = time.monotonic() + 60
        while "tool stuck blocks the event loop" not in caplog.text and time.monotonic() < until:
            time.sleep(0.01)  # noqa: ASYNC251 - what must be noticed

    await Steps(long=600, endless=0.02).watched("stuck", stuck())
    assert caplog.text.count("tool stuck blocks the event loop") == 1


async def test_the_thread_that_looks_ends_with_the_calls() -> None:
    steps = Steps(endless=0.02)
    for _ in range(2):
        await steps.watched("quick", asyncio.sleep(0))
        for thread in threading.enumerate():
            if thread.name == "caesura-own-steps":
                await asyncio.to_thread(thread.join, 60)
                assert not thread.is_alive()


async def test_errors_and_cancellations_pass_through() -> None:
    heard = list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            heard.append("cancelled")
            await asyncio.sleep(0)
            raise ValueError("my own") from None

    task = asyncio.ensure_future(Steps().watched("work", work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(ValueError, match="my own"):
        await task
    assert heard == ["cancelled"]
