"""One response, read from the wire."""

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson


class Malformed(Exception):
    """The response is not valid HTTP."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, list[str]]
    body: bytes = b""

    def header(self, name: str) -> str:
        return self.headers.get(name, [""])[0]

    @property
    def kind(self) -> str:
        return self.header("content-type").partition(";")[0].strip()

    @property
    def streams(self) -> bool:
        return self.kind == "text/event-stream"

    @property
    def closes(self) -> bool:
        return "close" in self.header("connection").lower()

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def __str__(self) -> str:
        return f"{self.status} {self.headers} {self.body[:500]!r}"


async def read(reader: asyncio.StreamReader, method: str) -> Answer:
    """The next response that is not an interim one. Of a stream only the head is read: its body may never
    end."""
    head = await _head(reader)
    while 100 <= head.status < 200 and head.status != 101:
        head = await _head(reader)
    if head.streams or method == "HEAD" or head.status in (101, 204, 304):
        return head
    return Answer(head.status, head.headers, await _body(reader, head))


async def _head(reader: asyncio.StreamReader) -> Answer:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    version, _, rest = lines[0].partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
        raise Malformed(lines[0])
    headers: dict[str, list[str]] = {}
    for line in filter(None, lines[1:]):
        name, colon, value = line.partition(":")
        if not colon:
            raise Malformed(line)
        headers.setdefault(name.lower(), []).append(value.strip())
    return Answer(int(rest[:3]), headers)


async def _body(reader: asyncio.StreamReader, head: Answer) -> bytes:
    if (length := head.header("content-length")) != "":
        return await reader.readexactly(int(length))
    if head.header("transfer-encoding") == "chunked":
        return await _chunks(reader)
    return await reader.read()


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).strip(), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return body
