"""A response that is made to take long to understand is left early, and does not hold up the event loop."""

import asyncio

import pytest

from caesura.agents.tools.web.address import Refused
from caesura.agents.tools.web.engine import Endpoint
from caesura.agents.tools.web.fetcher import LARGEST, Fetcher, Page
from caesura.agents.tools.web.searcher import Failed, Searcher
from caesura.core.addresses import Allowed
from tests.agents.tools.web.site import Answer, Site, redirect, response
from tests.pauses import LONGEST_STEP, Pauses

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
TINY = b"1\r\nx\r\n"
HINTS = b"HTTP/1.1 103 \r\n\r\n"
LINE = b"a:b\r\n"
LONG_HEAD = "headers of the response have more than 100 lines or 65,536 bytes"
LARGE = f"larger than {LARGEST:,} bytes"
FLOODS = {
    "tiny chunks": (CHUNKED, TINY, "too many tiny chunks"),
    "chunks with long headers": (CHUNKED, b"1;" + b"x" * 4000 + b"\r\nx\r\n", LARGE),
    "a chunk header without end": (CHUNKED + b"1;", b"x" * 1000, "not divided into chunks"),
    "interim responses": (b"", HINTS, LONG_HEAD),
    "headers": (OK, LINE, LONG_HEAD),
    "one header": (OK + b"a:", b"x" * 1000, LONG_HEAD),
    "lines after the body": (CHUNKED + b"1\r\nx\r\n0\r\n", LINE, "not divided into chunks"),
}


def flood(head: bytes, piece: bytes) -> Answer:
    """The head, and then the piece as often and as quickly as it is taken, for ever."""
    block = piece * (100_000 // len(piece))

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while not writer.transport.is_closing():
            writer.write(block)
            await writer.drain()
            await asyncio.sleep(0)

    return answer


async def get(answer: bytes) -> Page:
    async with Site() as site:
        site.answers["/"] = answer
        fetcher = Fetcher(Allowed([site.host]), seconds=90)
        try:
            return await fetcher.fetch(f"{site.url}/", "alice")
        finally:
            await fetcher.aclose()
            await site.left()


@pytest.mark.usefixtures("frozen_collector")
@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_is_left_early_and_the_event_loop_goes_on(name: str) -> None:
    head, piece, reason = FLOODS[name]
    async with Site() as site:
        site.answers |= {"/": flood(head, piece), "/small": response("x")}
        fetcher = Fetcher(Allowed([site.host]), seconds=90)
        await fetcher.fetch(f"{site.url}/small", "alice")  # the first one loads what is needed
        await site.left()
        async with Pauses() as pauses:
            with pytest.raises(Refused, match=reason):
                await fetcher.fetch(f"{site.url}/", "alice")
        await site.left()
        await fetcher.aclose()
    assert pauses.longest < LONGEST_STEP


async def test_redirects_with_many_headers_end_at_the_first() -> None:
    async with Site() as site:
        site.answers["/"] = redirect("/").replace(b"\r\n\r\n", b"\r\n" + LINE * 18_500 + b"\r\n")
        fetcher = Fetcher(Allowed([site.host]), seconds=90)
        with pytest.raises(Refused, match=LONG_HEAD):
            await fetcher.fetch(f"{site.url}/", "alice")
        await fetcher.aclose()
        await site.left()
    assert site.paths == ["/"]


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (CHUNKED + TINY * 4000 + b"0\r\nSum: 1\r\n\r\n", b"x" * 4000),
        (CHUNKED + (b"200\r\n" + b"y" * 512 + b"\r\n") * 9000 + b"0\r\n\r\n", b"y" * 512 * 9000),
        (HINTS * 5 + b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + b"\r\nhello", b"hello"),
        (OK.replace(b"\r", b"") + b"\n\n\nlines" + b"\n" * 500, b"\n\nlines" + b"\n" * 500),
        (OK + LINE * 90 + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (OK + b"a:" + b"x" * 60_000 + b"\r\n\r\nhello", b"hello"),
        (OK + f"Content-Length: {LARGEST}\r\n\r\n".encode() + b"z" * LARGEST, b"z" * LARGEST),
    ],
    ids=["tiny chunks", "chunks", "interim", "bare line ends", "many headers", "long header", "largest"],
)
async def test_what_ordinary_servers_send_is_read(answer: bytes, body: bytes) -> None:
    assert (await get(answer)).body == body


async def test_each_exchange_of_a_connection_is_counted_from_zero() -> None:
    connections, ended = 0, asyncio.Event()
    large = OK + b"Content-Length: 3000000\r\n" + LINE * 60 + b"\r\n" + b"x" * 3_000_000

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while await reader.readline():
            await reader.readuntil(b"\r\n\r\n")
            writer.write(large)
            await writer.drain()
        writer.close()
        await writer.wait_closed()
        ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    fetcher = Fetcher(Allowed([host]), seconds=90)
    for _ in range(4):
        assert len((await fetcher.fetch(f"http://{host}/", "alice")).body) == 3_000_000
    await fetcher.aclose()
    await ended.wait()
    server.close()
    assert connections == 1


@pytest.mark.usefixtures("frozen_collector")
@pytest.mark.parametrize("name", FLOODS)
async def test_a_search_engine_that_floods_is_left_early_too(name: str) -> None:
    head, piece, _ = FLOODS[name]
    async with Site() as site:
        site.answers |= {"/search": flood(head, piece)}
        searcher = Searcher(Endpoint(site.url), seconds=90)
        small = Searcher(Endpoint(f"{site.url}/none"), seconds=90)
        with pytest.raises(Failed):
            await small.search("tea", "alice")  # the first one loads what is needed
        await site.left()
        async with Pauses() as pauses:
            with pytest.raises(Failed, match=r"malformed|larger than"):
                await searcher.search("tea", "alice")
        await site.left()
        await searcher.aclose()
        await small.aclose()
    assert pauses.longest < LONGEST_STEP
    assert site.paths[1:] == ["/search?q=tea&format=json"]
