"""Rates, counted in memory and in Redis."""

import asyncio
import logging
import pickle
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any

import pytest

from caesura.core.errors import TooManyRequests
from caesura.http import shared_tally
from caesura.http.limits import KINDS, Limits, network, shared
from caesura.http.metrics import Metrics
from caesura.http.tally import Tally
from tests.servers import Redis


@asynccontextmanager
async def opened(url: str | None, **rates: Any) -> AsyncIterator[Limits]:
    async with (
        asyncio.TaskGroup() as tasks,
        aclosing(Limits(shared(url, tasks.create_task), **rates)) as limits,
    ):
        yield limits


@pytest.fixture(params=["memory", "redis"])
def url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "memory":
        return None
    found: str = request.getfixturevalue("redis_url")
    return found


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that is slow because the machine is busy counts as available."""
    monkeypatch.setattr(shared_tally, "_PATIENCE", 30.0)


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_tally, "_PATIENCE", 0.3)


@contextmanager
def refusal() -> Iterator[None]:
    with pytest.raises(TooManyRequests):
        yield


async def test_requests_above_the_rate_are_refused_with_a_retry_time(url: str | None) -> None:
    async with opened(url, requests="3/minute") as limits:
        for _ in range(3):
            await limits.requests("alice")
        with pytest.raises(TooManyRequests) as refused:
            await limits.requests("alice")
        assert 1 <= refused.value.retry_after <= 60
        await limits.requests("bob")
        await limits.runs("alice")


async def test_requests_are_allowed_again_after_the_window(url: str | None) -> None:
    async with opened(url, requests="1/second") as limits:
        await limits.requests("alice")
        async with asyncio.timeout(30):
            while True:
                try:
                    await limits.requests("alice")
                except TooManyRequests as error:
                    await asyncio.sleep(error.retry_after)
                else:
                    break


async def test_two_processes_count_together_in_redis(redis_url: str) -> None:
    async with opened(redis_url, runs="2/hour") as first, opened(redis_url, runs="2/hour") as second:
        await first.runs("alice")
        await second.runs("alice")
        for limits in (first, second):
            with refusal():
                await limits.runs("alice")


async def test_a_rate_that_is_off_counts_nothing() -> None:
    limits = Limits(None)
    for _ in range(1000):
        await limits.login_from("127.0.0.1")
        await limits.login_as("alice", "127.0.0.1")
        await limits.logged_in("alice", "127.0.0.1")


async def test_refusals_are_a_metric_by_kind() -> None:
    metrics = Metrics()
    limits = Limits(None, requests="1/hour", logins="1/hour", refused=metrics.refused)
    await limits.requests("alice")
    await limits.login_as("alice", "a")
    for _ in range(2):
        with refusal():
            await limits.requests("alice")
    with refusal():
        await limits.login_as("alice", "a")
    read = metrics.registry.get_sample_value
    counts = {kind: read("caesura_requests_refused_total", {"kind": kind}) for kind in KINDS}
    assert counts == dict.fromkeys(KINDS, 0) | {"requests": 2, "logins": 1}


# --- logging in


async def attempt(limits: Limits, username: str, address: str) -> bool:
    try:
        await limits.login_from(address)
        await limits.login_as(username, address)
    except TooManyRequests:
        return False
    return True


async def test_logins_with_many_names_from_one_address_are_limited_and_do_not_block_a_name(
    url: str | None,
) -> None:
    async with opened(url, logins="3/hour") as limits:
        assert [await attempt(limits, f"name-{n}", "evil") for n in range(100)].count(True) == 30
        assert await attempt(limits, "name-1", "home")


async def test_20000_names_from_many_addresses_take_no_more_memory_and_reset_no_count() -> None:
    limits = Limits(None, logins="3/hour")
    for _ in range(3):
        assert await attempt(limits, "alice", "evil")
    tallies = [tally for tally in limits._tallies.values() if tally is not None]
    before = _size(limits)
    for n in range(20_000):
        await attempt(limits, f"made-up-{n}", f"10.0.{n % 1000}")
        await attempt(limits, f"Not a name {n}", f"10.1.{n % 1000}")
    assert _size(limits) == before
    assert [tally for tally in limits._tallies.values() if tally is not None] == tallies
    assert not await attempt(limits, "alice", "evil")


def test_no_count_is_too_low_and_hardly_any_too_high() -> None:
    tally = Tally(3, 3600)
    keys = [f"key-{n}" for n in range(5000)]
    passed = [sum(tally.hit(key) == 0 for _ in range(4)) for key in keys]
    assert max(passed) == 3
    assert passed.count(3) >= 4900


def _size(limits: Limits) -> int:
    """The size of all that is kept about clients."""
    return len(pickle.dumps((limits._tallies, limits._familiar)))


async def test_a_text_that_is_not_a_name_is_counted_only_for_its_address(url: str | None) -> None:
    async with opened(url, logins="1/hour") as limits:
        for _ in range(3):
            assert await attempt(limits, "No Name", "here")
        assert [await attempt(limits, "No Name", "here") for _ in range(20)].count(True) == 7


async def test_many_clients_that_try_one_name_are_limited_and_its_owner_is_not_locked_out(
    url: str | None,
) -> None:
    async with opened(url, logins="2/hour") as limits:
        assert await attempt(limits, "alice", "home")
        await limits.logged_in("alice", "home")
        tries = [await attempt(limits, "alice", f"crowd-{n}") for n in range(100)]
        assert 15 <= tries.count(True) <= 20
        assert not await attempt(limits, "alice", "crowd-101")
        assert await attempt(limits, "alice", "home")
        assert await attempt(limits, "bob", "crowd-101")


async def test_where_a_person_has_logged_in_is_known_to_other_processes(redis_url: str) -> None:
    async with opened(redis_url, logins="1/hour") as first, opened(redis_url, logins="1/hour") as second:
        await first.logged_in("alice", "home")
        for n in range(20):
            await attempt(second, "alice", f"crowd-{n}")
        assert not await attempt(second, "alice", "crowd-20")
        assert await attempt(second, "alice", "home")


async def test_remembered_addresses_are_bounded() -> None:
    limits = Limits(None, logins="1/hour")
    for n in range(10_100):
        await limits.logged_in("alice", str(n))
    assert len(limits._familiar) == 10_000
    assert await limits._is_familiar("alice", "10099")


@pytest.mark.parametrize(
    ("hosts", "one"),
    [
        (("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"), True),
        (("2001:db8:1:2::1", "2001:db8:1:3::1"), False),
        (("203.0.113.5", "::ffff:203.0.113.5"), True),
        (("203.0.113.5", "203.0.113.6"), False),
        (("fe80::1%eth0", "fe80::2%eth1"), True),
        (("", "unix:"), False),
    ],
)
def test_an_ipv6_network_is_one_address(hosts: tuple[str, str], one: bool) -> None:
    assert (network(hosts[0]) == network(hosts[1])) is one


# --- without Redis


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis is tried again with the next request."""
    monkeypatch.setattr(shared_tally, "_PAUSE", 0.0)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records if record.name == shared_tally.__name__]
    return ["lost" if "does not answer" in message else "back" for message in found]


async def test_while_redis_is_unavailable_each_process_counts_for_itself(
    redis: Redis, redis_url: str, at_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with opened(redis_url, requests="2/hour") as limits:
            await limits.requests("alice")
            await limits.requests("alice")
            redis.kill()
            await limits.requests("alice")
            await limits.requests("alice")
            for _ in range(20):
                with refusal():
                    await limits.requests("alice")
                await asyncio.sleep(0)
            assert told(caplog) == ["lost"]
            redis.restart()
            async with asyncio.timeout(60):
                while told(caplog) != ["lost", "back"]:
                    with refusal():
                        await limits.requests("alice")
                    await asyncio.sleep(0.05)
            await limits.requests("alice")  # Redis was restarted, and has lost its counts
            await limits.requests("alice")
            with refusal():
                await limits.requests("alice")
            assert told(caplog) == ["lost", "back"]


async def test_a_redis_that_does_not_answer_delays_only_one_request(
    patience: None, impatience: None, caplog: pytest.LogCaptureFixture
) -> None:
    async with _silent() as (silent_url, met), opened(silent_url, requests="100/hour") as limits:
        for _ in range(100):
            await limits.requests("alice")
        assert 1 <= len(met) <= 2
        with refusal():
            await limits.requests("alice")
    assert told(caplog) == ["lost"]


async def test_no_request_waits_while_redis_is_tried_again(
    patience: None, impatience: None, at_once: None
) -> None:
    async with _silent() as (silent_url, _):
        looks: list[asyncio.Task[None]] = []
        tally = shared_tally.SharedTally(silent_url, lambda work: looks.append(asyncio.create_task(work)))
        async with aclosing(Limits(tally, requests="100/hour")) as limits:
            await limits.requests("alice")
            await limits.requests("alice")
            assert len(looks) == 1
            assert not looks[0].done()
            await asyncio.gather(*looks)


@asynccontextmanager
async def _silent() -> AsyncIterator[tuple[str, list[asyncio.StreamWriter]]]:
    """A server that accepts connections and never answers, and its connections."""
    met: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: met.append(writer), "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0", met
    finally:
        for writer in met:
            writer.close()
        server.close()
