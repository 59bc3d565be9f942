"""The connections to providers: one pool for each process."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType, TracebackType
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from caesura.models import certificates, obstacles, proxies
from caesura.models.failures import ModelError
from caesura.models.line import Exchange, Line
from caesura.models.proxies import Proxy
from caesura.models.sse import Unfinished
from caesura.models.tunnels import Tunnel

CONNECT_TIMEOUT = 15.0
#: How many connections wait for their next request, and for how many seconds.
_IDLE, _KEPT = 32, 30.0
_NOTHING: Mapping[str, str] = MappingProxyType({})
_PORTS = {"http": 80, "https": 443}


class _Place(NamedTuple):
    """What a connection leads to."""

    secure: bool
    host: str
    port: int
    proxy: Proxy | None

    @property
    def tunnelled(self) -> bool:
        """Whether the proxy only hands bytes on, and does not see the requests."""
        return self.proxy is not None and (self.secure or self.proxy.socks)


class Connections:
    """Costs nothing until the first request. `environ` names proxies and certificates."""

    def __init__(
        self, environ: Mapping[str, str] = _NOTHING, *, connect_timeout: float = CONNECT_TIMEOUT
    ) -> None:
        self._environ, self._connect_timeout = environ, connect_timeout
        self.unfinished = Unfinished()
        self._open: dict[Line, _Place] = {}
        #: Those that wait for a request, the newest last, with the timers that close them.
        self._idle: dict[Line, asyncio.TimerHandle] = {}
        self._context: ssl.SSLContext | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection, also those that are in use."""
        running = asyncio.get_running_loop()
        for timer in self._idle.values():
            timer.cancel()
        self._idle.clear()
        for line in list(self._open):
            if line.loop is running:
                line.abort()
        await asyncio.sleep(0)  # the transports close in the next round of the loop
        self._open.clear()

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        idle_timeout: float,
    ) -> Exchange:
        """The response, as soon as its head is here. Whoever asks must `leave` or `abort` it. Redirects are
        not followed: they would take the key to another host. Raises a `ModelError`."""
        place, target = self._find(url)
        head = _head(method, place, target, headers, len(body))
        while True:
            line = self._take(place) or await self._connect(place, idle_timeout)
            used = line.used
            exchange = line.send(head, body, idle_timeout)
            try:
                await exchange.head()
            except ModelError as error:
                # The provider has closed a connection that was kept, just as it was to be used again.
                if used and error.kind == "broken" and not exchange.answered:
                    continue
                raise
            except BaseException:
                exchange.abort()
                raise
            return exchange

    def proxy_secrets(self, url: str) -> tuple[str, ...]:
        """What the proxy for this address is sent and no message may hold."""
        try:
            proxy = self._find(url)[0].proxy
        except ModelError:
            return ()
        return proxy.secrets if proxy is not None else ()

    def _find(self, url: str) -> tuple[_Place, str]:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        try:
            proxy = proxies.proxy_for(parts.scheme, host, port, self._environ)
        except proxies.Unsupported as error:
            raise ModelError("connection", str(error)) from None
        target = parts.path + (f"?{parts.query}" if parts.query else "") or "/"
        return _Place(parts.scheme == "https", host, port, proxy), target

    def _take(self, place: _Place) -> Line | None:
        running = asyncio.get_running_loop()
        for line in reversed(self._idle):
            if line.loop is running and line.is_open and self._open.get(line) == place:
                self._idle.pop(line).cancel()
                return line
        return None

    def _free(self, line: Line) -> None:
        while len(self._idle) >= _IDLE:
            oldest = next(iter(self._idle))
            self._idle.pop(oldest).cancel()
            oldest.abort()
        self._idle[line] = line.loop.call_later(_KEPT, line.abort)

    def _gone(self, line: Line) -> None:
        self._open.pop(line, None)
        if (timer := self._idle.pop(line, None)) is not None:
            timer.cancel()

    async def _connect(self, place: _Place, idle_timeout: float) -> Line:
        line = Line(self._free, self._gone)
        try:
            async with asyncio.timeout(min(self._connect_timeout, idle_timeout)):
                await self._reach(line, place)
        except TimeoutError:
            line.abort()
            raise ModelError("connection", f"{place.host} did not accept a connection in time") from None
        except (OSError, UnicodeError) as error:
            line.abort()
            raise ModelError("connection", _told(error, place)) from None
        except BaseException:
            line.abort()
            raise
        if not line.is_open:
            raise ModelError("connection", f"{place.host} closed the connection at once")
        self._open[line] = place
        return line

    async def _reach(self, line: Line, place: _Place) -> None:
        loop, proxy = line.loop, place.proxy
        context = await self._trusted() if place.secure or (proxy and proxy.secure) else None
        if proxy is None:
            await loop.create_connection(lambda: line, place.host, place.port, ssl=context)
            return
        trusted = context if proxy.secure else None
        if not place.tunnelled:
            await loop.create_connection(lambda: line, proxy.host, proxy.port, ssl=trusted)
            return
        tunnel = Tunnel()
        transport, _ = await loop.create_connection(lambda: tunnel, proxy.host, proxy.port, ssl=trusted)
        try:
            await tunnel.dig(transport, place.host, place.port, proxy)
            if place.secure and context is not None:
                line.secured(await loop.start_tls(transport, line, context, server_hostname=place.host))
            else:
                transport.set_protocol(line)
                line.connection_made(transport)
        except BaseException:
            transport.abort()
            raise

    async def _trusted(self) -> ssl.SSLContext:
        if self._context is None:
            try:
                with ThreadPoolExecutor(1, "caesura-certificates") as thread:
                    self._context = await asyncio.get_running_loop().run_in_executor(
                        thread, certificates.context, self._environ
                    )
            except certificates.Untrusted as error:
                raise ModelError("connection", str(error)) from None
        return self._context


def _head(method: str, place: _Place, target: str, headers: Mapping[str, str], length: int) -> bytes:
    forwarded = place.proxy is not None and not place.tunnelled
    lines = [f"{method} {f'http://{_host(place)}{target}' if forwarded else target} HTTP/1.1"]
    lines.append(f"Host: {_host(place, usual_port=False)}")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if forwarded and place.proxy is not None and place.proxy.credentials:
        lines.append(f"Proxy-Authorization: {place.proxy.credentials}")
    if length or method == "POST":
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _host(place: _Place, usual_port: bool = True) -> str:
    host = f"[{place.host}]" if ":" in place.host else place.host
    is_usual = place.port == _PORTS["https" if place.secure else "http"]
    return host if is_usual and not usual_port else f"{host}:{place.port}"


def _told(error: OSError | UnicodeError, place: _Place) -> str:
    if place.proxy is None:
        return obstacles.told(error, place.host, f"{place.host}:{place.port}")
    return obstacles.told(
        error, place.host, f"the proxy {place.proxy.host}:{place.proxy.port}", place.proxy.host
    )
