"""The bytes that a connection still has to send: those in this process, and those in the system's buffer.

The system takes megabytes for a client that reads nothing, and wakes the writer only when a third of them has
left. So the bytes in this process alone do not show whether a client reads.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from contextlib import suppress

#: `SIOCOUTQ` of Linux: the bytes that the other side has not acknowledged.
_UNACKNOWLEDGED = 0x5411
_INT = struct.Struct("i")
#: `SO_LINGER`: closing does not wait.
_AT_ONCE = struct.pack("ii", 1, 0)


def in_system(transport: asyncio.BaseTransport) -> int:
    """The bytes that the client's system has not taken from this one; 0 where that cannot be known."""
    found = transport.get_extra_info("socket")
    if found is None or sys.platform != "linux":
        return 0
    from fcntl import ioctl

    try:
        return int(_INT.unpack(ioctl(found.fileno(), _UNACKNOWLEDGED, bytes(_INT.size)))[0])
    except (OSError, ValueError):  # closed, or no TCP
        return 0


def discard(transport: asyncio.BaseTransport) -> None:
    """When the connection is aborted, the system forgets what it holds, and tells the client so."""
    _set(transport, socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


def give_up_after(transport: asyncio.BaseTransport, seconds: float) -> None:
    """The system gives up on a client that takes nothing for this time, whether it is dead or does not
    read."""
    if (option := getattr(socket, "TCP_USER_TIMEOUT", None)) is not None:
        _set(transport, socket.IPPROTO_TCP, option, int(seconds * 1000))


def _set(transport: asyncio.BaseTransport, level: int, option: int, value: int | bytes) -> None:
    found = transport.get_extra_info("socket")
    if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError):  # closed meanwhile
            found.setsockopt(level, option, value)
