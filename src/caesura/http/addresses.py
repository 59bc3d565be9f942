"""Client addresses: what counts as one address, and how much of an address is logged."""

from __future__ import annotations

import ipaddress
from typing import Literal

#: How much of an address is logged: all of it, its network, or nothing.
Addresses = Literal["full", "cut", "none"]
_KEPT = {4: 24, 6: 48}


def parse(host: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address. An IPv4-mapped IPv6 address becomes IPv4."""
    try:
        address = ipaddress.ip_address(host or "")
    except ValueError:
        return None
    return (address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None) or address


def shown(host: str | None, how: Addresses) -> str | None:
    """The address as logged. `cut` keeps 24 bits of IPv4 and 48 of IPv6."""
    if how == "full":
        return host
    address = parse(host)
    if how == "none" or address is None:
        return None
    return str(ipaddress.ip_network((address.packed, _KEPT[address.version]), strict=False))
