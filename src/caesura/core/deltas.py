"""How the content of a version is stored: whole, or as a change of the version before it."""

from __future__ import annotations

import struct
import zlib
from typing import AnyStr

from caesura.core.errors import CodecError

#: How many bytes are kept before the change, and after it.
_HEAD = struct.Struct(">II")


def pack(content: bytes) -> bytes:
    return zlib.compress(content)


def unpack(stored: bytes) -> bytes:
    try:
        return zlib.decompress(stored)
    except zlib.error as error:
        raise CodecError(f"a version cannot be read: {error}") from error


def delta(before: bytes, after: bytes) -> bytes:
    """What turns `before` into `after`: the bytes between their common beginning and their common end."""
    start = common(before, after)
    end = common(before[start:][::-1], after[start:][::-1])
    return _HEAD.pack(start, end) + zlib.compress(after[start : len(after) - end])


def apply(before: bytes, change: bytes) -> bytes:
    start, end = _HEAD.unpack_from(change)
    if start + end > len(before):
        raise CodecError("a version cannot be read: it does not fit the one before it")
    return b"".join((before[:start], unpack(change[_HEAD.size :]), before[len(before) - end :]))


def common(one: AnyStr, other: AnyStr) -> int:
    """The length of the common beginning. It is halved again and again: comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
