"""Interim responses of HTTP (status 1xx): a server may send a few before its response, not any number.

The package `httpcore2` reads on as long as they come. So they are counted in the bytes that it reads.
"""

# ruff: noqa: ASYNC109 - the parameters are those of `httpcore2`
from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from typing import Any

import httpx2
from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream, RemoteProtocolError

_MOST = 16
#: Where the head of a response ends, as `h11` sees it.
_END = re.compile(rb"\n\r?\n")
#: The place in a head of the first digit of the status, as in `HTTP/1.1 200`.
_STATUS = 9


def bounded(transport: httpx2.AsyncHTTPTransport) -> httpx2.AsyncHTTPTransport:
    """The same transport, over connections that break after too many interim responses."""
    pool = transport._pool  # there is no other way to give it a backend
    pool._network_backend = _Backend(pool._network_backend)
    return transport


class _Backend(AsyncNetworkBackend):
    def __init__(self, given: AsyncNetworkBackend) -> None:
        self._given = given

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        return _Stream(await self._given.connect_tcp(host, port, timeout, local_address, socket_options))

    async def sleep(self, seconds: float) -> None:
        await self._given.sleep(seconds)


class _Stream(AsyncNetworkStream):
    def __init__(self, given: AsyncNetworkStream) -> None:
        self._given = given
        #: What has come of a head; None behind the head of a response that is not interim.
        self._head: bytes | None = b""
        self._interim = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._given.read(max_bytes, timeout)
        if self._head is not None:
            self._look(self._head + data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._head, self._interim = b"", 0
        await self._given.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._given.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncNetworkStream:
        return _Stream(await self._given.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._given.get_extra_info(info)

    def _look(self, head: bytes) -> None:
        while head[_STATUS : _STATUS + 1] == b"1" and (end := _END.search(head)) is not None:
            self._interim += 1
            if self._interim > _MOST:
                raise RemoteProtocolError("too many interim responses")
            head = head[end.end() :]
        is_final = head[_STATUS : _STATUS + 1] not in (b"", b"1")
        self._head = None if is_final else head
