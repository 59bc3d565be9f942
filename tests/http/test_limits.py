"""Rates, counted in memory and in Redis."""

from contextlib import aclosing

import pytest

from caesura.core.errors import TooManyRequests
from caesura.http.limits import Limits


@pytest.fixture(params=["memory", "redis"])
def url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "memory":
        return None
    found: str = request.getfixturevalue("redis_url")
    return found


async def test_what_is_over_the_rate_is_refused_with_a_time(url: str | None) -> None:
    async with aclosing(Limits(url, requests="3/minute")) as limits:
        for _ in range(3):
            await limits.requests("alice")
        with pytest.raises(TooManyRequests) as refused:
            await limits.requests("alice")
        assert 1 <= refused.value.retry_after <= 60
        await limits.requests("bob")
        await limits.runs("alice")


async def test_two_processes_count_together_in_redis(redis_url: str) -> None:
    async with (
        aclosing(Limits(redis_url, runs="2/hour")) as first,
        aclosing(Limits(redis_url, runs="2/hour")) as second,
    ):
        await first.runs("alice")
        await second.runs("alice")
        for limits in (first, second):
            with pytest.raises(TooManyRequests):
                await limits.runs("alice")


async def test_without_its_redis_nobody_is_refused() -> None:
    limits = Limits("redis://127.0.0.1:1/0", requests="1/minute")
    for _ in range(3):
        await limits.requests("alice")


async def test_a_rate_that_is_off_counts_nothing() -> None:
    limits = Limits(None)
    for _ in range(1000):
        await limits.logins("alice", "127.0.0.1")
