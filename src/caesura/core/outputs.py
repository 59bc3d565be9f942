"""What a tool gives back: a text of bounded length."""

from __future__ import annotations

import sys

#: Characters of the end of a long text that are kept.
_END = 2_000


def bounded(text: str, limit: int, why: str = "") -> str:
    """The text, with its middle left out if it is too long. Its end may say how a command ended. `why` is
    added to the note."""
    if len(text) <= limit:
        return text
    end = min(_END, limit)
    reason = f"; {why}" if why else ""
    note = f"[cut: {len(text) - limit} of {len(text)} characters are left out here{reason}]"
    return f"{text[: limit - end]}\n{note}\n{text[len(text) - end :]}"


def size(text: str) -> int:
    """The bytes that a text takes in memory. One character beyond ASCII makes every character of a text take
    up to four bytes, and Python keeps the UTF-8 of such a text beside it once it was written as JSON."""
    return sys.getsizeof(text) + (0 if text.isascii() else len(text.encode("utf-8", "replace")))
