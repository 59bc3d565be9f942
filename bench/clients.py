"""What a chunk of a streamed reply costs a client: HTTP libraries, our client, and langchain-openai.

The provider is a process of its own. The libraries only read the bytes; the two clients read pieces out of
them. `baseline` is httpx, or langchain-openai.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import h11
import httpcore
import httptools
import httpx

from bench.measure import Line, Spent, Table, middle, on_loop, spent
from bench.talker import talker
from caesura.core.messages import Message
from caesura.models.connections import Connections
from caesura.models.providers import make

#: Ours over langchain-openai, for the client alone.
GOAL = 0.25
_BODY = b'{"model":"test","stream":true,"messages":[{"role":"user","content":"go"}]}'
_HEADERS = {"content-type": "application/json", "content-length": str(len(_BODY))}
Read = Callable[[str], Awaitable[int]]


def run(quick: bool) -> Iterator[Table]:
    times = 3 if quick else 5
    for pace, delay, tokens in (("each chunk in a packet", 0.002, 400), ("as fast as it can", 0.0, 2_000)):
        with talker(tokens, delay) as url:
            yield on_loop(_libraries(url, tokens, times, pace))
            yield on_loop(_clients(url, tokens, times, pace))


async def _libraries(url: str, tokens: int, times: int, pace: str) -> Table:
    table = Table(f"Reading a streamed reply, {pace}: µs of processor time a chunk (baseline: httpx)")
    base = await _cost(_httpx(), url, tokens, times)
    readers = {
        "httpcore": _httpcore(),
        "aiohttp": _aiohttp(),
        "asyncio streams and h11": _streams(_h11),
        "asyncio streams and httptools": _streams(_httptools),
        "our connection (a protocol and httptools)": _ours(),
    }
    for name, read in readers.items():
        if (found := await _cost(read, url, tokens, times)) is not None:
            table.lines.append(Line(name, found, base, "µs"))
    return table


async def _clients(url: str, tokens: int, times: int, pace: str) -> Table:
    table = Table(
        f"Pieces of a streamed reply, {pace}: µs of processor time a chunk (baseline: langchain-openai)"
    )
    ours = await _cost(_client(), url, tokens, times)
    other = await _cost(_langchain(), url, tokens, times)
    table.lines.append(Line("our client", ours or 0.0, other, "µs", goal_ratio=GOAL))
    return table


async def _cost(reader: AsyncIterator[Read], url: str, tokens: int, times: int) -> float | None:
    """The processor time of a chunk, in microseconds; None if the library is not installed."""
    found: Spent | None = None
    async for read in reader:
        assert await read(url) >= tokens

        async def measure(read: Read = read) -> Spent:
            return await spent(read(url))

        found = await middle(times, measure)
    return found.cpu / tokens * 1e6 if found else None


async def _httpx() -> AsyncIterator[Read]:
    async with httpx.AsyncClient() as client:

        async def read(url: str) -> int:
            chunks = 0
            async with client.stream("POST", f"{url}/chat/completions", content=_BODY) as response:
                async for data in response.aiter_bytes():
                    chunks += data.count(b"data:")
            return chunks

        yield read


async def _httpcore() -> AsyncIterator[Read]:
    async with httpcore.AsyncConnectionPool() as pool:

        async def read(url: str) -> int:
            chunks = 0
            headers: list[tuple[bytes | str, bytes | str]] = [
                *_HEADERS.items(),
                ("host", urlsplit(url).netloc),
            ]
            async with pool.stream(
                "POST", f"{url}/chat/completions", headers=headers, content=_BODY
            ) as response:
                async for data in response.aiter_stream():
                    chunks += data.count(b"data:")
            return chunks

        yield read


async def _aiohttp() -> AsyncIterator[Read]:
    try:
        aiohttp: Any = importlib.import_module("aiohttp")
    except ImportError:
        return
    async with aiohttp.ClientSession() as session:

        async def read(url: str) -> int:
            chunks = 0
            async with session.post(f"{url}/chat/completions", data=_BODY, headers=_HEADERS) as response:
                async for data in response.content.iter_any():
                    chunks += data.count(b"data:")
            return chunks

        yield read


async def _streams(parse: Callable[[asyncio.StreamReader], Awaitable[int]]) -> AsyncIterator[Read]:
    async def read(url: str) -> int:
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in _HEADERS.items())
        writer.write(f"{head}\r\n".encode() + _BODY)
        try:
            return await parse(reader)
        finally:
            writer.close()

    yield read


async def _h11(reader: asyncio.StreamReader) -> int:
    connection, chunks = h11.Connection(h11.CLIENT), 0
    connection.send(h11.Request(method="POST", target="/", headers=[("host", "x"), ("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(65_536))
        elif isinstance(event, h11.Data):
            chunks += bytes(event.data).count(b"data:")
        elif isinstance(event, h11.EndOfMessage):
            return chunks


async def _httptools(reader: asyncio.StreamReader) -> int:
    class Counter:
        chunks, complete = 0, False

        def on_body(self, data: bytes) -> None:
            self.chunks += data.count(b"data:")

        def on_message_complete(self) -> None:
            self.complete = True

    counter = Counter()
    parser = httptools.HttpResponseParser(counter)
    while not counter.complete:
        parser.feed_data(await reader.read(65_536))
    return counter.chunks


async def _ours() -> AsyncIterator[Read]:
    async with Connections() as connections:

        async def read(url: str) -> int:
            chunks = 0
            where = f"{url}/chat/completions"
            response = await connections.request("POST", where, _HEADERS_OF_OURS, _BODY, idle_timeout=60)
            while data := await response.read():
                chunks += data.count(b"data:")
            return chunks

        yield read


_HEADERS_OF_OURS = {"content-type": "application/json"}


async def _client() -> AsyncIterator[Read]:
    async with Connections() as connections:

        async def read(url: str) -> int:
            model = make(
                "openai:test",
                base_url=url,
                api_key="none",
                temperature=None,
                options={},
                idle_timeout=60,
                environ={},
                connections=connections,
            )
            return sum([1 async for _ in model.stream([Message("user", "go")])])

        yield read


async def _langchain() -> AsyncIterator[Read]:
    from langchain_openai import ChatOpenAI

    model: Any = None

    async def read(url: str) -> int:
        nonlocal model
        model = model or ChatOpenAI(model="test", base_url=url, api_key=lambda: "none", stream_usage=True)
        return sum([1 async for _ in model.astream("go")])

    yield read
