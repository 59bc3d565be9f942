"""A response with the content of a file, which a browser saves and never shows."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Protocol
from urllib.parse import quote

from fastapi import Response
from starlette.types import Receive, Scope, Send

from caesura.http.sse import TRANSPORT, left

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


class Named(Protocol):
    """A file that is open."""

    name: str
    size: int


#: Opens a file for as long as its response takes: the file and its content in pieces.
Opened = AbstractAsyncContextManager[tuple[Named, AsyncGenerator[bytes, None]]]


class Download(Response):
    """The file is opened when the response is sent, so that it is closed whatever happens."""

    media_type = "application/octet-stream"

    def __init__(self, opened: Opened) -> None:
        self.status_code, self.background = 200, None
        self.raw_headers = []
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        transport = scope.get("extensions", {}).get(TRANSPORT)
        async with self._opened as (file, pieces), aclosing(pieces):
            await send({"type": "http.response.start", "status": 200, "headers": _headers(file)})
            rest = file.size
            async for piece in pieces:
                if transport is not None and transport.is_closing():
                    return  # the reader has left
                rest -= len(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        if rest and transport is not None:
            # Somebody has cut the file: what is missing must not look like its end.
            transport.abort()
            await left(receive)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _headers(file: Named) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", b"application/octet-stream"),
        (b"content-length", str(file.size).encode()),
        (b"content-disposition", disposition(file.name).encode()),
    ]


def disposition(name: str) -> str:
    """That the content is to be saved: under a name of harmless characters, and for clients that know it
    under the real one."""
    plain = _UNSAFE.sub("_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
