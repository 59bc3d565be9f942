"""The body of a response is read up to a limit, whatever it unpacks to."""

import gzip
import random
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest

from caesura.agents.tools.web import body


async def chunks(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@pytest.mark.parametrize("size", [1, 7, 65_536, 10_000_000])
@pytest.mark.parametrize(
    "text",
    [b"", b"x", b"hello " * 50_000, random.Random(1).randbytes(200_000)],
    ids=["empty", "short", "even", "uneven"],
)
async def test_a_body_is_the_same_however_it_is_packed_and_divided(text: bytes, size: int) -> None:
    limit = 1_000_000
    assert await body.read(chunks(text, size), "", limit) == text
    assert await body.read(chunks(gzip.compress(text), size), "gzip", limit) == text
    assert await body.read(chunks(zlib.compress(text), size), " Deflate", limit) == text


async def test_a_body_of_exactly_the_limit_fits_and_one_byte_more_does_not() -> None:
    assert len(await body.read(chunks(b"x" * 1000, 64), "identity", 1000)) == 1000
    for encoding, data in (("", b"x" * 1001), ("gzip", gzip.compress(b"x" * 1001))):
        with pytest.raises(body.TooLarge):
            await body.read(chunks(data, 64), encoding, 1000)


async def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(b"\0" * 200_000_000)
    tracemalloc.start()
    with pytest.raises(body.TooLarge):
        await body.read(chunks(bomb, 65_536), "gzip", 5_000_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 30_000_000


async def test_what_follows_the_packed_body_counts_and_is_ignored() -> None:
    packed = gzip.compress(b"text")
    assert await body.read(chunks(packed + b"junk" * 10, 16), "gzip", 1000) == b"text"
    with pytest.raises(body.TooLarge):
        await body.read(chunks(packed + b"junk" * 1000, 16), "gzip", 1000)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        *(("gzip", b"not packed"), ("gzip", gzip.compress(b"text" * 100)[:-9])),
        *(("br", b"x"), ("gzip, gzip", b"x")),
    ],
    ids=["not packed", "cut off", "another way", "packed twice"],
)
async def test_a_body_that_is_not_packed_as_it_says_is_an_error(encoding: str, data: bytes) -> None:
    with pytest.raises(body.Unreadable):
        await body.read(chunks(data, 16), encoding, 1000)
