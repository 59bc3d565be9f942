"""Connections to the public web. A name is resolved here, all of its addresses are checked, and the
connection goes to a checked address: nothing resolves the name a second time."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import httpcore

from caesura.agents import context
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.web import wire
from caesura.agents.tools.web.address import Refused
from caesura.core import addresses
from caesura.core.addresses import WEB_PORTS, Address, Allowed

#: Addresses of one name that are tried, and seconds for each.
_TRIES = 4
_SECONDS = 5.0

Resolve = Callable[[str], Awaitable[Sequence[str]]]


class Resolver:
    """Asks the system, in separate threads. A look-up cannot be stopped: it keeps its place until it ends, so
    that slow names delay only the person who asked for them."""

    def __init__(self, count: int = 16, each: int = 4) -> None:
        self._threads = ThreadPoolExecutor(count, "caesura-names")
        self._places = Places(count, each=each)

    async def __call__(self, host: str) -> Sequence[str]:
        person = context.current().user_id
        try:
            await self._places.take(person, _SECONDS)
        except Busy:
            raise Refused("not fetched: too many names are being looked up, try again later") from None
        future = asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host)
        future.add_done_callback(partial(self._done, person))
        return await asyncio.shield(future)

    def _done(self, person: str, future: asyncio.Future[list[str]]) -> None:
        self._places.give_back(person)
        if not future.cancelled():
            future.exception()  # otherwise the event loop logs an exception that nobody retrieves


class PublicNetwork(httpcore.AsyncNetworkBackend):
    """Connects to public addresses, and to what the operator allows."""

    def __init__(self, allowed: Allowed, resolve: Resolve | None, most: int) -> None:
        self._allowed, self._resolve = allowed, resolve or Resolver()
        self._plain = wire.Network(most)

    def check(self, host: str, port: int) -> None:
        """Refuse a host that can only be refused, as far as that is known without looking its name up."""
        if (address := _literal(host)) is not None:
            self._check(host, address, port)
        elif port not in WEB_PORTS and not self._allowed.may_fit(host, port):
            raise _no_web_port(port)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol of httpcore
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        found = await self._addresses(host)
        for address in found:
            self._check(host, address, port)
        *others, last = found[:_TRIES]
        for address in others:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._plain.connect_tcp(str(address), port, _SECONDS)
        return await self._plain.connect_tcp(str(last), port, _SECONDS)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol of httpcore
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise Refused("not fetched: only the web can be fetched")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _addresses(self, host: str) -> list[Address]:
        if (address := addresses.parse(host)) is not None:
            return [address]
        try:
            found = [addresses.parse(text) for text in await self._resolve(host)]
        except (OSError, UnicodeError):
            raise Refused(f"not fetched: no address was found for the host {host}") from None
        known = [address for address in found if address is not None]
        if not known or len(known) < len(found):  # an address with a zone is never public
            raise _not_public(host)
        return list(dict.fromkeys(known))

    def _check(self, host: str, address: Address, port: int) -> None:
        if self._allowed.fits(host, address, port):
            return
        if port not in WEB_PORTS:
            raise _no_web_port(port)
        if not addresses.is_public(address) or is_own(address):
            raise _not_public(host)


def _not_public(host: str) -> Refused:
    # The address is not named: it would tell what a private network looks like.
    return Refused(
        f"not fetched: {host} is not on the public web; the operator of this server can allow it"
        " (CAESURA_FETCH_ALLOW)"
    )


def _no_web_port(port: int) -> Refused:
    ports = ", ".join(map(str, sorted(WEB_PORTS)))
    return Refused(f"not fetched: port {port} is not one of the ports of the web ({ports})")


def _literal(host: str) -> Address | None:
    """The address that the host is, also in the older forms of IPv4 (`127.1`, `0x7f000001`) that the system
    reads without a look-up; None for a name."""
    if host.lower().rstrip(".").rpartition(".")[2] == "localhost":
        return ipaddress.IPv4Address("127.0.0.1")
    with suppress(OSError):
        return ipaddress.IPv4Address(socket.inet_aton(host))
    return addresses.parse(host)


def _look_up(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(item[4][0]) for item in found]


def is_own(address: Address) -> bool:
    """Whether a public address belongs to this machine: only such an address can be bound."""
    if _can_bind(ipaddress.ip_address("192.0.2.1")):
        return False  # this machine may bind any address
    return _can_bind(addresses.plain(address))


def _can_bind(address: Address) -> bool:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError as error:
        return error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
    return True
