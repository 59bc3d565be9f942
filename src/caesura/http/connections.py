"""The open connections of this process, limited in total and per address."""

from __future__ import annotations

import asyncio
import ipaddress
import resource
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from itertools import chain
from typing import Protocol as Shape

from caesura.http.addresses import parse

#: At most this many connections above a limit get the reason for their refusal. When there are more, the
#: oldest is cut.
EXPLAINED = 16
#: More file descriptors than this are of no use to one process.
_MOST = 65_536
#: File descriptors reserved for the database, models, tools and log files: at least this many, or a quarter.
_RESERVE = 100

Refused = Callable[[str], None]


class Standing(Enum):
    """How a connection is treated, decided when it is opened."""

    WELCOME = "welcome"
    #: Its address has too many connections.
    GREEDY = "address"
    #: The server has too many connections.
    CROWDED = "server"


class Connection(Shape):
    transport: asyncio.Transport

    def check(self, now: float) -> None:
        """Close the connection if its client was too slow."""


class Connections:
    def __init__(
        self,
        most: int,
        each: int,
        proxies: Sequence[str] = (),
        refused: Refused = lambda reason: None,
    ) -> None:
        """At most `most` connections in total and `each` from one address, but never more than half of the
        total. `proxies` stand for many clients, so they are not counted as one address. `refused` is called
        with the reason of each refusal."""
        self.most, self.each = most, min(each, max(most // 2, 1))
        self._proxies = [ipaddress.ip_network(proxy) for proxy in proxies]
        self._refused = refused
        self._welcome: dict[Connection, bytes | None] = {}
        self._addresses: Counter[bytes] = Counter()
        #: Connections that only get the reason for their refusal, oldest first. Each reason has its own
        #: limit.
        self._explained: dict[Standing, dict[Connection, None]] = {
            standing: {} for standing in Standing if standing is not Standing.WELCOME
        }

    def __len__(self) -> int:
        return len(self._welcome) + sum(map(len, self._explained.values()))

    def enter(self, connection: Connection, host: str | None) -> Standing:
        key = self._key(host)
        standing = self._standing(key)
        if standing is Standing.WELCOME:
            self._welcome[connection] = key
            if key is not None:
                self._addresses[key] += 1
        else:
            self._refused(standing.value)
            self._tell(connection, self._explained[standing])
        return standing

    def leave(self, connection: Connection) -> None:
        for connections in self._explained.values():
            connections.pop(connection, None)
        key = self._welcome.pop(connection, None)
        if key is not None:
            self._addresses[key] -= 1
            if not self._addresses[key]:
                del self._addresses[key]

    def sweep(self, now: float) -> None:
        for connection in [*self._welcome, *chain(*self._explained.values())]:
            connection.check(now)

    def _standing(self, key: bytes | None) -> Standing:
        if key is not None and self._addresses[key] >= self.each:
            return Standing.GREEDY
        return Standing.CROWDED if len(self._welcome) >= self.most else Standing.WELCOME

    def _tell(self, connection: Connection, connections: dict[Connection, None]) -> None:
        """The newest replaces the oldest: a health check that has just come must be answered."""
        connections[connection] = None
        if len(connections) > EXPLAINED:
            oldest = next(iter(connections))
            del connections[oldest]
            oldest.transport.abort()

    def _key(self, host: str | None) -> bytes | None:
        """The key of an address: an IPv4 address or an IPv6 /64. None for a trusted proxy."""
        address = parse(host)
        if address is None or any(address in network for network in self._proxies):
            return None
        return address.packed if address.version == 4 else address.packed[:8]


def raise_descriptors() -> None:
    """Raise the limit of file descriptors to what the system allows this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # some systems report more than they allow
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def room() -> tuple[int, int]:
    """How many connections fit, and how many file descriptors stay free."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    limit = _MOST if soft == resource.RLIM_INFINITY else min(soft, _MOST)
    reserve = max(_RESERVE, limit // 4)
    return max(limit - reserve, 1), reserve
