"""Long reads are fair between people."""

from __future__ import annotations

import asyncio

import pytest

from caesura.core.errors import TooManyRequests
from caesura.service import long_reads
from caesura.service.long_reads import LongReads


async def test_a_single_read_is_served_before_the_rest_of_another_persons_many() -> None:
    fair, order = LongReads(), list[str]()

    async def read(person: str) -> None:
        async with fair.of(person):
            order.append(person)
            await asyncio.sleep(0)

    many = [asyncio.create_task(read("greedy")) for _ in range(50)]
    await asyncio.sleep(0)
    await asyncio.gather(read("alice"), read("bob"))
    assert order.count("greedy") < 5
    await asyncio.gather(*many)
    assert order.count("greedy") == 50


async def test_one_person_reads_one_thing_at_a_time() -> None:
    fair = LongReads()
    under_way, most = 0, 0

    async def read() -> None:
        nonlocal under_way, most
        async with fair.of("greedy"):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    await asyncio.gather(*(read() for _ in range(20)))
    assert most == 1


async def test_a_reader_that_waits_too_long_is_asked_to_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_reads, "_PATIENCE", 0.05)
    fair = LongReads()
    async with fair.of("alice"):
        with pytest.raises(TooManyRequests) as refused:
            async with fair.of("alice"):
                pass
        assert refused.value.retry_after > 0
    async with fair.of("alice"):
        pass


async def test_a_read_that_fails_gives_its_place_back() -> None:
    fair = LongReads()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with fair.of("alice"):
                raise ZeroDivisionError
    async with fair.of("alice"):
        pass
