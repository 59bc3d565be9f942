"""The allocator of the process: large blocks of memory go back to the system when they are freed, and threads
share what is free."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
#: Bytes from which a block is mapped separately. The C library begins with this number, too, but raises it to
#: the size of every large block that is freed. Then the texts of tools and histories stay in the process.
_LARGE = 128 * 1024
#: The C library begins with one for each thread, up to eight for each processor. None gives to another.
_ARENAS = 2


def return_large_blocks() -> None:
    with suppress(OSError, AttributeError):  # another C library has no such setting
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.mallopt(_M_ARENA_MAX, _ARENAS)
