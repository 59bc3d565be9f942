"""The stream of events of an MCP server, before the package `mcp` reads it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from caesura.agents.mcp import http, messages
from caesura.agents.mcp.allowance import Allowance
from caesura.agents.mcp.events import events
from caesura.agents.mcp.messages import Unwieldy
from caesura.agents.mcp.shares import Commons, Share
from tests.mcp_server.raw_http import RawHttp

CROWDED = b"data: [\n" + b"data: [],\n" * 60_000 + b"data: 1]\n\n"


@pytest.fixture
def share() -> Share:
    return Commons().share()


async def read(share: Share, *chunks: bytes) -> list[bytes]:
    async def given() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    with share.hold() as held:
        return [event async for event in events(given(), held, share, Allowance(print))]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_an_event_is_handed_on_with_its_data_in_one_line(share: Share, end: bytes) -> None:
    lines = [b": hello", b"id: 7", b"data: {", b'data:"a": 1', b"data: }", b"event: message", b"", b""]
    stream = end.join(lines) + b"data: next" + end + end + b"data: unfinished"
    plain = [b'id: 7\nevent: message\ndata: { "a": 1 }\n\n', b"data: next\n\n"]
    assert await read(share, stream) == plain
    assert await read(share, *(bytes([byte]) for byte in stream)) == plain


async def test_the_values_of_an_event_are_counted_over_all_of_its_lines(share: Share) -> None:
    chunks = [CROWDED[place : place + 1000] for place in range(0, len(CROWDED), 1000)]
    with pytest.raises(Unwieldy, match="too many values"):
        await read(share, *chunks)


@pytest.mark.parametrize(("wished", "used"), [(b"0", b"1000"), (b"5000", b"5000"), (b"9999999999", b"30000")])
async def test_a_stream_is_asked_for_again_neither_too_soon_nor_too_late(
    share: Share, wished: bytes, used: bytes
) -> None:
    assert await read(share, b"retry: " + wished + b"\n\n") == [b"retry: " + used + b"\n\n"]
    assert await read(share, b"retry: -1\n\nretry: 1_0\n\nretry: " + b"9" * 5000 + b"\n\n") == []


async def test_an_event_of_very_many_lines_is_not_taken_apart(share: Share) -> None:
    with pytest.raises(Unwieldy, match="too many lines"):
        await read(share, b"data:\n" * 200_000 + b"\n")


async def test_the_comments_of_an_event_that_never_ends_are_counted(share: Share) -> None:
    with pytest.raises(Unwieldy, match="it sends too much"):
        await read(share, *(b": x\n" for _ in range(3000)))
    assert await read(share, b"data: 1\n\n" + b": x\n" * 100) == [b"data: 1\n\n"]


async def test_a_session_whose_stream_has_an_endless_line_is_cut_off(
    raw_http: RawHttp, share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "LARGEST", 100_000)
    raw_http.stream = [b"data: " + b"x" * 200_000]
    reasons = list[str]()
    spent = Allowance(reasons.append)
    async with http.client({}, share, spent, lambda reason: None, lambda status: None) as client:
        with pytest.raises(httpx2.SSEError, match="it sent a message of more than"):
            await listen(client, raw_http.url, [])
    assert len(reasons) == 1


async def test_the_stream_of_a_session_has_the_same_bounds_in_whatever_encoding_it_is_said_to_be(
    raw_http: RawHttp, share: Share
) -> None:
    raw_http.stream = [b"data: Gr\xc3\xbc\xc3\x9fe\n\n" + CROWDED]
    refused = list[str]()
    found = list[str]()
    async with http.client({}, share, Allowance(print), refused.append, lambda status: None) as client:
        with pytest.raises(httpx2.SSEError, match="too many values"):
            await listen(client, raw_http.url, found)
    assert found == ["Grüße"]
    assert refused == ["it sent a message of too many values"]


async def listen(client: httpx2.AsyncClient, url: str, found: list[str]) -> None:
    async with client.stream("GET", url) as response:
        async for event in httpx2.EventSource(response):
            found.append(event.data)
