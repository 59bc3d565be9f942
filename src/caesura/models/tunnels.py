"""Asking a proxy for a connection to another host."""

from __future__ import annotations

import asyncio
import ipaddress

from caesura.models.failures import ModelError
from caesura.models.line import HEAD_BYTES
from caesura.models.proxies import Proxy

_WRONG_LOGIN = "the proxy wants a name and a password, or others"


class Tunnel(asyncio.Protocol):
    """Hears what a proxy says until there is a tunnel. Then another protocol takes over."""

    def __init__(self) -> None:
        self._heard = bytearray()
        self._waiter: asyncio.Future[None] | None = None
        self._lost = False

    async def dig(self, transport: asyncio.WriteTransport, host: str, port: int, proxy: Proxy) -> None:
        """Raises a `ModelError` or a `ConnectionError`."""
        if proxy.socks:
            await self._by_socks(transport, host, port, proxy)
        else:
            await self._by_http(transport, host, port, proxy)

    async def _by_http(self, transport: asyncio.WriteTransport, host: str, port: int, proxy: Proxy) -> None:
        there = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        login = f"Proxy-Authorization: {proxy.credentials}\r\n" if proxy.credentials else ""
        transport.write(f"CONNECT {there} HTTP/1.1\r\nHost: {there}\r\n{login}\r\n".encode("latin-1"))
        while b"\r\n\r\n" not in self._heard:
            if len(self._heard) > HEAD_BYTES:
                raise ModelError("connection", "the proxy answered with something that is not HTTP")
            await self._more()
        _, _, rest = self._heard.partition(b" ")
        status = bytes(rest[:3])
        if status == b"407":
            raise ModelError("connection", _WRONG_LOGIN)
        if not status.startswith(b"2"):
            raise ModelError("connection", f"the proxy refused the connection with {status!r}")

    async def _by_socks(self, transport: asyncio.WriteTransport, host: str, port: int, proxy: Proxy) -> None:
        """Version 5, with a name and a password or without. The proxy looks up the host."""
        transport.write(b"\x05\x01\x02" if proxy.login else b"\x05\x01\x00")
        version, method = await self._bytes(2)
        if version != 5:
            raise ModelError("connection", "the proxy does not speak SOCKS 5")
        if method != (2 if proxy.login else 0):
            raise ModelError("connection", _WRONG_LOGIN)
        if proxy.login:
            name, password = proxy.login
            transport.write(b"\x01%c%b%c%b" % (len(name), name, len(password), password))
            if (await self._bytes(2))[1] != 0:
                raise ModelError("connection", _WRONG_LOGIN)
        transport.write(b"\x05\x01\x00" + _socks_address(host) + port.to_bytes(2, "big"))
        _, answer, _, kind = await self._bytes(4)
        if answer != 0:
            raise ModelError("connection", f"the proxy refused the connection with {answer}")
        length = {1: 4, 4: 16}.get(kind) or (await self._bytes(1))[0]
        await self._bytes(length + 2)

    async def _bytes(self, count: int) -> bytes:
        while len(self._heard) < count:
            await self._more()
        found = bytes(self._heard[:count])
        del self._heard[:count]
        return found

    async def _more(self) -> None:
        if self._lost:
            raise ConnectionResetError("the proxy closed the connection")
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def data_received(self, data: bytes) -> None:
        self._heard += data
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._lost = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _socks_address(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.encode("idna")
        return b"\x03%c%b" % (len(name), name)
    return (b"\x01" if address.version == 4 else b"\x04") + address.packed
