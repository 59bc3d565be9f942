"""The body of a response, read up to a limit. What it unpacks to counts, and is unpacked in small pieces."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable
from typing import Protocol

_PIECE = 64 * 1024


class TooLarge(Exception):
    """The body is larger than the limit, packed or unpacked."""


class Unreadable(Exception):
    """The body is not packed as its header says, or in an unknown way."""


class _Packing(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...

    @property
    def unconsumed_tail(self) -> bytes: ...

    @property
    def eof(self) -> bool: ...


async def read(chunks: AsyncIterable[bytes], encoding: str, limit: int) -> bytes:
    """`encoding` is the header Content-Encoding. Ask for nothing but gzip."""
    packing, body, received = _packing(encoding), bytearray(), 0
    async for chunk in chunks:
        received += len(chunk)
        if received > limit:
            raise TooLarge
        if packing is None:
            body += chunk
        else:
            _unpack(packing, chunk, body, limit)
    if packing is not None and received and not packing.eof:
        raise Unreadable("the response ends too early")
    return bytes(body)


def _packing(encoding: str) -> _Packing | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        case "deflate":
            return zlib.decompressobj()
        case _:
            raise Unreadable("the response is packed in a way that was not asked for")


def _unpack(packing: _Packing, chunk: bytes, body: bytearray, limit: int) -> None:
    rest, more = chunk, True
    while more and not packing.eof:  # what follows the end is ignored, as browsers do
        try:
            piece = packing.decompress(rest, _PIECE)
        except zlib.error:
            raise Unreadable("the response is not packed as it says") from None
        body += piece
        if len(body) > limit:
            raise TooLarge
        rest = packing.unconsumed_tail
        more = bool(rest) or len(piece) == _PIECE
