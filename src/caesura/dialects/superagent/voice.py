"""Voice: what an agent says in a segment, and when a piece of it is sent.

A frame has the new piece of text and all of the text so far. Frames have a cost, and the text pays for it:
each byte of text adds to an account, and a piece waits until the account can pay for its frame. The longer
the text, the more a frame costs, and the larger the pieces are. The first frames are paid in advance. All of
this depends on the text alone, so a stream that is resumed has the same frames.

Text is held as JSON: it is escaped once, and pieces of JSON text can be joined.
"""

from __future__ import annotations

from typing import NamedTuple

from caesura.core import json_data

#: What each byte of text pays for frames, and what the account has at the beginning.
PAYS, CREDIT = 17, 600
#: The most bytes of a frame without its texts.
_FRAME = 125
#: A longer text is not kept, because a reader holds it until it ends, and its frames have the new piece only.
LONGEST = 1 << 20

#: A text in pieces, newest first, each shorter than the one before it: few pieces, and little is copied.
Pieces = tuple["Pieces | None", bytes]
#: The text of model calls, newest first.
Parts = tuple["Parts | None", int, Pieces]


class Voice(NamedTuple):
    """The text so far, its size, the part that was not sent yet, and the account. `parts` is None once the
    text is longer than `LONGEST`."""

    parts: Parts | None = None
    size: int = 0
    held: bytes = b""
    account: int = CREDIT


SILENT = Voice()


def hear(voice: Voice, call: int, text: str) -> tuple[Voice, bytes]:
    """More text of a model call; and the piece to send, which is empty if it is not time for one."""
    parts, size, held, account = voice
    new = written(text)
    account += PAYS * (len(new) if b"\\" not in new else len(text.encode("utf-8", "replace")))
    size += len(new)
    held = held + new if held else new
    parts = _added(parts, call, new) if size <= LONGEST else None
    kept = size if parts is not None else 0
    cost = _FRAME + len(held) + kept
    # Enough is left to send the whole text once more in the end.
    if account < cost + kept or not held:
        return Voice(parts, size, held, account), b""
    return Voice(parts, size, b"", account - cost), held


def flush(voice: Voice) -> tuple[Voice, bytes]:
    """The held text, before something else is sent. The account may be overdrawn for it."""
    if not voice.held:
        return voice, b""
    cost = _FRAME + len(voice.held) + (voice.size if voice.parts is not None else 0)
    return voice._replace(held=b"", account=voice.account - cost), voice.held


def void(voice: Voice, call: int) -> Voice:
    """The text without that of this model call. Nothing may be held."""
    if voice.size > LONGEST:
        return voice
    kept: list[tuple[int, Pieces]] = []
    parts, size = voice.parts, 0
    while parts is not None:
        parts, number, pieces = parts
        if number != call:
            kept.append((number, pieces))
    left: Parts | None = None
    for number, pieces in reversed(kept):
        left = left, number, pieces
        size += _size(pieces)
    return voice._replace(parts=left, size=size)


def speaks(voice: Voice, call: int) -> bool:
    """Whether the text has something of this model call, as far as it is known."""
    parts = voice.parts
    while parts is not None:
        parts, number, _ = parts
        if number == call:
            return True
    return False


def whole(voice: Voice) -> bytes:
    """The text so far, as JSON without its quotes."""
    found: list[bytes] = []
    parts = voice.parts
    while parts is not None:
        parts, _, pieces = parts
        rest: Pieces | None = pieces
        while rest is not None:
            rest, text = rest
            found.append(text)
    return b"".join(reversed(found))


def written(text: str) -> bytes:
    """A text as JSON without its quotes, and without NUL."""
    return json_data.line(json_data.dumps(text.replace("\0", "") if "\0" in text else text))[1:-1]


def _added(parts: Parts | None, call: int, new: bytes) -> Parts:
    if parts is None or parts[1] != call:
        return parts, call, (None, new)
    before, _, pieces = parts
    rest: Pieces | None = pieces
    while rest is not None and len(rest[1]) <= len(new):
        rest, last = rest
        new = last + new
    return before, call, (rest, new)


def _size(pieces: Pieces) -> int:
    size = 0
    rest: Pieces | None = pieces
    while rest is not None:
        rest, text = rest
        size += len(text)
    return size
