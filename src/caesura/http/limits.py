"""Rate limits for each person and address: counted in memory, or in Redis if several processes serve.

Logins have three limits: for an address over all names, for a name from one address, and for a name over all
addresses from which its owner has not logged in before. The last one slows down many clients that try one
name, while its owner can still log in from the usual addresses.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from caesura.core import ids
from caesura.core.errors import TooManyRequests
from caesura.http.tally import Tally

if TYPE_CHECKING:
    from caesura.http.shared_tally import SharedTally, Spawn

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
#: One address may log in this many times as often as one person.
_NAMES = 10
#: One person may log in from new addresses this many times as often as from one address.
_ADDRESSES = 10
_FAMILIAR = 10_000
_FAMILIAR_SECONDS = 30 * 86_400

#: What is counted. Each is also the label of a metric.
KINDS = ("requests", "runs", "registrations", "login_addresses", "logins", "login_names")


class Limits:
    def __init__(
        self,
        shared: SharedTally | None = None,
        *,
        requests: str = "off",
        runs: str = "off",
        logins: str = "off",
        registrations: str = "off",
        refused: Callable[[str], None] = lambda kind: None,
    ) -> None:
        """A rate is, for example, `60/minute`, or `off`. `refused` is called with the kind of each
        refusal."""
        self._tallies = {
            "requests": _tally(requests),
            "runs": _tally(runs),
            "registrations": _tally(registrations),
            "login_addresses": _tally(logins, _NAMES),
            "logins": _tally(logins),
            "login_names": _tally(logins, _ADDRESSES),
        }
        self._shared, self._refused = shared, refused
        self._familiar: dict[str, None] = {}

    async def requests(self, user_id: str) -> None:
        await self._hit("requests", user_id)

    async def runs(self, user_id: str) -> None:
        await self._hit("runs", user_id)

    async def registrations(self, address: str) -> None:
        await self._hit("registrations", address)

    async def login_from(self, address: str) -> None:
        """Checked first: only an address within its limit can add to the count of a name."""
        await self._hit("login_addresses", address)

    async def login_as(self, username: str, address: str) -> None:
        """A text that cannot be a name is not counted."""
        if not ids.is_username(username):
            return
        await self._hit("logins", username, address)
        if not await self._is_familiar(username, address):
            await self._hit("login_names", username)

    async def logged_in(self, username: str, address: str) -> None:
        if self._tallies["login_names"] is None:
            return
        key = _key("familiar", username, address)
        self._familiar.pop(key, None)
        self._familiar[key] = None
        if len(self._familiar) > _FAMILIAR:
            del self._familiar[next(iter(self._familiar))]
        if self._shared is not None:
            await self._shared.remember(key, _FAMILIAR_SECONDS)

    async def aclose(self) -> None:
        if self._shared is not None:
            await self._shared.aclose()

    async def _is_familiar(self, username: str, address: str) -> bool:
        if self._tallies["login_names"] is None:
            return True
        key = _key("familiar", username, address)
        return key in self._familiar or (self._shared is not None and await self._shared.remembers(key))

    async def _hit(self, kind: str, *who: str) -> None:
        tally = self._tallies[kind]
        if tally is None:
            return
        key, wait = _key(kind, *who), None
        if self._shared is not None:
            wait = await self._shared.hit(key, tally.amount, tally.seconds)
        if wait is None:
            wait = tally.hit(key)
        if wait > 0:
            self._refused(kind)
            raise TooManyRequests(max(math.ceil(wait), 1))


def shared(redis_url: str | None, spawn: Spawn) -> SharedTally | None:
    if redis_url is None:
        return None
    from caesura.http.shared_tally import SharedTally  # slow to import, and rarely needed

    return SharedTally(redis_url, spawn)


async def address_of(request: Request) -> str:
    return network(request.client.host) if request.client else ""


Address = Annotated[str, Depends(address_of)]


def network(host: str) -> str:
    """What counts as one address: for IPv6 the first 64 bits, since one client usually has all of those."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


def _key(*parts: str) -> str:
    return "|".join(parts)


def _tally(rate: str, times: int = 1) -> Tally | None:
    if rate == "off":
        return None
    amount, _, unit = rate.partition("/")
    return Tally(int(amount) * times, _SECONDS[unit])
