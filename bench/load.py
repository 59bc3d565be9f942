"""Readers: bare sockets that count tokens and note when they came."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import orjson

TOKEN = b"event: messages/partial"
END = b"event: end"


@dataclass
class Read:
    """What one reader saw: seconds from the request to the first and the last token, and between tokens."""

    first: float = 0.0
    last: float = 0.0
    tokens: int = 0
    size: int = 0
    gaps: list[float] = field(default_factory=list)
    ended: bool = False


def request(method: str, path: str, token: str = "", body: object | None = None) -> bytes:
    data = b"" if body is None else orjson.dumps(body)
    head = f"{method} {path} HTTP/1.1\r\nhost: bench\r\ncontent-length: {len(data)}\r\n"
    head += f"authorization: Bearer {token}\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
    return head.encode() + data


async def read(port: int, what: bytes, token: bytes = TOKEN, end: bytes = END) -> Read:
    """Send a request and read its stream to the end. `token` and `end` are in the frames of these events."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seen, began = Read(), time.perf_counter()
    writer.write(what)
    rest = b""
    before = 0.0
    while piece := await reader.read(65536):
        seen.size += len(piece)
        rest += piece
        if found := rest.count(token):
            now = time.perf_counter() - began
            seen.first = seen.first or now
            if before:
                seen.gaps.append(now - before)
            before = seen.last = now
            seen.tokens += found
        seen.ended = seen.ended or end in rest
        rest = rest[-len(token) + 1 :]
    writer.close()
    return seen


async def fetch(port: int, what: bytes) -> bytes:
    """The body of a plain answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(what)
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n\r\n")[2]
