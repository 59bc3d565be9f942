"""Network addresses: which of them belong to the public internet, and what an operator allows besides."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple

from caesura.core import urls

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: The ports that web servers use.
WEB_PORTS = frozenset({80, 443, 8080, 8443})

_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")
_SPECIAL = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider; also the metadata of one cloud
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # the services of a cloud for its machines, at a public address
        "169.254.0.0/16",  # link-local, and the metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
#: The part of IPv6 that has been given out, and what is special in it.
_GIVEN_OUT = ipaddress.IPv6Network("2000::/3")
_SPECIAL_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)
#: IPv4 in IPv6: mapped, and translated by the network (NAT64).
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


def parse(text: str) -> Address | None:
    """The address that this text is; None for a name, and for an address with a zone."""
    try:
        return None if "%" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


def plain(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, ipaddress.IPv6Address) and (address in _MAPPED or address in _TRANSLATED):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_public(address: Address) -> bool:
    """Whether the address belongs to the public internet. The lists here do not depend on Python's
    version."""
    meant = plain(address)
    if isinstance(meant, ipaddress.IPv4Address):
        return not any(meant in network for network in _SPECIAL)
    return meant in _GIVEN_OUT and not any(meant in network for network in _SPECIAL_6)


class _Entry(NamedTuple):
    """A host name or a network, with one port or the ports of the web."""

    name: str | None
    network: Network | None
    port: int | None

    def fits(self, host: str, address: Address, port: int) -> bool:
        if not self.may_fit(host, port):
            return False
        return self.network is None or plain(address) in self.network

    def may_fit(self, host: str, port: int) -> bool:
        if port != self.port if self.port is not None else port not in WEB_PORTS:
            return False
        return self.network is not None or host.rstrip(".") == self.name


class Allowed:
    """Hosts, hosts with a port, and networks, as an operator writes them: `wiki.example`,
    `wiki.example:3000`, `10.1.0.0/16`, `[fd00::1]:8000`. `ValueError` for anything else."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries = tuple(_entry(text.strip().lower()) for text in entries)

    def fits(self, host: str, address: Address, port: int) -> bool:
        return any(entry.fits(host.lower(), address, port) for entry in self._entries)

    def may_fit(self, host: str, port: int) -> bool:
        """Whether the host fits with some address that it may have."""
        return any(entry.may_fit(host.lower(), port) for entry in self._entries)


def _entry(text: str) -> _Entry:
    host, port = _divided(text)
    try:
        network = ipaddress.ip_network(host)
    except ValueError:
        if _NAME.fullmatch(host) and not host.replace(".", "").isdigit():
            return _Entry(host.rstrip("."), None, port)
        raise ValueError(
            f"{urls.shown(text)!r} is not a host, a host with a port, or a network such as 10.0.0.0/8"
        ) from None
    return _Entry(None, network, port)


def _divided(text: str) -> tuple[str, int | None]:
    """The host and the port. An IPv6 address with a port is in brackets."""
    found = re.fullmatch(r"\[([^\]]*)\](?::([0-9]{1,5}))?|([^:]*):([0-9]{1,5})", text)
    if found is None:
        return text, None
    host, port = found[1] or found[3] or "", found[2] or found[4]
    if port is not None and not 0 < int(port) < 65_536:
        raise ValueError(f"{text!r} has no valid port")
    return host, int(port) if port else None


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
